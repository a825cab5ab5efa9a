"""To which size a source is brought before the first round."""

import pytest
from convergebench.generation.loop import prepared_size

SIZES = ((1024, 1024), (1536, 1024), (1024, 1536))


@pytest.mark.parametrize(
    ("size", "short_side", "sizes", "goal"),
    [
        ((32, 24), 12, (), (16, 12)),
        ((32, 24), 24, (), (32, 24)),
        ((32, 24), 24, SIZES, (1536, 1024)),
        ((24, 32), 24, SIZES, (1024, 1536)),
        ((640, 640), 512, ((1024, 1024), (512, 512)), (512, 512)),
    ],
)
def test_a_source_takes_the_short_side_or_the_nearest_size(size, short_side, sizes, goal):
    assert prepared_size(size, short_side, sizes) == goal
