"""A metric is one folder: dropped into a copy of the package, it is scored, stored and explained as it is."""

import json

import pyarrow.parquet as pq
import pytest
import scored
from house_copy import HouseCopy

MEANING = "grey levels by which the picture is darker or brighter than the reference"
SPEC = f"""
SPEC = {{
    "name": "darkness", "title": "Darkness", "kind": "picture", "sees": "darker pictures", "misses": "all else",
    "columns": [{{
        "name": "darkness", "title": "Darkness", "meaning": "{MEANING}", "direction": "lower", "low": 0.0,
        "ceiling": 0.0, "floor": True, "show": "curve",
    }}],
    "reasons": {{"equal": ["nobody", "the picture is its reference, and {{}} is no answer"]}},
}}
"""
MEASURE = """
class Scorer:
    def __init__(self, device, dtype, earlier):
        self.signature = {"version": 7}

    def prepare(self, picture):
        return float(picture.mean())

    def compare(self, reference, pictures, earlier):
        gaps = [abs(float(picture.mean()) - reference) for picture in pictures]
        return [{"darkness": gap or ("equal", "nothing")} for gap in gaps]
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A dataset that was scored by a copy of the package with one folder more."""
    copy = HouseCopy(tmp_path_factory.mktemp("copied"))
    copy.path("metric_modules/darkness").mkdir()
    copy.write("metric_modules/darkness/spec.py", SPEC)
    copy.write("metric_modules/darkness/measure.py", MEASURE)
    folder = tmp_path_factory.mktemp("dropped")
    dataset = scored.built(scored.runs(folder / "run"), folder / "dataset")
    copy.verb("score", str(dataset), "--metrics", "psnr,darkness", "--device", "cpu")
    return dataset


def test_it_is_scored_and_stored_beside_the_others(dataset):
    rows = [row for row in pq.read_table(dataset / "data" / "scores").to_pylist() if row["status"] == "ok"]
    for row in rows:
        assert json.loads(row["signature"])["darkness"] == {"version": 7}
        if row["editor"] == "idle":
            assert row["darkness"] is None
            assert json.loads(row["reasons"])["darkness"] == ["equal", "nothing"]
        else:
            assert row["darkness"] > 0
            assert 0 <= row["retained_darkness"] <= 1
    floors = pq.read_table(dataset / "data" / "floors").to_pylist()
    assert {row["metric"] for row in floors} == {"rmse", "darkness"}


def test_it_is_explained_on_the_card_and_in_the_file(dataset):
    assert MEANING in (dataset / "README.md").read_text()
    metadata = pq.read_metadata(next((dataset / "data" / "scores").glob("*.parquet"))).metadata
    assert json.loads(metadata[b"convergebench_columns"])["darkness"] == MEANING
