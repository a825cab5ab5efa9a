"""The commands as Python functions: ten lines lead from a user's function to the report, in the notebook too."""

import json
import os
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "quickstart.ipynb"


def code_cells():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ten-lines")


@pytest.fixture(scope="module")
def board(folder):
    """The result of the notebook's cells, run in order, without the metrics that need network weights."""
    before, names = Path.cwd(), {}
    os.chdir(folder)
    try:
        for cell in code_cells():
            exec(cell.replace('score("mine")', 'score("mine", ["psnr", "ssim", "edit_applied"])'), names)  # noqa: S102 - our own code
    finally:
        os.chdir(before)
    return names["board"]


def test_ten_lines_benchmark_a_function_and_show_it(board, folder):
    lines = [line for cell in code_cells() for line in cell.splitlines() if line.strip()]
    assert len(lines) <= 10
    assert "my_editor" in (folder / board.page).read_text()
    rows = {row["editor"]: row for row in board.rows}
    assert rows["oracle"]["rounds_kept"] == 2
    assert rows["my_editor:version=1"]["rounds_kept"] == 0
    assert rows["my_editor:version=1"]["cause"].startswith("not changed")
    assert list(board.frame["editor"]) == [row["editor"] for row in board.rows]
    assert board.frame.set_index("editor").loc["oracle", "rounds_kept"] == 2
    shown = board._repr_html_()
    assert "<table>" in shown
    assert str(board).endswith(f"open {board.page}")


@pytest.mark.slow
def test_the_notebook_shows_bars_and_tables(tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    cells = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute().cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = [output.data.get("text/html", "") for output in outputs if "data" in output]
    bars = "".join(output.text for output in outputs if output.get("name") == "stderr")
    for title in ("generate", "build", "score"):
        assert f"{title}: 100%|" in bars
    assert any("<table" in html and "index.html" in html for html in shown)
    assert any("dataframe" in html for html in shown)
