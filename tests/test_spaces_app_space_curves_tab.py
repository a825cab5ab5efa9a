"""The Space's curves."""

import pytest
import small_dataset
from convergebench.spaces_app.space import curves_tab
from convergebench.spaces_app.space.leaderboard import Choice
from convergebench.spaces_app.space.previews import Previews
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


def test_the_numbers_to_save_are_one_file_however_often_they_are_asked_for(dataset, tmp_path):
    previews = Previews(dataset, tmp_path / "previews")
    rows = curves_tab.curve_rows(dataset, Choice(), "quality")
    [path] = {curves_tab.keep_csv(previews, "quality", rows) for _ in range(5)}
    assert list(previews.folder.iterdir()) == [path]
    assert path.read_text().startswith(",".join(rows[0]))
    assert curves_tab.keep_csv(previews, "../quality", []).parent == previews.folder


def test_a_name_that_a_spreadsheet_would_take_for_a_formula_is_text():
    assert (
        curves_tab.as_csv([{"editor": "=cmd|' /C calc'!A0", "mean": -0.5}]) == "editor,mean\n'=cmd|' /C calc'!A0,-0.5\n"
    )
