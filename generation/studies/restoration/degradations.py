"""The seven degradations of the restoration study, in seeded whole numbers.

Each takes pixels (height, width, 3) and a seed, and moves nothing. Sizes are shares
of the short side.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from PIL import Image

from ...files import toml_beside
from ...records import UserError
from ...sources.synthetic import ONE, Whole, across, draw, fractal, mix, root

_GREY = np.array((77, 150, 29), np.int64)  # of 256: how much red, green and blue weigh in grey
_ANGLES = [[(2 * n + 1) * k * math.pi / 16 for n in range(8)] for k in range(8)]
_COSINES = np.array(
    [[round(math.cos(angle) * 4096 / (2 if k else 2 * 2**0.5)) for angle in row] for k, row in enumerate(_ANGLES)]
)
# The quantization table of the JPEG standard, annex K.
_LUMINANCE = np.array([
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
], np.int64).reshape(8, 8)  # fmt: skip


def _motion_blur(pixels: Whole, seed: int) -> Whole:
    length, slope = _share(pixels, 34), int(draw([seed, 1], 1, -60, 61)[0])
    height, width = pixels.shape[:2]
    total = np.zeros_like(pixels)
    for step in range(-(length // 2), length - length // 2):  # the picture moved, its edges drawn out
        rows = np.clip(np.arange(height) - step * slope // 100, 0, height - 1)
        total += pixels[rows][:, np.clip(np.arange(width) - step, 0, width - 1)]
    return total // length


def _digital_zoom(pixels: Whole, seed: int) -> Whole:
    height, width = pixels.shape[:2]
    small = Image.fromarray(pixels.astype(np.uint8)).reduce(4)
    large = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), np.int64)
    return _compressed(large + (large - _disk(large, _share(pixels, 3))), 40)


def _old_film(pixels: Whole, seed: int) -> Whole:
    soft = _disk(pixels, _share(pixels, 1))
    warm = mix(soft, _grey(soft)[..., None] * np.array((280, 240, 190)) >> 8, ONE * 7 // 10)
    height, width = pixels.shape[:2]
    x, y = np.arange(width)[None] * 2 - width, np.arange(height)[:, None] * 2 - height
    vignette = (x * x + y * y) * ONE // (width * width + height * height)  # 0 in the middle, ONE in the corners
    dark = warm * (ONE - vignette * 6 // 10)[..., None] >> 16
    return _grain(_scratched(dark, [seed, 2], 9, 110), [seed, 3], 26)


def _old_photo_black_and_white(pixels: Whole, seed: int) -> Whole:
    faded = 60 + _grey(_disk(pixels, _share(pixels, 2))) * 150 // 255
    print_ = np.repeat(faded[..., None], 3, axis=2)
    return _grain(_creased(_stained(print_, [seed, 4], (150, 140, 125)), [seed, 5]), [seed, 6], 16)


def _old_photo_colour(pixels: Whole, seed: int) -> Whole:
    soft = _disk(pixels, _share(pixels, 2))
    faded = np.array((70, 48, 40)) + soft * np.array((165, 150, 120)) // 255
    return _grain(_creased(_stained(faded, [seed, 7], (210, 170, 90)), [seed, 8]), [seed, 9], 14)


def _surveillance(pixels: Whole, seed: int) -> Whole:
    height, width = pixels.shape[:2]
    small = Image.fromarray(pixels.astype(np.uint8)).reduce(3)
    large = np.asarray(small.resize((width, height), Image.Resampling.BILINEAR), np.int64)
    dull = (large + 2 * _grey(large)[..., None]) // 3 * 7 // 10
    lines = np.where(np.arange(height) // _share(pixels, 2) % 2, 9, 10)[:, None, None]
    return _compressed(_grain(dull, [seed, 10], 40) * lines // 10, 12)


DEGRADATIONS: dict[str, Callable[[Whole, int], Whole]] = {
    "defocus-blur": lambda pixels, seed: _disk(pixels, _share(pixels, 9)),
    "motion-blur": _motion_blur,
    "digital-zoom": _digital_zoom,
    "old-film": _old_film,
    "old-photo-black-and-white": _old_photo_black_and_white,
    "old-photo-colour": _old_photo_colour,
    "surveillance": _surveillance,
}


def degrade(name: str, clean: Image.Image, id: str) -> Image.Image:
    """The picture after one degradation, seeded by `id`."""
    if name not in DEGRADATIONS:
        raise UserError(f"no degradation {name!r}; the degradations are {', '.join(DEGRADATIONS)}")
    seed = int.from_bytes(hashlib.sha256(id.encode()).digest()[:6], "big")
    pixels = DEGRADATIONS[name](np.asarray(clean.convert("RGB"), np.int64), seed)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@cache
def expected_hashes() -> dict[str, str]:
    """sha256 of the pixels of every degraded picture, as binary PPM."""
    return toml_beside(__file__, "degraded.toml")


def _share(pixels: Whole, parts: int) -> int:
    return max(1, min(pixels.shape[:2]) * parts // 1024)


def _grey(pixels: Whole) -> Whole:
    return pixels @ _GREY >> 8


def _disk(pixels: Whole, radius: int) -> Whole:
    height, width = pixels.shape[:2]
    padded = np.pad(pixels, ((radius, radius), (radius + 1, radius), (0, 0)), mode="edge")
    running = padded.cumsum(axis=1)
    total, area = np.zeros_like(pixels), 0
    for down in range(-radius, radius + 1):
        half = math.isqrt(radius * radius - down * down)
        rows = running[radius + down : radius + down + height]
        right, left = radius + 1 + half, radius - half
        total += rows[:, right : right + width] - rows[:, left : left + width]
        area += 2 * half + 1
    return total // area


def _grain(pixels: Whole, seed: Sequence[int], strength: int) -> Whole:
    height, width = pixels.shape[:2]
    dots = draw(seed, 3 * height * width, -strength, strength + 1).reshape(3, height, width).sum(axis=0)
    return pixels + (dots // 2)[..., None]


def _scratched(pixels: Whole, seed: Sequence[int], lines: int, spots: int) -> Whole:
    height, width = pixels.shape[:2]
    result = pixels.copy()
    for place, tone in zip(draw([*seed, 0], lines, 0, width), draw([*seed, 1], lines, 0, 2), strict=True):
        thick = _share(pixels, 2)
        result[:, place : place + thick] = mix(result[:, place : place + thick], (tone * 230,) * 3, ONE * 6 // 10)
    size = draw([*seed, 2], spots, 1, 2 + _share(pixels, 5))
    where = zip(draw([*seed, 3], spots, 0, width), draw([*seed, 4], spots, 0, height), size, strict=True)
    for index, (x, y, radius) in enumerate(where):
        result[y : y + radius, x : x + radius] = 225 if index % 3 else 25
    return result


def _stained(pixels: Whole, seed: Sequence[int], colour: tuple[int, int, int]) -> Whole:
    height, width = pixels.shape[:2]
    clouds = fractal(*across(width, height), 3, 3, 4, seed)
    return mix(pixels, colour, np.clip((clouds - ONE * 11 // 20) * 5 // 2, 0, ONE * 6 // 10))


def _creased(pixels: Whole, seed: Sequence[int]) -> Whole:
    height, width = pixels.shape[:2]
    result = pixels
    for slope, offset in zip(draw([*seed, 0], 3, -80, 81), draw([*seed, 1], 3, 20, 81), strict=True):
        x, y = np.arange(width)[None], np.arange(height)[:, None]
        away = abs((y - height * offset // 100) * 100 - (x - width // 2) * slope)
        near = root(np.full((1, 1), 10000 + slope * slope))
        fold = np.clip(ONE - away * ONE // (near * _share(pixels, 4)), 0, ONE)
        result = mix(result, (235, 232, 225), fold * 8 // 10)
    return result


def _compressed(pixels: Whole, quality: int) -> Whole:
    """What JPEG does to each colour: cosines of 8x8 blocks in coarse steps."""
    height, width = pixels.shape[:2]
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    steps = np.clip((_LUMINANCE * scale + 50) // 100, 1, 255) << 24
    padded = np.pad(np.clip(pixels, 0, 255) - 128, ((0, -height % 8), (0, -width % 8), (0, 0)), mode="edge")
    blocks = padded.reshape(padded.shape[0] // 8, 8, padded.shape[1] // 8, 8, 3).transpose(0, 2, 4, 1, 3)
    waves = _COSINES @ blocks @ _COSINES.T
    kept = (waves + steps // 2) // steps * (steps >> 12)
    back = _COSINES.T @ kept @ _COSINES + (1 << 35) >> 36
    return back.transpose(0, 3, 1, 4, 2).reshape(padded.shape)[:height, :width] + 128
