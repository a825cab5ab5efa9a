"""A policy that is dropped in is listed, planned, asked, stored, compared and shown."""

import json

import pytest
from convergebench.dataset_builder.dataset.rows import ChainRow
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.studies.policies.apart import reasons
from convergebench.spaces_app.studies.policies.statistics import policies
from house_copy import HouseCopy
from simulated import chain_row, score_rows

DIMMED = '''
"""Dims."""

from dataclasses import dataclass

from . import reworked


@dataclass(frozen=True)
class Policy:
    """Dims every answer."""

    by: float = 0.5

    def edit(self, ask, image, instruction, seed):
        return reworked(ask(image, instruction, seed), image, lambda answer: answer.point(lambda x: x * self.by))
'''
SCRIPT = """
import json
from click.testing import CliRunner
import convergebench as cb
from convergebench.cli.__main__ import main
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.spaces_app.space import headline
from convergebench.spaces_app.space.served_dataset import open_dataset

def say(*words):
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout

listed = {row["name"]: row for row in json.loads(say("list", "policies", "--json"))}
words = ("--suite", "smoke", "--editor", "paint", "--policy", "none", "--policy", "dimmed:by=0.2", "--rounds", "1")
planned = json.loads(say("plan", *words, "--json"))["editors"]
say("generate", *words, "--out", "run")
cb.build("run", out="set")
cb.score("set", ["psnr", "ssim"])
cb.report("set", out="report")
reader = Reader("set")
board = headline.leaderboard(open_dataset("set"), headline.Choice())
print(json.dumps({
    "listed": listed["dimmed"], "planned": planned,
    "chains": sorted({(row["editor"], row["policy"]) for row in reader.rows("chains")}),
    "report": json.load(open("report/tables.json"))["policies"]["rows"],
    "page": "What makes it last" in open("report/index.html").read(),
    "space": sorted(row["editor"] for row in board.table.rows),
}))
"""


def test_a_policy_is_one_new_file(tmp_path):
    house = HouseCopy(tmp_path)
    house.write("generation/policies/dimmed.py", DIMMED)
    seen = json.loads(house.python("-c", SCRIPT).splitlines()[-1])
    assert seen["listed"] == {"name": "dimmed", "about": "Dims every answer.", "options": {"by": 0.5}}
    under = "paint+dimmed:by=0.2"
    assert [(row["editor"], row["calls"]) for row in seen["planned"]] == [("paint", 8), (under, 8)]
    assert seen["chains"] == [["paint", ""], [under, "dimmed:by=0.2"]]
    [row, *parts] = seen["report"]
    assert (row["editor"], row["policy"], row["cases"], row["by"]) == ("paint", "dimmed:by=0.2", 4, "all tests")
    assert row["gained"] <= 0
    assert {part["by"].split(":")[0] for part in parts} == {"by kind", "by category"}
    assert seen["page"]
    assert seen["space"] == ["paint", under]


@pytest.fixture(scope="module")
def analysis():
    """An editor keeps 3 of 10 rounds, 5 under one policy and 2 under another, on 12 pictures and 2 programs."""
    chains, scores = [], []
    for editor, policy, kept in (("ed", "", 3), ("ed+good", "good", 5), ("ed+bad", "bad", 2)):
        more = dict.fromkeys(("shows", "source_sha256"), "") | {"items": "[]", "small": False, "cost": None}
        more["settings"] = json.dumps({"policy": policy} if policy else {})
        for source in range(12):
            for program in range(2):
                chain = chain_row(editor, source, program, 10, **more)
                chains.append(ChainRow.from_values(chain).record())
                scores += score_rows(chain, kept + source % 2)
    details = json.dumps({"paste_back": {"pasted": 0.9, "seam": 0.25}})
    calls = [{"chain": chain.id, "details": details} for chain in chains if chain.policy == "good"]
    return Analysis(scores, chains, calls=[{**call, "round": 0, "status": "ok"} for call in calls])


def test_rounds_gained_on_the_same_cases(analysis):
    rows = {(row.policy, row.by): row for row in policies.rows(analysis)}
    good, bad = rows["good", "all tests"], rows["bad", "all tests"]
    assert (good.gained.value, bad.gained.value) == (2, -1)
    assert (good.verdict, bad.verdict) == ("lasts longer", "lasts less")
    assert (good.alone, good.under, good.cases, good.sources) == (3.5, 5.5, 24, 12)
    assert (good.seam, bad.seam) == (0.25, None)
    assert {by for _, by in rows} > {"by kind: face", "by category: accessories"}
    assert rows["good", "by kind: face"].sources == 4


def test_an_editor_under_a_policy_is_listed_apart_and_moves_no_rank(analysis):
    assert set(reasons(analysis)) == {"ed+good", "ed+bad"}
    [group] = analysis.groups.values()
    assert group.roles == {"ed": "editors", "ed+good": "editors listed apart", "ed+bad": "editors listed apart"}
