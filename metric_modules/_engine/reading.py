"""From the bytes of an answer to the pixels that were handed on: upright RGB, transparency laid on white.

Generation turns an answer into the next call's input by the same rule: what is scored is what the chain went on with.
"""

import io
import struct
import warnings

import numpy
from PIL import Image, ImageOps

MOST_PIXELS = 2**26
RULE = "upright-rgb-on-white"  # named in the signature
BROKEN = (OSError, SyntaxError, ValueError, EOFError, struct.error, Image.DecompressionBombError)


class Unreadable(ValueError):
    """The bytes are not a whole picture; the message says why."""


def decode(data: bytes) -> numpy.ndarray:
    """Height x width x 3 bytes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data))
            if picture.width * picture.height > MOST_PIXELS:
                raise Unreadable(f"{picture.width}x{picture.height} pixels, above the limit of {MOST_PIXELS}")
            picture.load()
        return numpy.asarray(upright(picture))
    except Unreadable:
        raise
    except BROKEN as error:
        raise Unreadable(f"{len(data)} bytes that are no whole picture ({plain(error)})") from error


def plain(error: Exception) -> str:
    """The error's words without the address of the buffer it was reading."""
    return str(error).split(" <_io.")[0][:80].strip()


def upright(picture: Image.Image) -> Image.Image:
    """RGB, turned as its orientation tag says."""
    if picture.getexif().get(0x0112, 1) != 1:
        picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I;16"):
        picture = Image.fromarray(numpy.round(numpy.asarray(picture) / 257).astype(numpy.uint8))
    if picture.has_transparency_data:
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA"))
    return picture if picture.mode == "RGB" else picture.convert("RGB")
