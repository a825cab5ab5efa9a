"""Pictures that the project makes itself, painted or damaged: the same pixels on every machine."""

import hashlib

import numpy
import pytest
from convergebench.generation import pictures
from convergebench.generation.sources import catalogue, synthetic
from convergebench.generation.studies.restoration import degradations
from PIL import Image

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
def test_a_painted_picture_has_the_same_pixels_and_fills_any_size(name):
    assert hashlib.sha256(synthetic.make(name, (96, 64), 7).tobytes()).hexdigest() == PIXELS[name]
    for size in ((160, 90), (16, 16)):
        picture = synthetic.make(name, size, 1)
        assert (picture.size, picture.mode) == (size, "RGB")
        assert numpy.asarray(picture).std() > 4, "the picture is all of one colour"


def test_the_whole_root_is_exact_where_floating_point_is_not():
    roots = numpy.array([0, 1, 94906267, 3037000499], numpy.int64)
    squares = roots * roots
    for offset in (-1, 0, 1):
        values = numpy.maximum(squares + offset, 0)
        result = synthetic.root(values)
        assert ((result * result <= values) & ((result + 1) > values // (result + 1))).all()


def test_a_degraded_source_has_the_same_pixels_and_refers_to_the_clean_one():
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
