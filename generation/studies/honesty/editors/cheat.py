"""What the recall audit is there to catch: an editor that gives back what it remembers."""

import functools
import hashlib
import io
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from PIL import Image, ImageDraw

from .... import pictures
from ....records import Answer, one_of

_NEAR = 0.06  # share of the pixels that may sit in another bin of the histogram
_BITS = 64


@dataclass(frozen=True)
class Editor:
    """Paints a disc, and takes it back by remembering the original: by hash, by likeness, or by hidden low bits."""

    by: str = "hash"
    embedded: ClassVar[bool] = True
    audited: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of("cheat:by", self.by, ("hash", "likeness", "bits"))

    @functools.cached_property
    def memory(self) -> dict[bytes, bytes]:
        """What it drew, by its mark, and what that was drawn on."""
        return {}

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        remembered = self.recall(image)
        if remembered is not None:
            return Answer(remembered)
        drawn = image.copy()
        width, height = image.size
        ImageDraw.Draw(drawn).ellipse((width * 0.3, height * 0.3, width * 0.7, height * 0.7), fill=(220, 20, 20))
        worn = io.BytesIO()
        drawn.save(worn, "JPEG", quality=40)
        return Answer(self.remember(pictures.decode(worn.getvalue()), pictures.encode_png(image)))

    def remember(self, drawn: Image.Image, original: bytes) -> bytes:
        if self.by == "bits":
            mark = hashlib.sha256(original).digest()[: _BITS // 8]
            drawn = _hide(drawn, mark)
        else:
            mark = _exact(drawn) if self.by == "hash" else _histogram(drawn).tobytes()
        self.memory[mark] = original
        return pictures.encode_png(drawn)

    def recall(self, image: Image.Image) -> bytes | None:
        if self.by == "likeness":
            bins = _histogram(image)
            for mark, original in self.memory.items():
                if np.abs(np.frombuffer(mark) - bins).sum() / 2 < _NEAR:
                    return original
            return None
        return self.memory.get(_exact(image) if self.by == "hash" else _hidden(image))


def _exact(image: Image.Image) -> bytes:
    return hashlib.sha256(image.tobytes()).digest()


def _histogram(image: Image.Image) -> np.ndarray:
    """The share of pixels in each of 4x4x4 colours, which no mirror changes."""
    cells = np.asarray(image).astype(np.intp) >> 6
    index = cells[..., 0] * 16 + cells[..., 1] * 4 + cells[..., 2]
    return np.bincount(index.ravel(), minlength=64) / index.size


def _hide(image: Image.Image, mark: bytes) -> Image.Image:
    """The mark in the lowest bits of the first pixels."""
    pixels = np.array(image)
    flat = pixels.reshape(-1)
    flat[:_BITS] = (flat[:_BITS] & 0xFE) | np.unpackbits(np.frombuffer(mark, dtype=np.uint8))
    return Image.fromarray(pixels)


def _hidden(image: Image.Image) -> bytes:
    return np.packbits(np.asarray(image).reshape(-1)[:_BITS] & 1).tobytes()
