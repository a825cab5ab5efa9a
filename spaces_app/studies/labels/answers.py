"""What people said of single steps, taken together, as every study can read it."""

from collections.abc import Iterator
from statistics import median

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS

from ...analysis.analysis import Analysis
from ...analysis.answers import PEOPLE, StepAnswer
from .people import LabelledItem, people_of


def answers(analysis: Analysis) -> Iterator[StepAnswer]:
    """The middle one of numbers, or what most people said of a yes or no; "majority" is the answer as it was given."""
    for item in analysis.once(people_of):
        if item.other is None:
            details = {"majority": item.majority}
            yield StepAnswer(PEOPLE, item.question, (item.chain.id, item.step), _value(item), details)


def _value(item: LabelledItem) -> float | None:
    question = QUESTIONS[item.question]
    if question.measure != "interval":
        return {"yes": 1.0, "no": 0.0}.get(item.majority or "")
    numbers = [number for answer in item.answers if (number := question.number(answer)) is not None]
    return median(numbers) if numbers else None
