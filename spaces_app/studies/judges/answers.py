"""The answers of judges, as every study can read them."""

import json
from collections.abc import Iterator

from ...analysis.analysis import Analysis
from ...analysis.answers import StepAnswer
from .judged import judged_of


def answers(analysis: Analysis) -> Iterator[StepAnswer]:
    for (judge, question), rows in analysis.once(judged_of).by_step.items():
        for step, row in rows.items():
            yield StepAnswer(judge, question, step, row["value"], json.loads(row["answer"] or "{}"))
