"""What counts as a picture, and to which size it is brought."""

import io
import struct
import zlib

import numpy
import pytest
from convergebench.generation import pictures
from convergebench.generation.prepare import prepare, prepared_size
from PIL import Image

GRADIENT = Image.fromarray((numpy.indices((24, 32)).sum(0)[..., None] * [4, 3, 2] % 256).astype(numpy.uint8))


def encoded(picture, kind, **options):
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(("kind", "extension"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif")])
def test_the_type_is_read_from_the_magic_bytes(kind, extension):
    assert pictures.sniff(encoded(GRADIENT, kind)) == extension


def test_decoding_gives_the_pixels_of_the_bytes():
    assert numpy.array_equal(pictures.decode(encoded(GRADIENT, "PNG")), GRADIENT)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_a_truncated_picture_is_broken(kind, share):
    noise = numpy.random.default_rng(1).integers(0, 256, (64, 64, 3), numpy.uint8)
    data = encoded(Image.fromarray(noise), kind)
    with pytest.raises(pictures.Undecodable, match="that cannot be decoded"):
        pictures.decode(data[: int(len(data) * share)])


def test_a_web_page_is_no_picture_and_its_beginning_is_told():
    with pytest.raises(pictures.Undecodable, match="no picture, starting with '<html>"):
        pictures.decode(b"<html><body>502 Bad Gateway</body></html>")


def test_a_bomb_is_refused_before_its_pixels_are_made():
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 10_000, 10_000, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    with pytest.raises(pictures.Undecodable, match="10000x10000, above the limit"):
        pictures.decode(bomb)


def test_transparency_is_laid_on_white_and_sixteen_bits_become_eight():
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert pictures.decode(encoded(clear, "PNG")).getpixel((0, 0)) == (255, 255, 255)
    deep = Image.fromarray(numpy.full((4, 4), 65535, numpy.uint16))
    assert pictures.decode(encoded(deep, "PNG")).getpixel((0, 0)) == (255, 255, 255)


def test_an_orientation_tag_is_obeyed():
    turned = pictures.decode(encoded(GRADIENT, "JPEG", exif=orientation(6)))
    assert turned.size == (24, 32)


def orientation(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def test_a_source_is_brought_to_the_short_side_once_and_left_alone_when_it_fits():
    assert prepare(GRADIENT, 12).size == (16, 12)
    assert prepare(GRADIENT, 24) is GRADIENT


def test_a_declared_size_of_the_nearest_shape_is_covered():
    sizes = ((1024, 1024), (1536, 1024), (1024, 1536))
    assert prepare(GRADIENT, 24, sizes).size == (1536, 1024)
    assert prepare(GRADIENT.rotate(90, expand=True), 24, sizes).size == (1024, 1536)


def test_among_declared_sizes_of_one_shape_the_nearest_in_size_is_taken():
    assert prepared_size((640, 640), 512, ((1024, 1024), (512, 512))) == (512, 512)


def test_pixels_survive_our_own_encoding_without_metadata():
    picture = GRADIENT.copy()
    picture.info["comment"] = "secret"
    data = pictures.encode_png(pictures.upright(picture))
    assert numpy.array_equal(pictures.decode(data), GRADIENT)
    assert b"secret" not in data
