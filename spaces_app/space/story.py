"""The first screen: who is best and by how much, in a sentence, and one typical case as strips of pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.edit_applied.cycles import roles

from ..study.cases import Case, spread_rounds
from ..study.groups import HALF, lowest_quality, outcome_of_case
from ..study.reasons import losing_step, loss_clause
from . import page
from .leaderboard import Leaderboard, leaderboard
from .served_dataset import ServedDataset

RETURNS = 4  # in a strip
Row = Mapping[str, Any]


def story_html(dataset: ServedDataset, place: int = 0) -> str:
    """The sentence and the strips of a typical case; `place` 1 is the next most typical, and so on round."""
    found = leaderboard(dataset)
    if found.group is None or not found.table.rows:
        return page.render("story.html", note=found.table.note, strips=[], best=None, worst=None)
    rows = tested_editors(found)
    best, worst = rows[0], rows[-1] if len(rows) > 1 else None
    cases = typical_cases(found, [row["editor"] for row in (rows[0], rows[-1])])
    if not cases:
        return page.render("story.html", note="", strips=[], best=best, worst=worst, names=dataset.display)
    key = cases[place % len(cases)]
    shown = [best, *([worst] if worst else perfect_row(found))]
    strips = [strip(dataset, found, row, case) for row in shown if (case := case_at(found, row["editor"], key))]
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


def perfect_row(found: Leaderboard) -> list[Row]:
    """Beside a single editor: the baseline that keeps most."""
    others = [row for row in found.table.rows if row["role"] != "editors" and row["rounds_kept"]]
    return sorted(others, key=lambda row: -row["rounds_kept"])[:1] if len(others) < len(found.table.rows) else []


def case_at(found: Leaderboard, editor: str, key: Any) -> Case | None:
    assert found.group is not None  # noqa: S101 - ours: asked only where there is a table
    return next((case for case in found.group.cases[editor] if case.key == key), None)


def typical_cases(found: Leaderboard, both: Sequence[str]) -> list[Any]:
    """Keys of cases, the most typical first: those on which each editor lasts about as long as it does on average."""
    assert found.group is not None  # noqa: S101 - ours
    distance: dict[Any, list[float]] = {}
    tested = [row["editor"] for row in tested_editors(found)]
    for editor in tested:
        outcomes = found.outcomes[editor]
        mean = sum(outcome.kept for outcome in outcomes) / len(outcomes)
        for case, outcome in zip(found.group.cases[editor], outcomes, strict=True):
            distance.setdefault(case.key, []).append(abs(outcome.kept - mean))
    there = [{case.key for case in found.group.cases[editor]} for editor in both]
    wanted = set.intersection(*there) or there[0]
    return sorted(wanted, key=lambda key: (-len(distance[key]), sum(distance[key]) / len(distance[key]), key))


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
        "frames": frames_of(case, checks, at),
    }


def frames_of(case: Case, checks: Sequence[str], lost_step: int | None) -> list[dict[str, Any]]:
    """The original, the first edit and a few returns; the step in which the case was lost is always among them."""
    cycle, calls = case.chain.program.cycle, case.chain.calls
    quality = lowest_quality(case, checks)
    forward = [place for place, role in enumerate(roles(cycle, True), 1) if role.kind == "forward"]
    returns = [round * len(cycle) for round in spread_rounds(case.rounds, RETURNS)]
    steps = [0, *forward[:1], *returns]
    if lost_step and lost_step not in steps:
        nearest = min(returns, key=lambda step: abs(step - lost_step))
        steps[steps.index(nearest)] = lost_step
    found = []
    for step in sorted(steps):
        round, is_return = -(-step // len(cycle)), step % len(cycle) == 0
        value = quality[round - 1] if step and is_return and round <= len(quality) else None
        verb = ("undone" if forward else "round") if is_return else "edited"
        found.append(
            {
                "step": step,
                "label": f"{verb} {round}" if step else "original",
                "share": None if value is None else f"{value:.0%}",
                "there": step <= calls,
                "is_loss": step == lost_step,
                "is_spare": 0 < step < case.rounds * len(cycle) and step not in (lost_step, *forward[:1]),
            }
        )
    spare = [frame for frame in found if frame["is_spare"]]
    if spare and len(found) - len(spare) < 4:  # a phone has room for four
        spare[len(spare) // 2]["is_spare"] = False
    return found
