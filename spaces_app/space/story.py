"""The first screen: who is best and by how much, in a sentence, and one typical case as strips of pictures."""

import json
from collections.abc import Mapping
from typing import Any

from ..analysis.cases import Case
from ..analysis.groups import HALF, outcome_of_case
from ..analysis.reasons import losing_step, loss_clause, lost_outline
from ..analysis.typical import case_at, frames_of, typical_cases
from . import page
from .leaderboard import Leaderboard, leaderboard
from .served_dataset import ServedDataset

Row = Mapping[str, Any]


def story_html(dataset: ServedDataset, place: int = 0) -> str:
    """The sentence and the strips of a typical case; `place` 1 is the next most typical, and so on round."""
    found = leaderboard(dataset)
    if found.group is None or not found.table.rows:
        return page.render("story.html", note=found.table.note, strips=[], best=None, worst=None)
    rows = tested_editors(found)
    best, worst = rows[0], rows[-1] if len(rows) > 1 else None
    cases = story_cases(found)
    if not cases:
        return page.render("story.html", note="", strips=[], best=best, worst=worst, names=dataset.display)
    key = cases[place % len(cases)]
    shown = [best, *([worst] if worst else perfect_row(found))]
    strips = [strip(dataset, found, row, case) for row in shown if (case := case_at(found.group, row["editor"], key))]
    lost = next((each for each in reversed(strips) if each["lost_at"]), strips[-1])
    case = strips[0]["case"]
    return page.render(
        "story.html",
        note="",
        best=best,
        worst=worst,
        names=dataset.display,
        strips=strips,
        cycle=case.chain.program.cycle,
        picture=dataset.title(case.source),
        anchor=f"{lost['case'].chain.id} {lost['at'] or lost['frames'][-1]['step']}",
        next=(place + 1) % len(cases),
        is_typical=place % len(cases) == 0,
        compare={"source": case.source, "program": case.program},
    )


def tested_editors(found: Leaderboard) -> list[Row]:
    """The rows of editors; where there are only baselines, theirs."""
    return [row for row in found.table.rows if row["role"] == "editors"] or list(found.table.rows)


def story_cases(found: Leaderboard) -> list[Any]:
    """Keys of the cases that the best and the worst editor have, the most typical first."""
    assert found.group is not None  # noqa: S101 - ours: asked only where there is a table
    tested = [row["editor"] for row in tested_editors(found)]
    return typical_cases(found.group, found.outcomes, tested, [tested[0], tested[-1]])


def perfect_row(found: Leaderboard) -> list[Row]:
    """Beside a single editor: the baseline that keeps most."""
    others = [row for row in found.table.rows if row["role"] != "editors" and row["rounds_kept"]]
    return sorted(others, key=lambda row: -row["rounds_kept"])[:1] if len(others) < len(found.table.rows) else []


def strip(dataset: ServedDataset, found: Leaderboard, row: Row, case: Case) -> dict[str, Any]:
    """One editor on the case: its frames with what each return retained, and where and why it was lost."""
    assert found.group is not None  # noqa: S101 - ours
    checks = found.group.checks_of(case.editor)
    outcome = outcome_of_case(case, checks)
    scores = dataset.scores_of(case.chain.id)
    at = losing_step(case, outcome, scores)
    clause = loss_clause(case, outcome, checks, HALF, scores.get(at or -1))
    return {
        "case": case,
        "editor": row["editor"],
        "lost_at": outcome.lost_at,
        "at": at,
        "clause": clause,
        "outline": json.dumps(lost_outline(scores.get(at or -1))),
        "frames": frames_of(case, checks, at),
    }
