"""Each editor as judges see it: edits made and undone, next to the rules on the same steps, and what else changed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval
from convergebench.metric_modules.scores import ScoreRow

from ....analysis.analysis import Analysis
from ....analysis.answers import StepKey
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..answers import Answer, Judged, scores_of_judged

TITLE = "The editors as judges see them"
SECTION = "Judges"
ON_PAGE = OnPage(order=60, part_by="judge")
_MADE, _UNDONE, _ELSE = "edit_applied", "edit_undone", "anything_else"


class Row(TableRow):
    judge: str = column("Judge", shown=False)
    editor: str = column("Editor")
    made: Estimate = column("Edits made", "share")
    made_rule: float | None = column("Edits made, by the rule", "share")
    made_steps: int | None = column("Steps", "count")
    undone: Estimate = column("Edits undone", "share")
    undone_rule: float | None = column("Edits undone, by the rule", "share")
    undone_steps: int | None = column("Steps", "count")
    changed: Estimate = column("Something else changed", "share")
    where: str | None = column("Where, most often")
    changed_steps: int | None = column("Steps", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each judge and editor; answers without a value are left out."""
    by_step = analysis.once(Judged).by_step
    scores = analysis.once(scores_of_judged)
    questions = (_MADE, _UNDONE, _ELSE)
    rows = []
    for judge in sorted({judge for judge, question in by_step if question in questions}):
        answers = [by_step.get((judge, question), {}) for question in questions]
        for editor in sorted({answer["editor"] for part in answers for answer in part.values()}):
            parts = [{step: answer for step, answer in part.items() if answer["editor"] == editor} for part in answers]
            made, made_rule, made_steps = _share(parts[0], scores, _MADE)
            undone, undone_rule, undone_steps = _share(parts[1], scores, _UNDONE)
            changed, _, changed_steps = _share(parts[2], scores)
            rows.append(
                Row(
                    judge=judge,
                    editor=editor,
                    made=made,
                    made_rule=made_rule,
                    made_steps=made_steps,
                    undone=undone,
                    undone_rule=undone_rule,
                    undone_steps=undone_steps,
                    changed=changed,
                    where=_places(parts[2].values()),
                    changed_steps=changed_steps,
                )
            )
    return rows


def _share(
    answers: Mapping[StepKey, Answer], scores: Mapping[StepKey, ScoreRow], rule: str = ""
) -> tuple[Estimate, float | None, int | None]:
    """The share of yes with its limits over sources, that of a column of the scores, and the number of steps."""
    with_value = {step: answer for step, answer in answers.items() if answer["value"] is not None}
    if not with_value:
        return Estimate(), None, None
    marks = np.array([answer["value"] == 1.0 for answer in with_value.values()])
    yes = estimate(float(marks.mean()), share_interval(marks, [answer["source"] for answer in with_value.values()]))
    values = [scores[step].value(rule) for step in with_value if step in scores] if rule else []
    judged = [bool(value) for value in values if value is not None]
    return yes, sum(judged) / len(judged) if judged else None, len(with_value)


def _places(answers: Iterable[Answer]) -> str | None:
    """Where other things changed, the three most frequent places with the number of changes."""
    counts = Counter(
        change["where"]
        for answer in answers
        if answer["answer"]
        for change in json.loads(answer["answer"]).get("changes", ())
    )
    return ", ".join(f"{place} ({count})" for place, count in counts.most_common(3)) or None
