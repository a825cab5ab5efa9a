"""What is dropped into a copy of the house is shown by its Space and its report, with no other line.

A statistic, a tab, and a metric's way from its folder to the report are tried in tests/whole/test_contributing.py.
"""

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
folder = small_dataset.write(Path("dataset"))
for path in (folder / "data" / "scores").glob("*.parquet"):
    table = pq.read_table(path)
    for name, given in (("grain", "lpips"), ("retained_grain", "retained_ssim")):
        table = table.drop_columns([name] if name in table.column_names else []).append_column(name, table[given])
    small_dataset.rewrite(path, table)

from convergebench.spaces_app.space import headline
from convergebench.spaces_app.space.chains.tab import chain
from convergebench.spaces_app.space.curves import tab as curves
from convergebench.spaces_app.space.page import page_files
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.studies.metrics.tab import tab as metrics
dataset = open_dataset(str(folder))
name = small_dataset.chain_of(dataset, "fading")
view = chain(dataset, name)
print(json.dumps({
    "listed": [[metric["title"], metric["unit"]] for metric in view["metrics"] if metric["name"] == "grain"],
    "curve": view["curves"]["grain"] == view["curves"]["ssim"],
    "step": None not in (view["steps"][2]["scores"]["grain"], view["steps"][2]["retained"]["grain"]),
    "choice": headline.metric_titles(dataset).get("grain"),
    "kept": len(headline.leaderboard(dataset, headline.Choice(metric="grain")).table.rows),
    "drawn": [curves.metric_titles(dataset).get(metric) for metric in ("retained grain", "grain")],
    "rows": [len(curves.curves(dataset, metric)["curves"]) > 0 for metric in ("retained grain", "grain")],
    "metrics": "Grain" in {row["metric"] for row in metrics.metrics(dataset, name)},
    "page": '<th scope="row">Grain</th><td>film grain</td><td>all else' in page_files(dataset)["index.html"].decode(),
}))
"""


def test_a_dropped_in_metric_is_in_viewer_tabs_and_curves(tmp_path):
    house = HouseCopy(tmp_path)
    house.path("metric_modules/grain").mkdir()
    house.write("metric_modules/grain/spec.py", SPEC)
    assert json.loads(house.python("-c", LOOK, str(Path(__file__).parents[1]))) == {
        "listed": [["Grain", "g"]], "curve": True, "step": True, "choice": "Grain", "kept": 3,
        "drawn": ["retained Grain", "Grain"], "rows": [True, True], "metrics": True, "page": True,
    }  # fmt: skip


CAUSE = '''    Cause("size changed", "Another size", "the size is another", decided_by="{}", leaves_open=False),
    Cause("refused", "Refused"'''
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


def with_cause(folder, column):
    house, name = HouseCopy(folder), "metric_modules/halflife/causes.py"
    text = house.path(name).read_text()
    house.write(name, text.replace('    Cause("refused", "Refused"', CAUSE.format(column)))
    return house


def test_a_dropped_in_cause_is_in_cases_csv_page_and_space(tmp_path):
    house = with_cause(tmp_path, "changed_size")
    assert "Another size" in house.python("-c", REPORT, str(Path(__file__).parents[1]))
    rows = list(csv.DictReader((house.work / "report" / "cases.csv").open()))
    lost = {row["editor"]: (row["cause"], row["lost_at"], row["kept"]) for row in rows}
    assert lost == {"one": ("size changed", "3", "2"), "two": ("", "", "6")}
    assert {row["changed_size"] for row in rows} == {"True", "False"}
    page = (house.work / "report" / "index.html").read_text()
    assert re.findall(r"another size \((\d+) of (\d+)\)", page)[0] == ("4", "4")


def test_a_cause_decided_by_no_column_is_refused(tmp_path):
    house = with_cause(tmp_path, "size_changed")
    with pytest.raises(AssertionError, match="'size_changed', which is not a score column"):
        house.python("-c", "import convergebench.spaces_app.analysis.cases")
