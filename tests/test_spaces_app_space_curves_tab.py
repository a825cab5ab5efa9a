"""The Space's curves."""

import pytest
import small_dataset
from convergebench.spaces_app.space import curves_tab
from convergebench.spaces_app.space.leaderboard import Choice
from convergebench.spaces_app.space.served_dataset import open_dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(str(folder))


def test_curves_fall_and_single_chains_are_there_to_point_at(dataset):
    rows = curves_tab.curve_rows(dataset, Choice(), "quality")
    fading = [row["mean"] for row in rows if row["editor"] == "fading"]
    assert fading == sorted(fading, reverse=True)
    assert len(fading) == small_dataset.ROUNDS
    plain = len(curves_tab.figure(dataset, Choice(), "quality").data)
    drawn = curves_tab.figure(dataset, Choice(), "quality", single=True)
    assert len(drawn.data) == plain + len(dataset.chains)
    assert drawn.layout.hovermode == "closest"  # one is pointed at, not all that pass there
    assert "fading: harbour, hat" in {line.name for line in drawn.data}
