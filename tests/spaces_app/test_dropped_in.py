"""What is dropped into a copy of the house is shown by its Space and its report, with no other line."""

import csv
import json
import re
from pathlib import Path

import pytest
from house_copy import HouseCopy

SPEC = """
SPEC = {
    "name": "grain", "title": "Grain", "kind": "picture", "sees": "film grain", "misses": "all else",
    "columns": [{
        "name": "grain", "title": "Grain", "meaning": "how grainy", "unit": "g", "direction": "lower", "low": 0.0,
        "ceiling": 0.0, "show": "curve", "floor": True,
    }],
}
"""
LOOK = """
import json, sys
from pathlib import Path
import pyarrow.parquet as pq
sys.path.append(sys.argv[1])
import small_dataset
folder = small_dataset.write(Path(sys.argv[2]))
for path in (folder / "data" / "scores").glob("*.parquet"):
    table = pq.read_table(path)
    for name, given in (("grain", "lpips"), ("retained_grain", "retained_ssim")):
        table = table.drop_columns([name] if name in table.column_names else []).append_column(name, table[given])
    small_dataset.rewrite(path, table)

import convergebench.metric_modules.specs as specs
from convergebench.spaces_app.space import headline
from convergebench.spaces_app.space.chains.tab import chain
from convergebench.spaces_app.space.curves import tab as curves
from convergebench.spaces_app.studies.metrics.tab import tab as metrics
from convergebench.spaces_app.space.page import page_files
from convergebench.spaces_app.space.served_dataset import open_dataset
dataset = open_dataset(str(folder))
name = small_dataset.chain_of(dataset, "fading")
view = chain(dataset, name)
files = page_files(dataset)
print(json.dumps({
    "specs": specs.__file__,
    "listed": [metric for metric in view["metrics"] if metric["name"] == "grain"],
    "curve": [view["curves"]["grain"], view["curves"]["ssim"]],
    "step": [view["steps"][2]["scores"]["grain"], view["steps"][2]["retained"]["grain"]],
    "choice": headline.metric_titles(dataset).get("grain"),
    "kept": len(headline.leaderboard(dataset, headline.Choice(metric="grain")).table.rows),
    "drawn": [curves.metric_titles(dataset).get(metric) for metric in ("retained grain", "grain")],
    "rows": [len(curves.curves(dataset, metric)["curves"]) for metric in ("retained grain", "grain")],
    "metrics": sorted({row["metric"] for row in metrics.metrics(dataset, name)}),
    "page": files["index.html"].decode(),
}))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the Space of a copy of the house shows, in which one metric more lies."""
    house = HouseCopy(tmp_path_factory.mktemp("house"))
    house.path("metric_modules/grain").mkdir()
    house.write("metric_modules/grain/spec.py", SPEC)
    found = json.loads(house.python("-c", LOOK, str(Path(__file__).parents[1]), str(house.work / "dataset")))
    assert Path(found["specs"]).is_relative_to(house.site)
    return found


def test_a_dropped_in_metric_is_in_viewer_tabs_and_curves(shown):
    listed = shown["listed"]
    assert [(each["title"], each["unit"]) for each in listed] == [("Grain", "g")]
    assert listed[0]["colour"] is not None
    assert shown["curve"][0] == shown["curve"][1]
    assert None not in shown["step"]
    assert "Grain" in shown["metrics"]
    assert '<th scope="row">Grain</th><td>film grain</td><td>all else</td>' in shown["page"]
    assert shown["drawn"] == ["retained Grain", "Grain"]
    assert shown["choice"] == "Grain"
    assert shown["kept"] == 3
    assert min(shown["rows"]) > 0


CAUSE = '''    Cause(
        "size changed", "Another size", "the size is another", decided_by="changed_size", leaves_open=False
    ),
    Cause("refused", "Refused"'''
STATISTIC = '''
"""How many cases were lost in round three."""

from ..analysis.tables import TableRow, column
from ..reporting.figures import Drawing, new_figure

TITLE = "Lost early"
SECTION = "Early losses"


class Row(TableRow):
    editor: str = column("Editor")
    lost: int = column("Lost in round 3", "count")


def rows(analysis):
    by_editor = analysis.outcomes["round trips"].items()
    return [Row(editor=editor, lost=sum(each.lost_at == 3 for each in outcomes)) for editor, outcomes in by_editor]


def figures(rows, context):
    figure, grid = new_figure()
    grid[0, 0].bar([row.editor for row in rows], [row.lost for row in rows])
    return [Drawing("early", "Cases lost in round three", "One bar for each editor.", figure)]
'''
REPORT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from simulated import dataset, report
from convergebench.spaces_app.reporting.write import write_files
scores, chains, floors = dataset({"one": 9.0, "two": 9.0}, sources=4, programs=1, rounds=6)
for row in scores:
    row["changed_size"] = row["editor"] == "one" and row["round"] > 2
write_files(report(scores, chains, floors).tables, Path("report"))
from convergebench.spaces_app.space.failures.tab import page_data
print(page_data(None))
"""


def add_cause(house, text):
    causes = house.path("metric_modules/halflife/causes.py").read_text()
    house.write("metric_modules/halflife/causes.py", causes.replace('    Cause("refused", "Refused"', text))


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """The report of a copy with one cause and one statistic more, and what its Space says of causes."""
    house = HouseCopy(tmp_path_factory.mktemp("report"))
    add_cause(house, CAUSE)
    house.write("spaces_app/statistics/lost_early.py", STATISTIC)
    space = house.python("-c", REPORT, str(Path(__file__).parents[1]))
    return house.work / "report", space


def test_a_dropped_in_cause_is_in_cases_csv_page_and_space(reported):
    report, space = reported
    assert "Another size" in space
    rows = list(csv.DictReader((report / "cases.csv").open()))
    lost = {row["editor"]: (row["cause"], row["lost_at"], row["kept"]) for row in rows}
    assert lost == {"one": ("size changed", "3", "2"), "two": ("", "", "6")}
    assert {row["changed_size"] for row in rows} == {"True", "False"}
    page = (report / "index.html").read_text()
    assert re.findall(r"another size \((\d+) of (\d+)\)", page)[0] == ("4", "4")


def test_a_dropped_in_statistic_is_in_the_whole_report(reported):
    report, _ = reported
    table = json.loads((report / "tables.json").read_text())["lost_early"]
    assert table["title"] == "Lost early"
    assert table["rows"] == [{"editor": "one", "lost": 4}, {"editor": "two", "lost": 0}]
    assert (report / "lost_early.csv").read_text() == "editor,lost\none,4\ntwo,0\n"
    assert "Lost early" in (report / "tables.tex").read_text()
    assert (report / "figures" / "early.svg").read_text().startswith("<svg")
    assert (report / "figures" / "early.png").exists()
    page = (report / "index.html").read_text()
    assert '<h2>Early losses</h2></summary><div id="early-losses">' in page
    assert "<caption>Lost early</caption>" in page
    assert "<figcaption>Cases lost in round three " in page


def test_a_cause_decided_by_no_column_is_refused(tmp_path):
    house = HouseCopy(tmp_path)
    add_cause(house, CAUSE.replace("changed_size", "size_changed"))
    with pytest.raises(AssertionError, match="'size_changed', which is not a score column"):
        house.python("-c", "import convergebench.spaces_app.analysis.cases")
