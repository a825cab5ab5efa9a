"""The rooms' verbs as Python functions: ten lines from a function of one's own to the report."""

import json

import pytest
from click.testing import CliRunner
from convergebench import dataset_builder, generation, metric_modules, spaces_app
from convergebench.cli.__main__ import main


def my_editor(image, instruction, seed):
    """Darkens a little."""
    return image.point(lambda value: value * 98 // 100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ten-lines")


@pytest.fixture(scope="module")
def board(folder):
    generation.generate([my_editor, "oracle"], suite="smoke", out=folder / "runs" / "mine", version="1")
    dataset_builder.build(folder / "runs" / "mine", out=folder / "mine")
    metric_modules.score(folder / "mine", ["psnr", "ssim", "edit_applied"])
    return spaces_app.report(folder / "mine", out=folder / "report")


def test_ten_lines_of_python_lead_from_a_function_to_the_page(board, folder):
    assert board.page == folder / "report" / "index.html"
    assert "my_editor" in board.page.read_text()
    rows = {row["editor"]: row for row in board.rows}
    assert rows["oracle"]["rounds_kept"] == 2
    assert rows["my_editor:version=1"]["rounds_kept"] == 0
    assert rows["my_editor:version=1"]["cause"].startswith("not applied")


def test_the_board_is_a_pandas_frame_and_html_for_a_notebook(board):
    frame = board.frame
    assert list(frame["editor"]) == [row["editor"] for row in board.rows]
    assert frame.set_index("editor").loc["oracle", "rounds_kept"] == 2
    shown = board._repr_html_()
    assert "<table>" in shown
    assert "data:image/webp;base64," in shown
    assert str(board).endswith(f"open {board.page}")


def test_the_commands_say_of_the_same_folders_what_the_functions_gave(board, folder):
    told = CliRunner().invoke(main, ["report", str(folder / "mine"), "--out", str(folder / "again"), "--json"])
    assert json.loads(told.stdout)["rows"] == json.loads(json.dumps(board.rows))
    built = CliRunner().invoke(main, ["build", str(folder / "runs" / "mine"), "--out", str(folder / "mine"), "--json"])
    assert json.loads(built.stdout)["chains"] == dataset_builder.build(folder / "runs" / "mine", folder / "mine").chains
    scored = CliRunner().invoke(main, ["score", str(folder / "mine"), "--metrics", "psnr,ssim", "--json"])
    assert json.loads(scored.stdout)["images"] == metric_modules.score(folder / "mine", ["psnr"]).images == 0
