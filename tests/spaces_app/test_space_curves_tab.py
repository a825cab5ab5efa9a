"""The Space's curves."""

import pytest
import small_dataset
from convergebench.spaces_app.space import curves_tab
from convergebench.spaces_app.space.leaderboard import Choice
from convergebench.spaces_app.space.served_dataset import open_dataset


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return open_dataset(str(small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")))


def test_curves_start_untouched_and_fall(dataset):
    found = curves_tab.editor_curves(dataset, Choice(), "quality")
    curves = {each["editor"]: each for each in found["curves"]}
    fading = [mean for _, mean, _, _ in curves["fading"]["points"]]
    assert fading == sorted(fading, reverse=True)
    assert fading[0] == 1
    assert len(fading) == small_dataset.ROUNDS + 1
    assert dataset.chains[curves["fading"]["chain"]].editor == "fading"  # a click leads there
    raw = curves_tab.editor_curves(dataset, Choice(), "psnr")["curves"][0]["points"]
    assert raw[0][0] == 1  # what has no natural start begins with the first round


def test_single_chains_are_there_to_point_at(dataset):
    found = curves_tab.chain_curves(dataset, Choice(), "quality", "fading")
    assert {each["name"] for each in found} == {
        f"the {source}, {program}" for source in small_dataset.SOURCES for program in small_dataset.PROGRAMS
    }
    assert curves_tab.chain_curves(dataset, Choice(), "quality", "nobody") == []
