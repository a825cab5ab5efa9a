"""Bytes to pixels and back: the one decoder of ConvergeBench, and the one resize.

What an editor is handed next, what is scored and what is shown are the same pixels, because every room
decodes here. This file imports only numpy and Pillow, because published metrics contain a copy of it.
"""

import hashlib
import io
import struct
import warnings
from collections import deque

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

DECODING = "upright-rgb-on-white"  # the name of the rule of `decode`, for signatures
MOST_PIXELS = 2**26  # a 4K answer has a quarter of that; a 10,000 x 10,000 bomb half as many again
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"BM", "bmp"),
    (b"II*\x00", "tif"),
    (b"MM\x00*", "tif"),
    (b"P5", "ppm"),
    (b"P6", "ppm"),
)
# The formats that are read, by the type of their first bytes, each by its own decoder of
# Pillow and no other: some of the others run programs (PostScript) or have been read by few.
FORMATS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP", "tif": "TIFF", "bmp": "BMP", "gif": "GIF", "ppm": "PPM"}
_packed = deque[tuple[tuple[str, bytes], bytes]](maxlen=16)  # the pictures that were encoded last
# What Pillow's decoders were seen to raise on files that were cut or altered at random.
DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    RuntimeError,
    EOFError,
    struct.error,
    Image.DecompressionBombError,
)


class Undecodable(ValueError):
    """Not a whole picture; the message says what it is instead, to stand after "it is"."""


def sniff(data: bytes) -> str:
    """The type by the first bytes, which is also the file's extension; `bin` if unknown."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp":
        return "avif" if data[8:12] in (b"avif", b"avis") else "heic"
    return "bin"


def decode(data: bytes, most_pixels: int = MOST_PIXELS) -> Image.Image:
    """The whole picture as upright 8-bit RGB on white, pixels and nothing else.

    The orientation tag is obeyed, transparency is composited on white, 16 bits become 8
    by rounding, and colour profiles are ignored. Raises Undecodable for anything that is
    not one whole picture of at most `most_pixels`, in one of FORMATS and no animation.
    """
    kind = sniff(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = open_picture(data)
            is_film = getattr(picture, "is_animated", False)
            if is_film and picture.format != "MPO":  # which is a photograph with its preview
                raise Undecodable(f"a {kind} with an animation, not one picture")
            if picture.width * picture.height > most_pixels:
                size = f"{picture.width}x{picture.height}"
                raise Undecodable(f"a {kind} of {size}, above the limit of {most_pixels} pixels")
            picture.load()
            return _upright(picture)
    except Undecodable:
        raise
    except DECODER_ERRORS as error:
        words = str(error).split(" <_io.")[0][:80].strip()  # without the address of the buffer that was read
        raise Undecodable(f"a {kind} that cannot be decoded ({words})") from error


def open_picture(data: bytes) -> Image.Image:
    """The picture with its pixels not decoded yet, by the decoder of its first bytes."""
    kind = sniff(data)
    if not data:
        raise Undecodable("no bytes at all")
    if kind == "bin":
        raise Undecodable(f"{len(data)} bytes that are not a picture")
    if kind not in FORMATS:
        raise Undecodable(f"of type {kind}, which is not read; {', '.join(FORMATS)} are")
    return Image.open(io.BytesIO(data), formats=[FORMATS[kind]])


def with_text(data: bytes) -> bytes:
    """A picture's bytes, and after them the text that a PNG holds compressed."""
    if sniff(data) != "png" or not (b"zTXt" in data or b"iTXt" in data):
        return data
    try:
        picture = open_picture(data)
        picture.load()
    except (Undecodable, *DECODER_ERRORS):
        return data
    return data + repr(picture.info).encode()


def _upright(picture: Image.Image) -> Image.Image:
    """The picture as RGB on white without metadata, turned as its orientation tag says."""
    if picture.getexif().get(0x0112, 1) != 1:
        picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I;16"):
        picture = Image.fromarray(np.round(np.asarray(picture) / 257).astype(np.uint8))
    if picture.has_transparency_data:
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA"))
    # A new picture: what was opened from a file still holds its text and the file.
    picture = picture.copy() if picture.mode == "RGB" else picture.convert("RGB")
    picture.info = {}
    return picture


def decode_array(data: bytes, most_pixels: int = MOST_PIXELS) -> NDArray[np.uint8]:
    return np.asarray(decode(data, most_pixels))


def encode_png(picture: Image.Image) -> bytes:
    """The picture as a PNG, packed lightly: a tenth more bytes, half of the time. The last 16 small ones are kept."""
    kind = repr((picture.mode, picture.size, picture.getpalette(None), picture.info))
    key = kind, hashlib.sha256(picture.tobytes()).digest()
    if key not in (packed := dict(_packed)):
        buffer = io.BytesIO()
        picture.save(buffer, "PNG", compress_level=1)
        packed[key] = buffer.getvalue()
        if len(packed[key]) < 2_000_000:
            _packed.append((key, packed[key]))
    return packed[key]


def resize_to(array: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """The picture at this size, by the one declared Lanczos resize."""
    if array.shape[:2] == (height, width):
        return array
    return np.array(Image.fromarray(array).resize((width, height), Image.Resampling.LANCZOS))


def fit_to(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture resized to cover this size; what hangs over is cut off evenly."""
    return picture if size == picture.size else ImageOps.fit(picture, size, Image.Resampling.LANCZOS)


def evaluation_size(width: int, height: int, short_side: int | str | None) -> tuple[int, int]:
    """The size for comparisons with a reference of this size; by default the reference's own."""
    if short_side is None or short_side == "reference":
        return width, height
    if not isinstance(short_side, int) or isinstance(short_side, bool) or short_side < 1:
        raise ValueError(f"size must be None, 'reference' or the pixels of the short side, got {short_side!r}")
    shorter = min(width, height)
    return max(1, round(width * short_side / shorter)), max(1, round(height * short_side / shorter))


def pixel_hash(picture: Image.Image) -> str:
    """sha256 of the pixels as binary PPM, whatever encoder wrote the file."""
    header = f"P6\n{picture.width} {picture.height}\n255\n".encode()
    return hashlib.sha256(header + picture.convert("RGB").tobytes()).hexdigest()


def has_hash(data: bytes, sha256: str) -> bool:
    """Whether a file, or its pixels if any encoder may have written it, has this hash."""
    return hashlib.sha256(data).hexdigest() == sha256 or pixel_hash(decode(data)) == sha256
