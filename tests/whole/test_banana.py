"""Every program of the Banana100 suites reaches the report, or is left out by name."""

import csv
from dataclasses import replace

import pytest
from convergebench.generation import suites
from convergebench.generation.plan import make_plan
from convergebench.generation.scheduler import generate
from PIL import Image
from skimage import data
from verbs import say

ABSENT = "mirror-twice"


@pytest.mark.slow
def test_every_program_is_reported_or_absent_for_a_reason(tmp_path):
    (tmp_path / "small").mkdir()
    for name in ("astronaut", "coffee", "chelsea", "rocket"):
        Image.fromarray(getattr(data, name)()).resize((128, 96)).save(tmp_path / "small" / f"{name}-small.png")
    suite = replace(suites.load("banana100", tmp_path / "small", "scene"), short_side=96, name="banana100")
    plan = make_plan(suite, ["noise", "paint"], rounds=1, runs=1)
    chains = [chain for chain in plan.chains if chain.program.id != ABSENT]
    assert generate(replace(plan, chains=tuple(chains)), chains, tmp_path / "run").clean
    say("build", tmp_path / "run", "--out", tmp_path / "dataset")
    say("score", tmp_path / "dataset", "--metrics", "psnr,ssim,edit_applied,greyscale,piqe")
    say("report", tmp_path / "dataset", "--out", tmp_path / "report")
    tables = {}
    for path in (tmp_path / "report").glob("*.csv"):
        with path.open(newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))

    programs = {row["program"]: row for row in tables["programs"]}
    assert programs.keys() == {*suites.load("banana100").programs}
    for row in programs.values():
        placed = sum(
            int(row[key] or 0) for key in row if key.startswith(("cases_", "counted_", "restor", "left_out"))
        )
        assert placed == int(row["chains"]), row
        assert (int(row["chains"]) > 0) == (row["program"] != ABSENT), row
    assert "not generated" in programs[ABSENT]["reason"]
    assert {"round trips", "replication", "reconstruction"} <= {row["group"] for row in tables["leaderboard"]}
    strict = {row["editor"]: float(row["strict"]) for row in tables["greyscale"]}
    assert strict.pop("paint") > 0
    assert {*strict.values()} == {0.0}
    assert {row["metric"] for row in tables["no_reference_ranks"]} == {"PIQE"}
