"""The pictures the project paints itself."""

import hashlib

import numpy
import pytest
from convergebench.generation.sources import synthetic

PIXELS = {
    "boards": "0b00726c16f89f1b9eaa91ff201761a20aa3b56110f4ec4da8921f52bcbea2ac",
    "grid": "a14ef2e54f56177f1aa0e42d98c44f1c79946afd678641750ccf5f3a11da1e50",
    "haze": "c889242a3bbb8b2234d7e8bfd5e0e7878540b24240cab8c4788a3f813096ffa9",
    "particles": "b36425f0f2a6d46021b428635016e20c4955777b58b367851cf0508cebf32486",
    "gradient": "d8fe5dc47dd3f1a3902cb989bfac1b94a4c8bc236bf4f254546f33f99d4aefc5",
    "feather": "c5bba7b80f1e293b1c3c198ec25571f932ffb1374e6d0765613f84437867dd02",
    "text": "0b04fd2c7f73dbcfb648732bf6695e752e9538edd6199c0f595b2e75a5eef786",
}


@pytest.mark.parametrize("name", list(synthetic.EVERY))
def test_a_painted_picture_has_the_same_pixels_on_every_machine(name):
    picture = synthetic.make(name, (96, 64), 7)
    assert hashlib.sha256(picture.tobytes()).hexdigest() == PIXELS[name]


@pytest.mark.parametrize("name", list(synthetic.EVERY))
@pytest.mark.parametrize("size", [(160, 90), (90, 160), (16, 16)])
def test_a_synthetic_picture_fills_any_size_with_rgb(name, size):
    picture = synthetic.make(name, size, 1)
    assert (picture.size, picture.mode) == (size, "RGB")
    assert numpy.asarray(picture).std() > 4, "the picture is all of one colour"


@pytest.mark.parametrize("name", list(synthetic.EVERY))
def test_another_seed_paints_another_picture(name):
    first, second = (numpy.asarray(synthetic.make(name, (128, 128), seed), float) for seed in (1, 2))
    assert abs(first - second).mean() > 2


def test_the_whole_root_is_exact_where_floating_point_is_not():
    roots = numpy.array([0, 1, 94906267, 3037000499], numpy.int64)
    squares = roots * roots
    for offset in (-1, 0, 1):
        values = numpy.maximum(squares + offset, 0)
        result = synthetic.root(values)
        assert ((result * result <= values) & ((result + 1) > values // (result + 1))).all()
