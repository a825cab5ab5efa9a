"""What counts as a picture and which pixels it has; and those that the project paints or damages itself."""

import hashlib
import io

import numpy as np
import pytest
from awkward_pictures import BROKEN, PICTURES, PROFILED, assert_looks_right, encoded, tagged
from convergebench.generation import pictures
from convergebench.generation.sources import catalogue, synthetic
from convergebench.generation.studies.restoration import degradations
from PIL import Image

GRADIENT = Image.fromarray((np.indices((24, 32)).sum(0)[..., None] * [4, 3, 2] % 256).astype(np.uint8))


@pytest.mark.parametrize("name", PICTURES)
def test_an_awkward_picture_is_decoded_as_it_looks(name):
    awkward = PICTURES[name]
    picture = pictures.decode(awkward.data)
    assert (picture.mode, picture.info) == ("RGB", {})
    assert_looks_right(picture, awkward)
    assert np.array_equal(pictures.decode_array(awkward.data), picture)
    assert pictures.decode(awkward.data).size == awkward.size


@pytest.mark.parametrize("name", BROKEN)
def test_bytes_that_are_no_whole_picture_are_refused(name):
    data, refusal = BROKEN[name]
    with pytest.raises(pictures.Undecodable, match=refusal) as caught:
        pictures.decode(data)
    assert " at 0x" not in str(caught.value), "an address in this process tells nobody anything"


@pytest.mark.parametrize("name", PROFILED)
def test_decoding_drops_profiles_and_comments(name):
    with Image.open(io.BytesIO(PROFILED[name])) as opened:
        assert opened.info.get("icc_profile") or opened.info.get("comment")
    picture = pictures.decode(PROFILED[name])
    assert (type(picture), picture.mode, picture.info, dict(picture.getexif())) == (Image.Image, "RGB", {}, {})
    sent = pictures.encode_png(picture)
    names = {sent[place - 4 : place] for place in range(4, len(sent)) if sent[place - 4 : place].isalpha()}
    assert not names & {b"iCCP", b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"gAMA", b"cHRM", b"sRGB", b"pHYs"}
    assert np.array_equal(pictures.decode(sent), picture)


def test_only_the_decoder_that_the_first_bytes_name_sees_them(monkeypatch):
    """PostScript would be run by another program."""
    asked = []
    opened = Image.open
    monkeypatch.setattr(Image, "open", lambda *data, **how: asked.append(how["formats"]) or opened(*data, **how))
    pictures.decode(encoded(GRADIENT, "PNG"))
    for name in ("postscript.png", "windows.eps", "modern.avif"):
        with pytest.raises(pictures.Undecodable):
            pictures.decode(BROKEN[name][0])
    with pytest.raises(pictures.Undecodable):
        pictures.decode(b"P6\n" + encoded(GRADIENT, "EPS"))
    assert asked == [["PNG"], ["PPM"]]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_tag_is_obeyed(orientation):
    upright = np.asarray(GRADIENT)
    stored = {
        1: upright, 2: upright[:, ::-1], 3: upright[::-1, ::-1], 4: upright[::-1], 5: upright.swapaxes(0, 1),
        6: np.rot90(upright, 1), 7: upright[::-1, ::-1].swapaxes(0, 1), 8: np.rot90(upright, -1),
    }[orientation]  # fmt: skip
    data = encoded(Image.fromarray(np.ascontiguousarray(stored)), "PNG", exif=tagged(orientation))
    assert np.array_equal(pictures.decode(data), upright)


def test_sizes_are_limited_kept_and_resized_by_the_rule():
    with pytest.raises(pictures.Undecodable, match="a png of 32x24, above the limit of 100 pixels"):
        pictures.decode(encoded(GRADIENT, "PNG"), most_pixels=100)
    array = np.asarray(GRADIENT)
    assert pictures.resize_to(array, 32, 24) is array
    assert pictures.resize_to(array, 16, 12).shape == (12, 16, 3)
    for same in (None, "reference"):
        assert pictures.evaluation_size(640, 480, same) == (640, 480)
    assert pictures.evaluation_size(640, 480, 512) == (683, 512)
    for wrong in (0, True, "half", 1.5):
        with pytest.raises(ValueError, match="must be None, 'reference' or the pixels"):
            pictures.evaluation_size(640, 480, wrong)


PIXELS = {
    "boards": "0b00726c16f89f1b9eaa91ff201761a20aa3b56110f4ec4da8921f52bcbea2ac",
    "grid": "a14ef2e54f56177f1aa0e42d98c44f1c79946afd678641750ccf5f3a11da1e50",
    "haze": "c889242a3bbb8b2234d7e8bfd5e0e7878540b24240cab8c4788a3f813096ffa9",
    "particles": "b36425f0f2a6d46021b428635016e20c4955777b58b367851cf0508cebf32486",
    "gradient": "d8fe5dc47dd3f1a3902cb989bfac1b94a4c8bc236bf4f254546f33f99d4aefc5",
    "feather": "c5bba7b80f1e293b1c3c198ec25571f932ffb1374e6d0765613f84437867dd02",
    "text": "0b04fd2c7f73dbcfb648732bf6695e752e9538edd6199c0f595b2e75a5eef786",
}
DEGRADED = "d27d7a5f6b001ef3c00caa1a6c07ea5cc1cf0c001987208f8df7cb109dd4a719"


@pytest.mark.parametrize("name", list(synthetic.EVERY))
def test_a_painted_picture_has_the_same_pixels(name):
    assert hashlib.sha256(synthetic.make(name, (96, 64), 7).tobytes()).hexdigest() == PIXELS[name]
    for size in ((160, 90), (16, 16)):
        picture = synthetic.make(name, size, 1)
        assert (picture.size, picture.mode) == (size, "RGB")
        assert np.asarray(picture).std() > 4, "the picture is all of one colour"


def test_the_whole_root_is_exact_where_floating_point_is_not():
    roots = np.array([0, 1, 94906267, 3037000499], np.int64)
    squares = roots * roots
    for offset in (-1, 0, 1):
        values = np.maximum(squares + offset, 0)
        result = synthetic.root(values)
        assert ((result * result <= values) & ((result + 1) > values // (result + 1))).all()


def test_a_degraded_source_has_the_same_pixels():
    whole = pictures.decode(catalogue.read("astronaut")).resize((240, 240), Image.Resampling.LANCZOS)
    clean = whole.crop((20, 20, 116, 116))
    degraded = b"".join(degradations.degrade(name, clean, name).tobytes() for name in degradations.DEGRADATIONS)
    assert hashlib.sha256(degraded).hexdigest() == DEGRADED
    picture = pictures.decode(catalogue.read("painted-text~old-film"))
    assert pictures.pixel_hash(picture) == catalogue.source("painted-text~old-film").sha256
    record = catalogue.source("painted-text~motion-blur")
    assert record.reference == catalogue.source("painted-text").sha256 != record.sha256
    assert catalogue.read_reference("painted-text~motion-blur") == catalogue.read("painted-text")
    assert catalogue.read_reference("painted-text") is None


def test_a_picture_that_comes_again_is_encoded_once_and_never_taken_for_another():
    red = Image.new("RGB", (6, 4), (200, 10, 10))
    assert pictures.encode_png(red) is pictures.encode_png(red.copy())
    same_bytes = [
        red,
        Image.frombytes("RGB", (4, 6), red.tobytes()),
        Image.frombytes("L", (18, 4), red.tobytes()),
    ]
    described = red.copy()
    described.info["icc_profile"] = b"profile"
    shades = [Image.new("RGBA", (6, 4), (200, 10, 10, alpha)).quantize() for alpha in (255, 0)]
    assert pictures.encode_png(shades[0]) != pictures.encode_png(shades[1])
    opened = [Image.open(io.BytesIO(pictures.encode_png(picture))) for picture in (*same_bytes, described)]
    assert [(picture.mode, picture.size) for picture in opened[:3]] == [(p.mode, p.size) for p in same_bytes]
    assert ["icc_profile" in picture.info for picture in opened] == [False, False, False, True]
