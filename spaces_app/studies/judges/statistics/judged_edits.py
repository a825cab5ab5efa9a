"""Each editor as judges see it: edits made and taken back, with the rules on the same steps, and what else changed."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval

from ....analysis.analysis import Analysis
from ....analysis.stored_rows import rows_of
from ....analysis.tables import Column
from ....statistics import OnPage
from ..judged import judged_of

TITLE = "The editors as judges see them"
SECTION = "Judges"
MADE, UNDONE, ELSE = "edit_applied", "edit_undone", "anything_else"
NAMES = {MADE: "made", UNDONE: "undone", ELSE: "changed"}
ON_PAGE = OnPage(order=60, part_by="judge")
COLUMNS = (
    Column("judge", "Judge", shown=False),
    Column("editor", "Editor"),
    Column("made", "Edits made", "share", interval=True),
    Column("made_rule", "by the rule", "share"),
    Column("made_steps", "Steps", "count"),
    Column("undone", "Edits undone", "share", interval=True),
    Column("undone_rule", "by the rule", "share"),
    Column("undone_steps", "Steps", "count"),
    Column("changed", "Something else changed", "share", interval=True),
    Column("where", "Where, most often"),
    Column("changed_steps", "Steps", "count"),
)
Row = Mapping[str, Any]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each judge and editor; what has no value is left out on both sides."""
    chains = {chain for steps in analysis.once(judged_of).by_step.values() for chain, _ in steps}
    scored = {(row["chain"], row["step"]): row for row in rows_of(analysis.scores, chains)}
    found = []
    for judge in sorted({judge for judge, question in analysis.once(judged_of).by_step if question in NAMES}):
        answers = {question: analysis.once(judged_of).by_step.get((judge, question), {}) for question in NAMES}
        for editor in sorted({row["editor"] for own in answers.values() for row in own.values()}):
            row: dict[str, Any] = {"judge": judge, "editor": editor}
            for question, own in answers.items():
                known = {
                    step: each for step, each in own.items() if each["editor"] == editor and each["value"] is not None
                }
                row |= share_of(NAMES[question], list(known.values()))
                rule = [
                    value for step in known
                    if question != ELSE and (value := scored.get(step, {}).get(question)) is not None
                ]  # fmt: skip
                row |= {f"{NAMES[question]}_rule": sum(map(bool, rule)) / len(rule)} if rule else {}
            found.append(row | {"where": places(analysis, judge, editor)})
    return found


def share_of(name: str, answers: list[Row]) -> dict[str, Any]:
    """The share of yes with its limits over sources."""
    if not answers:
        return {}
    marks = np.array([row["value"] == 1.0 for row in answers])
    limits = share_interval(marks, [row["source"] for row in answers])
    low, high = limits if limits else (None, None)
    return {name: float(marks.mean()), f"{name}_low": low, f"{name}_high": high, f"{name}_steps": len(answers)}


def places(analysis: Analysis, judge: str, editor: str) -> str | None:
    """Where other things changed, the three most frequent places with the number of changes."""
    counts = Counter(
        change["where"]
        for row in analysis.once(judged_of).by_step.get((judge, ELSE), {}).values()
        if row["editor"] == editor and row["answer"]
        for change in json.loads(row["answer"]).get("changes", ())
    )
    return ", ".join(f"{place} ({count})" for place, count in counts.most_common(3)) or None
