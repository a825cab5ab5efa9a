"""A cause that is dropped into a copy of the house is shown by its Space and its report, with no other line.

An editor, a policy, a metric, a program, a statistic and a tab: tests/whole/test_contributing.py.
"""

import csv
import re
from pathlib import Path

import pytest
from house_copy import HouseCopy

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


def test_a_dropped_in_cause_is_in_cases_csv_page_and_space(tmp_path):
    house, name = HouseCopy(tmp_path), "metric_modules/halflife/causes.py"
    text = house.path(name).read_text()
    house.write(name, text.replace('    Cause("refused", "Refused"', CAUSE.format("size_changed")))
    with pytest.raises(AssertionError, match="'size_changed', which is not a score column"):
        house.python("-c", "import convergebench.spaces_app.analysis.cases")
    house.write(name, text.replace('    Cause("refused", "Refused"', CAUSE.format("changed_size")))
    assert "Another size" in house.python("-c", REPORT, str(Path(__file__).parents[1]))
    rows = list(csv.DictReader((house.work / "report" / "cases.csv").open()))
    lost = {row["editor"]: (row["cause"], row["lost_at"], row["kept"]) for row in rows}
    assert lost == {"one": ("size changed", "3", "2"), "two": ("", "", "6")}
    assert {row["changed_size"] for row in rows} == {"True", "False"}
    page = (house.work / "report" / "index.html").read_text()
    assert re.findall(r"another size \((\d+) of (\d+)\)", page)[0] == ("4", "4")
