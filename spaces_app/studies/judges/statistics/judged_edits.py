import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, mean_of
from ....statistics import OnPage
from ...step_answers import StepKey, share_of
from ..answers import Answer, judged_steps, scores_of_judged

TITLE = "The editors as judges see them"
SECTION = "Judges"
ON_PAGE = OnPage(order=60, part_by="judge")
_MADE, _UNDONE, _ELSE = "edit_applied", "edit_undone", "anything_else"


class Row(TableRow):
    judge: str = column("Judge", shown=False)
    editor: str = column("Editor")
    made: Estimate = column("Edits made", "share")
    made_rule: float | None = column("Something changed, by the rule", "share")
    made_steps: int | None = column("Steps", "count")
    undone: Estimate = column("Edits undone", "share")
    undone_rule: float | None = column("Edits undone, by the rule", "share")
    undone_steps: int | None = column("Steps", "count")
    changed: Estimate = column("Something else changed", "share")
    where: str | None = column("Where, most often")
    changed_steps: int | None = column("Steps", "count")


def rows(analysis: Analysis) -> list[Row]:
    """Answers without a value are left out."""
    answers: dict[tuple[str, str], dict[str, dict[StepKey, Answer]]] = defaultdict(lambda: defaultdict(dict))
    for (judge, question), by_step in analysis.once(judged_steps).items():
        for step, answer in by_step.items():
            answers[judge, answer["editor"]][question][step] = answer
    return [
        Row(
            judge=judge,
            editor=editor,
            **_shares(analysis, "made", by_question[_MADE], "edit_changed"),
            **_shares(analysis, "undone", by_question[_UNDONE], _UNDONE),
            **_shares(analysis, "changed", by_question[_ELSE]),
            where=_places(by_question[_ELSE].values()),
        )
        for (judge, editor), by_question in sorted(answers.items())
        if {_MADE, _UNDONE, _ELSE} & by_question.keys()
    ]


def _shares(analysis: Analysis, name: str, answers: Mapping[StepKey, Answer], rule: str = "") -> dict[str, Any]:
    given = {step: answer for step, answer in answers.items() if answer["value"] is not None}
    marks = [answer["value"] == 1.0 for answer in given.values()]
    share = share_of(marks, [answer["source"] for answer in given.values()])
    columns: dict[str, Any] = {name: share, f"{name}_steps": len(given) or None}
    if rule:
        scores = analysis.once(scores_of_judged)
        columns[f"{name}_rule"] = mean_of(scores[step].value(rule) for step in given if step in scores)
    return columns


def _places(answers: Iterable[Answer]) -> str | None:
    listed = [json.loads(answer["answer"]).get("changes", ()) for answer in answers if answer["answer"]]
    counts = Counter(change["where"] for changes in listed for change in changes)
    return ", ".join(f"{place} ({count})" for place, count in counts.most_common(3)) or None
