"""Awkward pictures in a filmstrip, and the examples of docstrings."""

import base64
import doctest
import importlib
import io
import pkgutil

import awkward_pictures
import pytest
from convergebench.spaces_app.reporting.filmstrips import SIDE, make_frame
from PIL import Image


@pytest.mark.parametrize("name", awkward_pictures.PICTURES)
def test_an_awkward_picture_looks_right_in_a_filmstrip(name):
    awkward = awkward_pictures.PICTURES[name]
    frame = make_frame(awkward.data, "round 1", "words")
    with Image.open(io.BytesIO(base64.b64decode(frame["uri"].partition(",")[2]))) as small:
        assert small.size == frame["size"]
        assert max(small.size) <= SIDE
        # WebP of low quality changes colours more than JPEG of high quality.
        awkward_pictures.assert_looks_right(small.convert("RGB"), awkward, tolerance=16)


@pytest.mark.parametrize("name", awkward_pictures.BROKEN)
def test_a_strip_says_why_there_is_no_picture(name):
    data, words = awkward_pictures.BROKEN[name]
    frame = make_frame(data, "round 1", "words")
    assert frame["uri"] == ""
    assert frame["words"].startswith("unreadable")
    assert words in frame["words"]


@pytest.mark.parametrize("folder", ["analysis", "reporting", "space", "statistics", "studies"])
def test_the_examples_in_docstrings_are_right(folder):
    package = importlib.import_module(f"convergebench.spaces_app.{folder}")
    results = [
        doctest.testmod(importlib.import_module(info.name))
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    assert sum(result.attempted for result in results) > 0
    assert sum(result.failed for result in results) == 0
