"""Editors whose effect is known: they show what a metric makes of a damage, and where its scale ends.

Each is a function of one call; its keyword parameters are its options.
"""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageFilter

from .. import options
from ..options import number
from ..pictures import encode_png
from ..records import Answer
from ..sources import synthetic

EDITORS: dict[str, type] = {}


def _editor(role: str) -> Callable[[Callable[..., Answer]], type]:
    def as_class(function: Callable[..., Answer]) -> type:
        name, about, edit = function.__name__, function.__doc__, {"edit": function}
        EDITORS[name] = options.class_of(name, about, edit, role=role, embedded=True)
        return EDITORS[name]

    return as_class


def _encoded(image: Image.Image, kind: str, quality: int) -> Answer:
    buffer = io.BytesIO()
    image.save(buffer, kind, quality=quality)
    return Answer(buffer.getvalue())


@_editor("baseline")
def identity(image: Image.Image, instruction: str, seed: int) -> Answer:
    """Answers with its input, whatever is asked."""
    return Answer(encode_png(image))


@_editor("baseline")
def random(image: Image.Image, instruction: str, seed: int) -> Answer:
    """Answers with a picture that has nothing to do with its input, another one for every seed."""
    chance = np.random.default_rng(seed)
    names = list(synthetic.PICTURES)
    name = names[int(chance.integers(len(names)))]
    picture = synthetic.make(name, image.size, seed)
    red, green, blue = (picture.getchannel(int(band)) for band in chance.permutation(3))
    return Answer(encode_png(Image.merge("RGB", (red, green, blue))))


@_editor("transport")
def jpeg(
    image: Image.Image, instruction: str, seed: int, *, quality: int = number(75, least=1, most=100)
) -> Answer:
    """Re-encodes its input as JPEG and does nothing else."""
    return _encoded(image, "JPEG", quality)


@_editor("transport")
def webp(
    image: Image.Image, instruction: str, seed: int, *, quality: int = number(75, least=0, most=100)
) -> Answer:
    """Re-encodes its input as lossy WebP and does nothing else."""
    return _encoded(image, "WEBP", quality)


@_editor("transport")
def resize(
    image: Image.Image, instruction: str, seed: int, *, scale: float = number(0.75, least=0.05, most=4)
) -> Answer:
    """Brings its input to another size and back, by Lanczos."""
    scaled = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    lanczos = Image.Resampling.LANCZOS
    return Answer(encode_png(image.resize(scaled, lanczos).resize(image.size, lanczos)))


@_editor("transport")
def blur(
    image: Image.Image, instruction: str, seed: int, *, radius: float = number(0.6, above=0, most=100)
) -> Answer:
    """Blurs its input a little; `radius` is the Gaussian's sigma in pixels."""
    return Answer(encode_png(image.filter(ImageFilter.GaussianBlur(radius))))


@_editor("transport")
def noise(
    image: Image.Image, instruction: str, seed: int, *, sigma: float = number(6.0, above=0, most=255)
) -> Answer:
    """Adds seeded Gaussian noise; `sigma` is in grey levels."""
    pixels = np.asarray(image, np.float32)
    grain = np.random.default_rng(seed).standard_normal(pixels.shape, np.float32)
    return Answer(encode_png(Image.fromarray(np.rint(pixels + sigma * grain).clip(0, 255).astype(np.uint8))))


@_editor("transport")
def tint(
    image: Image.Image, instruction: str, seed: int, *, strength: float = number(0.04, above=0, most=1)
) -> Answer:
    """Mixes a little green into every pixel; `strength` is its share."""
    green = Image.new("RGB", image.size, (110, 170, 90))  # the cast that repeated editing is known for
    return Answer(encode_png(Image.blend(image, green, strength)))
