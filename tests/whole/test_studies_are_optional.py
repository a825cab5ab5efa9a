"""What is outside the core can be deleted: a round trip still goes from pictures to the screen."""

import csv
import re
import shutil

import pytest
from house_copy import HOUSE, HouseCopy
from size import EMBEDDED, OUTSIDE, is_core

STUDIES = sorted(
    {folder.name for folder in HOUSE.glob("*/studies/*") if folder.is_dir() and folder.name[0] != "_"}
)
assert {"judges", "labels", "published", "replication", "restoration"} < {*STUDIES}  # or nothing is tried
SHOWN = """
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.space.server import make_server
from starlette.testclient import TestClient
dataset = open_dataset("dataset")
assert {case.editor for case in dataset.cases} == {"paint", "identity"}
page = TestClient(make_server(dataset)).get("/")
assert page.status_code == 200, page.text
"""


def delete_study(house, study):
    specs = house.path("metric_modules").glob("*/spec.py")
    metrics = [spec.parent for spec in specs if f'"study": "{study}"' in spec.read_text(encoding="utf-8")]
    judges = [house.path("metric_modules/_judges")] if study == "judges" else []
    for folder in [*house.path("").glob(f"*/studies/{study}"), *metrics, *judges]:
        shutil.rmtree(folder)


def make_round_trip(house):
    house.verbs(
        "generate --suite smoke --program flip-horizontally --rounds 1 --editor paint --editor identity --out run",
        "build run --out dataset",
        "score dataset --metrics psnr,ssim",
        "report dataset --out report",
    )
    house.python("-c", SHOWN)
    with (house.work / "report" / "leaderboard.csv").open(newline="") as file:
        assert {row["editor"] for row in csv.DictReader(file)} == {"paint", "identity"}


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_a_round_trip_needs_no_study(study, tmp_path):
    house = HouseCopy(tmp_path)
    delete_study(house, study)
    make_round_trip(house)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(OUTSIDE.keys() - {"the paper"}))  # which is not in the package
def test_a_round_trip_needs_nothing_outside_the_core(kind, tmp_path):
    house = HouseCopy(tmp_path)
    names = {path.relative_to(house.path("")).as_posix(): path for path in house.path("").rglob("*.*")}
    gone = {name for name in names if re.match(OUTSIDE[kind], name)}
    gone -= {name for name in gone if is_core(name) or EMBEDDED.match(name)}
    assert gone
    for name in gone:
        names[name].unlink()
    make_round_trip(house)
