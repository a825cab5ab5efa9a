"""A metric is one folder: dropped into a copy of the package, it is scored, stored and explained as it is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import scored

HOUSE = Path(__file__).parents[2]
ROOMS = ("generation", "dataset_builder", "metric_modules", "spaces_app", "harness", "cli")
SPEC = """
SPEC = {
    "name": "darkness",
    "title": "Darkness",
    "kind": "picture",
    "sees": "pictures that grow darker",
    "misses": "everything else",
    "columns": [
        {
            "name": "darkness",
            "title": "Darkness",
            "meaning": "grey levels by which the picture is darker or brighter than the reference",
            "aspect": "light",
            "unit": "grey levels",
            "direction": "lower",
            "low": 0.0,
            "ceiling": 0.0,
            "floor": True,
            "show": "curve",
        },
    ],
    "reasons": {"equal": ["nobody", "the picture is its reference, and {} is no answer"]},
}
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
def copied(tmp_path_factory):
    """A copy of the package with one folder more, and how to run it."""
    place = tmp_path_factory.mktemp("copied")
    for room in ROOMS:
        shutil.copytree(HOUSE / room, place / "convergebench" / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(HOUSE / "dataset_card.md", place / "convergebench" / "dataset_card.md")
    folder = place / "convergebench" / "metric_modules" / "darkness"
    folder.mkdir()
    (folder / "spec.py").write_text(SPEC)
    (folder / "measure.py").write_text(MEASURE)

    def run(*words):
        environment = {**os.environ, "PYTHONPATH": str(place)}
        command = [sys.executable, "-m", "convergebench.cli", *map(str, words)]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run


@pytest.fixture(scope="module")
def dataset(copied, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dropped")
    dataset = scored.built(scored.runs(folder / "run"), folder / "dataset")
    copied("score", dataset, "--metrics", "psnr,darkness", "--device", "cpu")
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
    meaning = "grey levels by which the picture is darker or brighter than the reference"
    assert meaning in (dataset / "README.md").read_text()
    metadata = pq.read_metadata(next((dataset / "data" / "scores").glob("*.parquet"))).metadata
    assert json.loads(metadata[b"convergebench_columns"])["darkness"] == meaning
