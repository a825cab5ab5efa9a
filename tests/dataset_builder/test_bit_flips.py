"""A flipped bit in a table of numbers never changes a number unnoticed: what is read is what was written, or damage."""

from random import Random

import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from fuzz.mutations import flipped


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("flips") / "convergebench", rounds=6)


def values(folder, config):
    """Everything that a reader gets of a config, both ways of reading it."""
    return repr(Reader(folder).table(config).to_pylist()), repr(list(Reader(folder).rows(config)))


@pytest.mark.parametrize(("config", "flips"), [
    ("scores", 100),
    ("floors", 60),
    pytest.param("scores", 4000, marks=pytest.mark.slow),
    pytest.param("floors", 1000, marks=pytest.mark.slow),
])  # fmt: skip
def test_no_flipped_bit_changes_a_number_unnoticed(folder, config, flips):
    path = folder / "data" / config / "0000.parquet"
    whole, chance, expected = path.read_bytes(), Random(flips), values(folder, config)
    named, passed = 0, []
    for _ in range(flips):
        data = flipped(whole, chance.randrange(len(whole)), chance)
        path.write_bytes(data)
        try:
            if values(folder, config) != expected:
                passed.append(data)
        except UnreadableFile:
            named += 1
    path.write_bytes(whole)
    assert passed == []
    assert named > flips / 4
