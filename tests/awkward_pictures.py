"""Pictures that careless decoders get wrong, with how each has to look, and bytes that are no whole picture.

Wherever pictures are stored, scored or shown, the test of that place takes them from here.
"""

from typing import NamedTuple

import cv2
import numpy as np
import small_dataset
from PIL import Image, ImageCms
from stores import encoded

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


def tagged(orientation):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return exif


def sixteen_bits():
    values = np.full((HEIGHT, WIDTH), 65535, dtype=np.uint16)
    values[:, : WIDTH // 2] = 100 * 257 + 100  # 100.39 in 8 bits
    return Image.fromarray(values)


def sixteen_bit_colour():
    deep = np.asarray(halves())[..., ::-1].astype(np.uint16) * 257
    return cv2.imencode(".png", deep)[1].tobytes()


def profile():
    """The profile of a colour space that no reader of RGB expects: to follow it would be to change every pixel."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()


def drawn(kind, *colours, **options):
    return encoded(halves(*colours), kind, **options)


TURNED = encoded(halves().rotate(90, expand=True), "JPEG", quality=98, exif=tagged(6))
UPSIDE_DOWN = encoded(halves().rotate(180), "JPEG", quality=98, exif=tagged(3))
HALF_CLEAR, CLEAR = (255, 0, 0, 128), (0, 0, 0, 0)
CYAN_AND_RED = ((0, 255, 255, 0), (0, 0, 0, 0), "CMYK")
PICTURES = {
    "turned by its orientation tag.jpg": Awkward(TURNED, RED, GREEN),
    "mirrored by its orientation tag.png": Awkward(drawn("PNG", GREEN, RED, exif=tagged(2)), RED, GREEN),
    "upside down by its orientation tag.jpg": Awkward(UPSIDE_DOWN, RED, GREEN),
    "16 bit colour.png": Awkward(sixteen_bit_colour(), RED, GREEN),
    "colour profile.png": Awkward(drawn("PNG", icc_profile=profile()), RED, GREEN),
    "16 bits.png": Awkward(encoded(sixteen_bits(), "PNG"), (100, 100, 100), WHITE),
    "half transparent.png": Awkward(drawn("PNG", HALF_CLEAR, CLEAR, "RGBA"), (255, 127, 127), WHITE),
    "transparent.webp": Awkward(drawn("WEBP", (*RED, 255), CLEAR, "RGBA", lossless=True), RED, WHITE),
    "transparent palette.gif": Awkward(drawn("GIF", 0, 1, "P", transparency=1), (0, 0, 0), WHITE),
    "grey and alpha.png": Awkward(drawn("PNG", (90, 255), (90, 0), "LA"), (90, 90, 90), WHITE),
    "one bit.png": Awkward(drawn("PNG", 0, 1, "1"), (0, 0, 0), WHITE),
    "CMYK.jpg": Awkward(drawn("JPEG", *CYAN_AND_RED, quality=98), RED, WHITE),
}
METADATA = {"icc_profile": profile(), "comment": b"the original was red and green"}
PROFILED = {  # one file for each way in which a picture may bring a profile and words along
    "colour.png": drawn("PNG", icc_profile=profile()),
    "grey.png": drawn("PNG", 90, 255, "L", icc_profile=profile()),
    "grey and alpha.png": drawn("PNG", (90, 255), (90, 0), "LA", icc_profile=profile()),
    "palette.png": encoded(halves().convert("P"), "PNG", icc_profile=profile()),
    "one bit.png": drawn("PNG", 0, 1, "1", icc_profile=profile()),
    "16 bits.png": encoded(sixteen_bits(), "PNG", icc_profile=profile()),
    "colour.jpg": drawn("JPEG", **METADATA),
    "grey.jpg": drawn("JPEG", 90, 255, "L", **METADATA),
    "CMYK.jpg": drawn("JPEG", *CYAN_AND_RED, **METADATA),
    "CMYK.tif": drawn("TIFF", *CYAN_AND_RED, icc_profile=profile()),
    "colour.webp": drawn("WEBP", icc_profile=profile()),
    "palette.gif": encoded(halves().convert("P"), "GIF", comment=METADATA["comment"]),
    "turned.jpg": drawn("JPEG", exif=tagged(6), **METADATA),
}
NOISE = Image.fromarray(np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8))
BROKEN = {  # bytes that are no whole picture, and a part of the sentence that refuses them
    "truncated.jpg": (encoded(NOISE, "JPEG")[:-900], "that cannot be decoded"),
    "truncated.png": (encoded(NOISE, "PNG")[:-900], "that cannot be decoded"),
    "truncated.webp": (encoded(NOISE, "WEBP")[:-900], "that cannot be decoded"),
    "bomb.png": (small_dataset.decompression_bomb(10_000), "a png of 10000x10000, above the limit"),
    "web page.png": (b"<html><body>502 Bad Gateway</body></html>", "not a picture"),
    "empty.png": (b"", "no bytes at all"),
    **{
        f"animation.{kind}": (drawn(kind, save_all=True, append_images=[NOISE]), f"a {kind} with an animation")
        for kind in ("gif", "png", "webp")
    },
    "postscript.png": (encoded(NOISE, "EPS"), "not a picture"),
    "windows.eps": (b"\xc5\xd0\xd3\xc6" + bytes(200), "not a picture"),
    "modern.avif": (encoded(NOISE, "AVIF"), "of type avif, which is not read"),
}


def colours(picture):
    values = np.asarray(picture)
    middle, quarter = values.shape[0] // 2, values.shape[1] // 4
    return tuple(map(int, values[middle, quarter])), tuple(map(int, values[middle, 3 * quarter]))


def assert_looks_right(picture, awkward, tolerance=6):
    """`picture` is an array or an image, RGB and upright; JPEG's losses are tolerated."""
    height, width = np.asarray(picture).shape[:2]
    assert (width, height) == awkward.size
    off = np.abs(np.array(colours(picture), int) - np.array((awkward.left, awkward.right), int))
    assert off.max() <= tolerance, (colours(picture), awkward.left, awkward.right)
