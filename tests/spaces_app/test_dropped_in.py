"""A metric whose folder is dropped into a copy of the house is shown by the Space, with no other line changed."""

import json
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
    pq.write_table(table, path)

import convergebench.metric_modules.specs as specs
from convergebench.spaces_app.space import chains_tab, curves_tab, leaderboard, metrics_tab
from convergebench.spaces_app.space.leaderboard import Choice
from convergebench.spaces_app.space.served_dataset import open_dataset
dataset = open_dataset(str(folder))
chain = small_dataset.chain_of(dataset, "fading")
view = chains_tab.chain_view(dataset, chain)
print(json.dumps({
    "specs": specs.__file__,
    "listed": [each for each in view["metrics"] if each["name"] == "grain"],
    "curve": [view["curves"]["grain"], view["curves"]["ssim"]],
    "step": [view["steps"][2]["scores"]["grain"], view["steps"][2]["retained"]["grain"]],
    "choice": leaderboard.metric_titles(dataset).get("grain"),
    "kept": len(leaderboard.leaderboard(dataset, Choice(metric="grain")).table.rows),
    "drawn": [curves_tab.metric_titles(dataset).get(name) for name in ("retained grain", "grain")],
    "rows": [len(curves_tab.curve_rows(dataset, Choice(), name)) for name in ("retained grain", "grain")],
    "metrics": sorted({row["metric"] for row in metrics_tab.metric_curves(dataset, chain)}),
    "agreement": metrics_tab.agreement(dataset)["metrics"],
    "detects": [each for each in metrics_tab.detects_and_misses() if each[0] == "Grain"],
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


def test_a_dropped_in_metric_is_listed_and_drawn_in_the_view_of_a_chain(shown):
    listed = shown["listed"]
    assert [(each["title"], each["unit"]) for each in listed] == [("Grain", "g")]
    assert listed[0]["colour"] is not None
    assert shown["curve"][0] == shown["curve"][1]
    assert None not in shown["step"]


def test_a_dropped_in_metric_stands_in_the_metrics_tab(shown):
    assert "Grain" in shown["metrics"]
    assert "Grain" in shown["agreement"]
    assert shown["detects"] == [["Grain", "film grain", "all else"]]


def test_a_dropped_in_metric_has_curves_and_can_be_chosen_in_the_leaderboard(shown):
    assert shown["drawn"] == ["retained Grain", "Grain"]
    assert shown["choice"] == "Grain"
    assert shown["kept"] == 3
    assert min(shown["rows"]) > 0
