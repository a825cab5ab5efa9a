"""What the bytes of a picture are: their true type and the size of what they decode to, or why they do not."""

import io
import warnings
from typing import NamedTuple

TYPES = {
    "PNG": "png",
    "JPEG": "jpg",
    "WEBP": "webp",
    "GIF": "gif",
    "BMP": "bmp",
    "TIFF": "tif",
    "PPM": "ppm",
    "AVIF": "avif",
}
MOST_PIXELS = 2**26
SIDEWAYS = (5, 6, 7, 8)  # orientation tags that swap width and height


class Broken(ValueError):
    """The bytes are not a whole picture; the message says what they are instead."""


class Picture(NamedTuple):
    """A picture's type by its bytes, which is also its file's extension, and its size as shown."""

    type: str
    width: int
    height: int


def look(data: bytes) -> Picture:
    """Decode the whole picture once, so that a truncated one is not taken for a picture."""
    from PIL import Image

    if not data:
        raise Broken("no bytes at all")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data))
            if picture.width * picture.height > MOST_PIXELS:
                raise Broken(f"{picture.width}x{picture.height}, above the limit of {MOST_PIXELS} pixels")
            picture.load()
            sideways = picture.getexif().get(0x0112, 1) in SIDEWAYS
    except Broken:
        raise
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise Broken(f"{len(data):,} bytes that are no whole picture ({str(error).split(' <_io.')[0][:80]})") from error
    width, height = (picture.height, picture.width) if sideways else picture.size
    return Picture(TYPES.get(picture.format or "", "bin"), width, height)
