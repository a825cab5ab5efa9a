"""Degradations damage what they are named for, keep every pixel in its place, and are equal on every machine."""

import hashlib

import numpy
import pytest
from convergebench.generation import pictures
from convergebench.generation.records import UserError
from convergebench.generation.sources import catalogue
from convergebench.generation.studies.restoration import degradations
from PIL import Image

NAMES = list(degradations.DEGRADATIONS)
CLEAN = pictures.decode(catalogue.read("astronaut")).resize((240, 240), Image.Resampling.LANCZOS)


def pixels(picture: Image.Image) -> numpy.ndarray:
    return numpy.asarray(picture, float)


@pytest.mark.parametrize("name", NAMES)
def test_every_pixel_stays_in_its_place(name):
    grey = pixels(CLEAN.convert("L"))
    broken = pixels(degradations.degrade(name, CLEAN, f"x~{name}").convert("L"))

    def match(down: int, right: int) -> float:
        inner = slice(12, -12)
        moved = numpy.roll(broken, (down, right), (0, 1))
        return float(numpy.corrcoef(grey[inner, inner].ravel(), moved[inner, inner].ravel())[0, 1])

    unmoved = match(0, 0)
    assert unmoved > 0.6
    assert all(match(*step) < unmoved for step in ((6, 0), (-6, 0), (0, 6), (0, -6)))


def test_degraded_pixels_match_the_frozen_hash():
    digest = hashlib.sha256(
        b"".join(degradations.degrade(n, CLEAN_SMALL, n).tobytes() for n in NAMES)
    ).hexdigest()
    assert digest == FROZEN
    picture = pictures.decode(catalogue.read("painted-text~old-film"))
    assert pictures.pixel_hash(picture) == catalogue.source("painted-text~old-film").sha256


CLEAN_SMALL = CLEAN.crop((20, 20, 116, 116))
FROZEN = "d27d7a5f6b001ef3c00caa1a6c07ea5cc1cf0c001987208f8df7cb109dd4a719"


def test_a_degraded_source_refers_to_the_clean_picture():
    record = catalogue.source("painted-text~motion-blur")
    assert record.reference == catalogue.source("painted-text").sha256 != record.sha256
    assert catalogue.read_reference("painted-text~motion-blur") == catalogue.read("painted-text")
    assert catalogue.read_reference("painted-text") is None


def test_an_unknown_degradation_is_refused():
    with pytest.raises(UserError, match="no degradation 'fog'; the degradations are defocus-blur"):
        degradations.degrade("fog", CLEAN, "x")
