"""Changes to the whole picture: light, warmth, colour, sharpness, simplifications, and the wear of being redrawn."""

from collections.abc import Callable

import cv2
import numpy as np

from .drawing import Pixels
from .placing import find_face

OPPOSITES = {
    "grey": "colour",
    "sepia": "colour",
    "warmer": "cooler",
    "darker": "brighter",
    "night": "day",
    "blur": "sharpen",
    "greener": "less green",
    "watercolour": "photograph",
    "smile": "neutral",
}
OPPOSITES |= {undo: do for do, undo in reversed(OPPOSITES.items())}
_Tone = Callable[[Pixels], Pixels]
_LIFT = 0.055  # of the face, how far the corners of the mouth move
_NIGHT = (0.34, 0.42, 0.62)  # what is left of red, green and blue


def _to_bytes(values: Pixels) -> Pixels:
    return np.rint(values).clip(0, 255).astype(np.uint8)


def _light(image: Pixels) -> Pixels:
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)


def _gains(red: float, green: float, blue: float) -> _Tone:
    return lambda image: _to_bytes(image.astype(np.float32) * np.array((red, green, blue), np.float32))


def _colour(image: Pixels) -> Pixels:
    seen = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb).astype(np.float32)
    # Colours that are there are left alone.
    share = np.clip(1 - float(abs(seen[..., 1:] - 128).mean()) / 12, 0, 1)
    tone = _light(image).astype(np.float32) / 255
    high = np.linspace(1, 0, image.shape[0], dtype=np.float32)[:, None]
    sky = cv2.GaussianBlur(np.clip(tone * 2 - 1, 0, 1) * np.clip(high * 2 - 0.8, 0, 1), (0, 0), 8)
    warm = 4 * tone * (1 - tone)
    seen[..., 1] += share * (13 * warm - 4 * (1 - tone) - 22 * sky)
    seen[..., 2] += share * (-16 * warm + 5 * (1 - tone) + 26 * sky)
    return cv2.cvtColor(_to_bytes(seen), cv2.COLOR_YCrCb2RGB)


def _lens(image: Pixels) -> Pixels:
    return cv2.GaussianBlur(image, (0, 0), 0.005 * min(image.shape[:2]))


def _sharpen(image: Pixels) -> Pixels:
    wanted = image.astype(np.float32)
    guess = wanted
    for _ in range(6):
        guess = np.clip(guess + (wanted - _lens(guess)), 0, 255)
    return _to_bytes(guess)


def _enhance(image: Pixels) -> Pixels:
    clean = cv2.bilateralFilter(image, 7, 24, 3).astype(np.float32)
    low, high = np.percentile(clean, (0.5, 99.5))
    clean = 0.7 * clean + 0.3 * (clean - low) * (255 / max(high - low, 64))
    return _to_bytes(clean + 0.6 * (clean - cv2.GaussianBlur(clean, (0, 0), 1.5)))


def _patches(image: Pixels) -> Pixels:
    scale = 160 / min(image.shape[:2])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    large = cv2.resize(
        cv2.pyrMeanShiftFiltering(small, 8, 28), image.shape[1::-1], interpolation=cv2.INTER_LINEAR
    )
    return cv2.medianBlur(large, 7)


def _edges(image: Pixels) -> Pixels:
    grey = _light(cv2.GaussianBlur(image, (0, 0), 1.2))
    lines = cv2.GaussianBlur(cv2.Canny(grey, 40, 110), (0, 0), 0.8).astype(np.float32)[..., None] / 255
    return _to_bytes((255 - 0.35 * (255.0 - image)) * (1 - lines))


def _photograph(image: Pixels) -> Pixels:
    smooth = cv2.medianBlur(image, 5).astype(np.float32)
    pale = float(smooth.mean()) > 165
    return _to_bytes(255 - (255 - smooth) / 0.35 if pale else smooth)


TONES: dict[str, _Tone] = {
    "grey": lambda image: cv2.cvtColor(_light(image), cv2.COLOR_GRAY2RGB),
    "colour": _colour,
    "sepia": lambda image: _to_bytes(
        _light(image).astype(np.float32)[..., None] * (1.07, 0.91, 0.71) + (6, 3, 0)
    ),
    "warmer": _gains(1.16, 1.0, 0.76),
    "cooler": _gains(1 / 1.16, 1.0, 1 / 0.76),
    "greener": _gains(0.9, 1.06, 0.9),
    "less green": _gains(1 / 0.9, 1 / 1.06, 1 / 0.9),
    "watercolour": lambda image: cv2.medianBlur(cv2.pyrMeanShiftFiltering(image, 6, 30), 5),
    "darker": _gains(0.55, 0.55, 0.55),
    "brighter": _gains(1 / 0.55, 1 / 0.55, 1 / 0.55),
    "night": lambda image: _to_bytes(255 * (image / 255.0) ** 1.25 * _NIGHT),
    "day": lambda image: _to_bytes(255 * (image / 255.0 / _NIGHT) ** 0.8),
    "blur": lambda image: _to_bytes(_lens(image.astype(np.float32))),
    "sharpen": _sharpen,
    "denoise": lambda image: cv2.bilateralFilter(image, 5, 18, 2),  # a light hand that spares edges
    "enhance": _enhance,
    "patches": _patches,
    "edges": _edges,
    "photograph": _photograph,
}


def redraw(image: Pixels, strength: float, chance: np.random.Generator) -> Pixels:
    if not strength:
        return image
    height, width = image.shape[:2]
    unit = min(height, width) / 512
    seen = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb).astype(np.float32)
    light: Pixels = seen[..., 0]
    tones: Pixels = seen[..., 1:]
    soft = cv2.GaussianBlur(light, (0, 0), 0.9 * unit)
    broad = cv2.GaussianBlur(soft, (0, 0), 2.4 * unit)
    light = light + strength * (0.4 * (soft - light) + 0.12 * (soft - broad))
    dots = [max(1, round(side / unit / 1.6)) for side in (height, width)]
    grain = chance.standard_normal(dots, np.float32)
    light += strength * 1.7 * cv2.resize(grain, (width, height), interpolation=cv2.INTER_CUBIC)
    half = cv2.resize(tones, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
    tones = tones + strength * 0.5 * (cv2.resize(half, (width, height), interpolation=cv2.INTER_LINEAR) - tones)
    # A little green, as repeated editing is known for.
    cast = chance.normal((-0.3, -0.16), 0.45).astype(np.float32)
    redrawn = np.dstack([light, tones + strength * cast])
    redrawn = np.rint(redrawn).clip(0, 255).astype(np.uint8)
    return cv2.cvtColor(redrawn, cv2.COLOR_YCrCb2RGB)


def neutral(image: Pixels) -> Pixels | str:
    """The mouth's corners moved down and in, its middle slightly up; or why not."""
    face = find_face(image)
    if face is None:
        return "paint finds no face in the picture whose expression it could change"
    (left, top, size), (height, width) = face, image.shape[:2]
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    right, down = np.zeros_like(x), np.zeros_like(y)
    for at, up, out in ((0.3, -1.0, 0.5), (0.7, -1.0, -0.5), (0.5, 0.35, 0.0)):
        far = np.square((x - left) / size - at) + np.square(((y - top) / size - 0.8) * 1.4)
        pull = np.exp(-far / (2 * 0.075**2)) * size * _LIFT
        right += out * pull
        down -= up * pull
    return cv2.remap(image, x - right, y - down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
