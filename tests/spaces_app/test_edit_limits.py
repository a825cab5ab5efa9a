"""Edits judged again under other limits: the numbers in the scores decide, and only what they can tell changes."""

import json

import pytest
from convergebench.metric_modules.edit_applied.judge import LEFT, SHARE
from convergebench.metric_modules.scores import ScoreRow
from convergebench.spaces_app.analysis.edit_limits import judge_again
from simulated import dataset, report


def forward(made, share):
    return {"edit_applied": made, "edit_share": share, "edit_undone": None, "part_lost": None}


def back(undone, ratio, explained=0.9, part=False, area=0.001):
    about = {"edit_applied": None, "edit_share": None, "undo_ratio": ratio, "undo_explained": explained}
    return about | {"edit_undone": undone, "part_lost": part, "part_lost_share": area}


@pytest.mark.parametrize(
    ("row", "limits", "column", "expected"),
    [
        (forward(True, 0.004), {"share": 0.006}, "edit_applied", False),
        (forward(False, 0.002), {"share": 0.0015}, "edit_applied", True),
        (forward(False, 0.01), {"share": 0.0015}, "edit_applied", False),  # CLIP saw no edit
        (back(True, 0.3), {"left": 0.2}, "edit_undone", False),
        (back(False, 0.45), {"left": 0.5}, "edit_undone", True),
        (back(False, 0.35), {"left": 0.5}, "edit_undone", False),  # CLIP still saw the thing
        (back(True, 0.9, 0.2, part=True), {"left": 0.6}, "part_lost", True),  # something else was destroyed
        (back(True, 0.5, 0.2, part=True), {"left": 0.6}, "part_lost", False),
        (back(True, 0.1, area=0.004, part=True), {"part": 0.006}, "part_lost", False),
        (back(True, 0.1, area=0.002), {"part": 0.0015}, "part_lost", True),
    ],
)
def test_a_step_is_judged_again_by_its_numbers(row, limits, column, expected):
    row = ScoreRow.from_scores(row)
    assert judge_again(row, **limits).value(column) is expected
    assert judge_again(row) is row


def test_small_programs_keep_their_own_smaller_area():
    row = ScoreRow.from_scores(forward(True, 0.0015))
    assert judge_again(row, small=True) is row
    assert judge_again(row, small=True, share=2 * SHARE).edit_applied is False


def test_what_an_exact_oracle_judged_has_no_limit():
    reasons = json.dumps({"undo_explained": "whole_picture"})
    row = ScoreRow.from_scores(back(True, 0.01, None) | {"reasons": reasons})
    assert judge_again(row, left=0.001) is row


@pytest.fixture(scope="module")
def made():
    """One editor leaves a growing part of its edits, the other loses a growing part of the picture."""
    scores, chains, floors = dataset({"leaves": 90.0, "loses": 90.0}, sources=4, programs=1, rounds=12)
    for row in scores:
        if row["position"] == 1:
            row |= forward(True, 0.02)
        else:
            ratio = round(row["round"] * 0.05, 2) if row["editor"] == "leaves" else 0.1
            area = round(row["round"] * 0.0005, 4) if row["editor"] == "loses" else 0.0
            row |= back(ratio <= LEFT, ratio, part=area >= SHARE, area=area)
    return report(scores, chains, floors)


def test_the_headline_under_other_limits_is_right(made):
    rows = {(row["what"], row["setting"]): row for row in made.tables["sensitivity"].rows}
    left = {setting: row["leaves"] for (what, setting), row in rows.items() if what.startswith("most that may be left")}
    assert left == {"0.2": 4, "0.3": 6, "0.4": 8, "0.5": 10, "0.6": 12}
    part = {setting: row["loses"] for (what, setting), row in rows.items() if what == "least area of a lost part"}
    assert part == {"0.00075": 1, "0.0015": 2, "0.003": 5, "0.006": 11, "0.012": 12}
    thresholds = [setting for what, setting in rows if what == "threshold"]
    assert thresholds == ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]
    board = {row["editor"]: row["rounds_kept"] for row in made.tables["leaderboard"].rows}
    for usual in (("most that may be left of an edit", "0.4"), ("least area of a lost part", "0.003")):
        assert {editor: rows[usual][editor] for editor in board} == board


def test_without_the_numbers_only_thresholds_are_changed():
    made = report(*dataset({"one": 1.0, "two": 2.0}, sources=4, programs=1, rounds=4))
    assert {row["what"] for row in made.tables["sensitivity"].rows} == {"threshold", "metric alone", "rounds"}
