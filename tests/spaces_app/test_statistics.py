"""A statistic is one file found by its place; dropped into a copy of the house, the report has it everywhere."""

import doctest
import importlib
import json
import pkgutil

import awkward_pictures
import pytest
from convergebench.spaces_app.reporting.filmstrips import SIDE, make_frame
from house_copy import HOUSE, HouseCopy

STATISTIC = '''
"""How many cases were lost in round one."""

from ..reporting.figures import Drawing, new_figure
from ..analysis.tables import TableRow, column

TITLE = "Lost at once"
SECTION = "Early losses"


class Row(TableRow):
    editor: str = column("Editor")
    lost: int = column("Lost in round 1", "count")


def rows(analysis):
    return [
        Row(editor=editor, lost=sum(outcome.lost_at == 1 for outcome in outcomes))
        for by_editor in analysis.outcomes.values()
        for editor, outcomes in by_editor.items()
    ]


def figures(rows, context):
    figure, grid = new_figure()
    grid[0, 0].bar([row.editor for row in rows], [row.lost for row in rows])
    return [Drawing("at-once", "Cases lost in round one", "One bar for each editor.", figure)]
'''
WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from simulated import dataset, report
from convergebench.spaces_app.reporting.write import write_files
import convergebench.spaces_app.statistics as statistics
made = report(*dataset({"one": 1.5, "two": 0.2, "identity": 0.01}, sources=4, programs=2, rounds=10))
print(write_files(made.tables, Path("report")), statistics.__file__)
"""


def test_a_dropped_in_statistic_is_in_the_whole_report(tmp_path):
    copy = HouseCopy(tmp_path)
    copy.write("spaces_app/statistics/at_once.py", STATISTIC)
    told = copy.python("-c", WRITE, str(HOUSE / "tests"))
    if str(copy.site) not in told:
        pytest.skip("the installed package is imported before the copy here")
    report = copy.work / "report"
    table = json.loads((report / "tables.json").read_text())["at_once"]
    assert table["title"] == "Lost at once"
    assert {row["editor"] for row in table["rows"]} == {"one", "two", "identity"}
    assert (report / "at_once.csv").read_text().startswith("editor,lost\n")
    assert "Lost at once" in (report / "tables.tex").read_text()
    assert (report / "figures" / "at-once.svg").read_text().startswith("<svg")
    assert (report / "figures" / "at-once.png").exists()
    page = (report / "index.html").read_text()
    assert '<h2>Early losses</h2></summary><div id="early-losses">' in page
    assert '<a href="#early-losses">' in page
    assert "<caption>Lost at once</caption>" in page
    assert "<figcaption>Cases lost in round one " in page


@pytest.mark.parametrize("name", awkward_pictures.PICTURES)
def test_an_awkward_picture_looks_right_in_a_filmstrip(name):
    import base64
    import io

    from PIL import Image

    awkward = awkward_pictures.PICTURES[name]
    frame = make_frame(awkward.data, "round 1", "words")
    with Image.open(io.BytesIO(base64.b64decode(frame["uri"].partition(",")[2]))) as small:
        assert small.size == frame["size"]
        assert max(small.size) <= SIDE
        # WebP of low quality changes colours more than JPEG of high quality.
        awkward_pictures.assert_looks_right(small.convert("RGB"), awkward, tolerance=16)


@pytest.mark.parametrize("name", awkward_pictures.BROKEN)
def test_a_strip_says_why_there_is_no_picture(name):
    data, words = awkward_pictures.BROKEN[name]
    frame = make_frame(data, "round 1", "words")
    assert frame["uri"] == ""
    assert frame["words"].startswith("unreadable")
    assert words in frame["words"]


@pytest.mark.parametrize("folder", ["analysis", "reporting", "space", "statistics", "studies"])
def test_the_examples_in_docstrings_are_right(folder):
    package = importlib.import_module(f"convergebench.spaces_app.{folder}")
    results = [
        doctest.testmod(importlib.import_module(info.name))
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    assert sum(result.attempted for result in results) > 0
    assert sum(result.failed for result in results) == 0
