"""To which size a source is brought before the first round."""

import numpy as np
from convergebench.generation.prepare import prepare, prepared_size
from PIL import Image

GRADIENT = Image.fromarray((np.indices((24, 32)).sum(0)[..., None] * [4, 3, 2] % 256).astype(np.uint8))


def test_a_source_is_resized_once_or_left_alone():
    assert prepare(GRADIENT, 12).size == (16, 12)
    assert prepare(GRADIENT, 24) is GRADIENT


def test_a_declared_size_of_the_nearest_shape_is_covered():
    sizes = ((1024, 1024), (1536, 1024), (1024, 1536))
    assert prepare(GRADIENT, 24, sizes).size == (1536, 1024)
    assert prepare(GRADIENT.rotate(90, expand=True), 24, sizes).size == (1024, 1536)


def test_the_nearest_of_the_declared_sizes_is_taken():
    assert prepared_size((640, 640), 512, ((1024, 1024), (512, 512))) == (512, 512)
