"""Whole pictures that careless decoders get wrong, with how each has to look: wherever pictures are scored or shown."""

import io
from typing import NamedTuple

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 96, 64
RED, GREEN, WHITE = (255, 0, 0), (0, 160, 0), (255, 255, 255)
ORIENTATION = 0x0112  # the EXIF tag


class Awkward(NamedTuple):
    data: bytes
    left: tuple[int, int, int]  # the colour in the middle of its left half
    right: tuple[int, int, int]
    size: tuple[int, int] = (WIDTH, HEIGHT)


def halves(left=RED, right=GREEN, mode="RGB"):
    picture = Image.new(mode, (WIDTH, HEIGHT), left)
    picture.paste(right, (WIDTH // 2, 0, WIDTH, HEIGHT))
    return picture


def encoded(picture, kind, **options):
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def tagged(orientation):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return exif


def sixteen_bits():
    values = np.full((HEIGHT, WIDTH), 65535, dtype=np.uint16)
    values[:, : WIDTH // 2] = 100 * 257 + 100  # 100.39 in 8 bits
    return Image.fromarray(values)


PICTURES = {
    "turned by its orientation tag.jpg": Awkward(
        encoded(halves().rotate(90, expand=True), "JPEG", quality=98, exif=tagged(6)), RED, GREEN
    ),
    "mirrored by its orientation tag.png": Awkward(encoded(halves(GREEN, RED), "PNG", exif=tagged(2)), RED, GREEN),
    "16 bits.png": Awkward(encoded(sixteen_bits(), "PNG"), (100, 100, 100), WHITE),
    "half transparent.png": Awkward(
        encoded(halves((255, 0, 0, 128), (0, 0, 0, 0), "RGBA"), "PNG"), (255, 127, 127), WHITE
    ),
    "transparent.webp": Awkward(
        encoded(halves((255, 0, 0, 255), (0, 0, 0, 0), "RGBA"), "WEBP", lossless=True), RED, WHITE
    ),
    "transparent palette.gif": Awkward(encoded(halves(0, 1, "P"), "GIF", transparency=1), (0, 0, 0), WHITE),
    "grey and alpha.png": Awkward(encoded(halves((90, 255), (90, 0), "LA"), "PNG"), (90, 90, 90), WHITE),
    "one bit.png": Awkward(encoded(halves(0, 1, "1"), "PNG"), (0, 0, 0), WHITE),
    "CMYK.jpg": Awkward(encoded(halves((0, 255, 255, 0), (0, 0, 0, 0), "CMYK"), "JPEG", quality=98), RED, WHITE),
    "animation.gif": Awkward(encoded(halves(), "GIF", save_all=True, append_images=[halves(WHITE, WHITE)]), RED, GREEN),
}


def colours(picture):
    """The colours in the middle of both halves."""
    values = np.asarray(picture)
    middle, quarter = values.shape[0] // 2, values.shape[1] // 4
    return tuple(map(int, values[middle, quarter])), tuple(map(int, values[middle, 3 * quarter]))


def assert_looks_right(picture, awkward, tolerance=6):
    """`picture` is an array or an image, RGB and upright; JPEG's losses are tolerated."""
    height, width = np.asarray(picture).shape[:2]
    assert (width, height) == awkward.size
    off = np.abs(np.array(colours(picture), int) - np.array((awkward.left, awkward.right), int))
    assert off.max() <= tolerance, (colours(picture), awkward.left, awkward.right)
