"""Every program of the Banana100 suites reaches the report, or is left out by name."""

import csv
from dataclasses import replace

import pytest
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.generation import suites
from convergebench.generation.plan import make_plan
from convergebench.generation.scheduler import generate
from PIL import Image
from skimage import data

ABSENT = "mirror-twice"
PICTURES = ("astronaut", "coffee", "chelsea", "rocket")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("banana")
    (folder / "small").mkdir()
    for name in PICTURES:
        Image.fromarray(getattr(data, name)()).resize((128, 96)).save(folder / "small" / f"{name}-small.png")
    suite = replace(suites.load("banana100", folder / "small", "scene"), short_side=96, name="banana100")
    plan = make_plan(suite, ["noise", "paint"], rounds=1, runs=1)
    chains = [chain for chain in plan.chains if chain.program.id != ABSENT]
    assert generate(replace(plan, chains=tuple(chains)), chains, folder / "run").clean
    for words in (
        ["build", folder / "run", "--out", folder / "dataset"],
        ["score", folder / "dataset", "--metrics", "psnr,ssim,edit_applied,greyscale,piqe"],
        ["report", folder / "dataset", "--out", folder / "report"],
    ):
        done = CliRunner().invoke(main, list(map(str, words)))
        assert done.exit_code == 0, done.output
    return folder / "report"


def table(report, name):
    with (report / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_every_program_is_reported_or_absent_for_a_reason(report):
    rows = {row["program"]: row for row in table(report, "programs")}
    assert rows.keys() == {*suites.load("banana100").programs}
    for row in rows.values():
        placed = sum(int(row[key] or 0) for key in row if key.startswith(("cases_", "counted_", "restor", "left_out")))
        assert placed == int(row["chains"]), row
        assert (int(row["chains"]) > 0) == (row["program"] != ABSENT), row
    assert "not generated" in rows[ABSENT]["reason"]


@pytest.mark.slow
def test_reconstruction_stands_apart_and_grey_is_checked(report):
    groups = {row["group"] for row in table(report, "leaderboard")}
    assert {"round trips", "replication", "reconstruction"} <= groups
    grey = {row["editor"]: row for row in table(report, "greyscale")}
    assert float(grey["paint"]["strict"]) > 0
    assert {float(row["strict"]) for name, row in grey.items() if name.startswith("noise")} == {0.0}
    assert {row["metric"] for row in table(report, "no_reference_ranks")} == {"PIQE"}
