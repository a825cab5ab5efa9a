"""What judges and people answered about single steps (studies/*/answers.py)."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval

from ..analysis.analysis import Analysis
from ..analysis.tables import Estimate, estimate
from . import study_modules

PEOPLE = "people"  # instead of a judge's name
StepKey = tuple[str, int]  # id of the chain, number of the step


class StepAnswer(NamedTuple):
    judge: str
    question: str
    step: StepKey
    value: float | None  # 1 for yes, 0 for no, or a number
    details: Mapping[str, Any]  # a judge's whole answer; of people the "majority"


# By judge and question, then by step.
Answers = Mapping[tuple[str, str], Mapping[StepKey, StepAnswer]]


def all_answers(analysis: Analysis) -> Answers:
    answers: dict[tuple[str, str], dict[StepKey, StepAnswer]] = {}
    for module in study_modules("answers"):
        for answer in module.answers(analysis):
            answers.setdefault((answer.judge, answer.question), {})[answer.step] = answer
    return answers


def judges_asked(answers: Answers, questions: Collection[str]) -> list[str]:
    return sorted({judge for judge, question in answers if question in questions} - {PEOPLE})


def share_of(marks: Sequence[bool], sources: Sequence[Hashable]) -> Estimate:
    values = np.array(marks, float)
    return estimate(float(values.mean()), share_interval(values, sources)) if marks else Estimate()
