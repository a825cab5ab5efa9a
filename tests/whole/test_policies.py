"""An editor under a policy is compared with the editor alone; test_contributing.py adds a policy."""

import json

import pytest
from convergebench.dataset_builder.dataset.rows import ChainRow
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.studies.policies.apart import reasons
from convergebench.spaces_app.studies.policies.statistics import policies
from simulated import chain_row, score_rows


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


def test_rounds_gained_on_the_same_cases_change_no_rank(analysis):
    rows = {(row.policy, row.by): row for row in policies.rows(analysis)}
    good, bad = rows["good", "all tests"], rows["bad", "all tests"]
    assert (good.gained.value, bad.gained.value) == (2, -1)
    assert (good.verdict, bad.verdict) == ("lasts longer", "lasts less")
    assert (good.alone, good.under, good.cases, good.sources) == (3.5, 5.5, 24, 12)
    assert (good.seam, bad.seam) == (0.25, None)
    assert {by for _, by in rows} > {"by kind: face", "by category: accessories"}
    assert rows["good", "by kind: face"].sources == 4
    assert set(reasons(analysis)) == {"ed+good", "ed+bad"}
    [group] = analysis.groups.values()
    assert group.roles == {"ed": "editors", "ed+good": "editors listed apart", "ed+bad": "editors listed apart"}
