"""The headline of rows made by hand: whom it names, what it counts, and every limit exactly where it is."""

import dataclasses
import os
from types import SimpleNamespace

import pytest
from convergebench.spaces_app.analysis.groups import ROLES
from convergebench.spaces_app.analysis.tables import Estimate
from convergebench.spaces_app.reporting.headline import headline, stamp
from convergebench.spaces_app.statistics.leaderboard import Row


def row(editor, kept=3.0, rank=(), role="editor", **more):
    given = {"editor": editor, "role": ROLES[role], "name": "convergence (no CLIP)", "last_round": 10}
    given |= {
        "cases": 20,
        "rounds_kept": Estimate(kept, kept - 1, kept + 1),
        "rank": Estimate(*rank),
        "sources": 12,
    }
    return Row(**dict.fromkeys(field.name for field in dataclasses.fields(Row)) | given | more)


A = "a survives 3.0 [2.0, 4.0] of 10 rounds"
BASELINE = row("identity", 0.0, role="baseline", rounds_kept=Estimate(0.0), last_round=None, cases=99)
ANSWERS = [
    ([BASELINE], "No editor was tested, only baselines: No edit survives 0.0 of 0 rounds."),
    ([row("a"), BASELINE], f"{A}."),
    ([row("a", sources=11), BASELINE], f"{A}. Too few to rank: 11 pictures, 12 needed."),
    ([row("a", sources=11), row("b", 2.0, sources=1)],
     f"No verdict: 11 pictures, 12 needed. {A}, b 2.0 [1.0, 3.0]."),
    ([row("a"), row("b", 2.0)], f"No verdict: editors share fewer than 12 pictures. {A}, b 2.0 [1.0, 3.0]."),
    ([row("a", 3.0, (1, 1, 1)), row("b", 2.0, (2, 2, 2)), BASELINE], f"Best: {A}. Worst: b, 2.0 [1.0, 3.0]."),
    ([row("a", 3.0, (1, 1, 1)), row("b", 2.0, (2, 2, 3)), row("c", 1.0, (2, 2, 3))], f"Best: {A}."),
    ([row("a", 3.0, (1, 1, 1)), row("b", 2.0, (3, 3, 4)), row("c", 1.0, (3, 3, 4))], f"Best: {A}."),
    ([row("a", 3.0, (1, 1, 2)), row("b", 2.0, (2, 1, 2))],
     f"No verdict on the best: {A}, and no editor is shown to beat it."),
    ([row("a", 3.0, (1, 1, 2)), row("b", 2.0, (1, 1, 3)), row("c", 1.0, (3, 1, 3))],
     "No single best: 2 of 3 editors may be first, from 3.0 [2.0, 4.0] (a) to 2.0 [1.0, 3.0] (b) of 10 rounds."),
]  # fmt: skip
ASKED = row("a", cases=30, as_asked=0.8, not_as_asked=0.2)
SCOPES = [
    ([row("a", sources=11), row("b"), BASELINE], "12 pictures; 40 tests; no CLIP; today."),
    ([row("a", sources=1, cases=1, name="convergence"), BASELINE], "1 picture; 1 test; today."),
    ([BASELINE], "12 pictures; 99 tests; no CLIP; today."),
    ([row("a", undecided=0.05), row("b", cases=1000)],
     "12 pictures; 1,020 tests; no CLIP; 1 test undecided, with a value near a limit; today."),
    ([row("a", undecided=0.02)], "12 pictures; 20 tests; no CLIP; today."),
    ([ASKED, row("b", cases=10, as_asked=0.4), row("c")],
     "12 pictures; 60 tests; no CLIP; edits as asked 70%, not as asked 15%, not checked 15%; today."),
    ([row("a", as_asked=0.99, not_as_asked=0.004)],
     "12 pictures; 20 tests; no CLIP; edits as asked 99%, not checked 1%; today."),
    ([row("a", as_asked=0.5, not_as_asked=0.5)],
     "12 pictures; 20 tests; no CLIP; edits as asked 50%, not as asked 50%; today."),
    ([row("a", as_asked=0.0, not_as_asked=0.0)],
     "12 pictures; 20 tests; no CLIP; not checked whether edits are as asked; today."),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "answer"), ANSWERS)
def test_the_answer_names_whom_the_verdicts_name(rows, answer):
    assert headline(rows)[0] == answer


@pytest.mark.parametrize(("rows", "scope"), SCOPES)
def test_the_scope_counts_what_it_rests_on(rows, scope):
    assert headline(rows, "today")[1] == scope


def test_a_stamp_has_the_day_of_the_last_scores(tmp_path):
    for name, day in (("a", 20_000), ("b", 20_001)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (0, day * 86_400))
    reader = SimpleNamespace(remote=None, folder=tmp_path, files=lambda table: ["a", "b"])
    assert stamp("v1", reader) == "ConvergeBench · v1 · scored 5 Oct 2024"
    for other in ({"remote": "hf://"}, {"files": lambda table: []}):
        assert stamp("", SimpleNamespace(**vars(reader) | other)) == stamp("", None) == "ConvergeBench"
