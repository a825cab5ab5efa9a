"""What counts as a picture, and which pixels it has."""

import io

import numpy as np
import pytest
from awkward_pictures import BROKEN, PICTURES, PROFILED, assert_looks_right, encoded, tagged
from convergebench.generation import pictures
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
    monkeypatch.setattr(
        Image, "open", lambda *given, **how: asked.append(how["formats"]) or opened(*given, **how)
    )
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
    assert (
        pictures.evaluation_size(640, 480, None) == pictures.evaluation_size(640, 480, "reference") == (640, 480)
    )
    assert pictures.evaluation_size(640, 480, 512) == (683, 512)
    for wrong in (0, True, "half", 1.5):
        with pytest.raises(ValueError, match="must be None, 'reference' or the pixels"):
            pictures.evaluation_size(640, 480, wrong)
