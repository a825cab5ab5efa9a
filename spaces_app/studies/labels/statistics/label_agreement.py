from collections.abc import Hashable, Sequence

import numpy as np
from convergebench.dataset_builder.studies.labels.labels import QUESTIONS, numbers_of
from convergebench.metric_modules.halflife.intervals import drawn_clusters, membership

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ..answers import LabelledItem, people_of

TITLE = "How far people agree"
SECTION = "What people saw"
ON_PAGE = OnPage(order=90)
NOTE = (
    "People looked at pictures without being told the editor. Alpha is 1 if all agree and 0 if they agree no "
    "more than by chance; ranges resample pictures. Krippendorff asks for .8, and .667 for tentative conclusions."
)


class Row(TableRow):
    question: str = column("Question")
    measure: str = column("Scale")
    alpha: Estimate = column("Krippendorff's alpha", "score")
    raters: int = column("People", "count")
    items: int = column("Items", "count")
    shared: int = column("Answered by two or more", "count")
    labels: int = column("Labels", "count")
    pictures: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each question that was answered; failures once by their code and once by their level."""
    items, rows = analysis.once(people_of), []
    for question in QUESTIONS.values():
        if not (labelled := [item for item in items if item.question == question.code]):
            continue
        answers: list[Sequence[Hashable]] = [item.answers for item in labelled]
        if question.measure == "interval":
            answers = [numbers_of(item.answers) for item in labelled]
        rows.append(_row(question.title, question.measure, answers, labelled))
        if any(answer.level for answer in question.answers):
            levels = [[question.level_of(answer) for answer in item.answers] for item in labelled]
            rows.append(_row(f"{question.title}: the level", question.measure, levels, labelled))
    return rows


def _row(title: str, measure: str, answers: Sequence[Sequence[Hashable]], items: Sequence[LabelledItem]) -> Row:
    pictures = [item.picture for item in items]
    return Row(
        question=title,
        measure=measure,
        alpha=_krippendorff_alpha(answers, pictures, measure),
        raters=len({rater for item in items for rater in item.raters}),
        items=len(items),
        shared=sum(len(unit) > 1 for unit in answers),
        labels=sum(len(item.answers) for item in items),
        pictures=len(set(pictures)),
    )


def _krippendorff_alpha(
    answers: Sequence[Sequence[Hashable]], pictures: Sequence[Hashable], measure: str = "nominal"
) -> Estimate:
    """Krippendorff's alpha, with the middle 95% over bootstrapped pictures.

    None if there is nothing to disagree about. Items with a single answer say nothing and are left out.
    Reference: Krippendorff, Computing Krippendorff's alpha-reliability (2011).

    >>> round(float(_krippendorff_alpha([["a", "a"], ["a", "b"], ["b", "b"], ["b"]], "pqrs").value), 3)
    0.444
    """
    shared = [(unit, picture) for unit, picture in zip(answers, pictures, strict=True) if len(unit) > 1]
    values = sorted({value for unit, _ in shared for value in unit}, key=lambda value: (str(type(value)), value))
    distances = 1.0 - np.eye(len(values))
    if measure == "interval":
        numbers = np.array(values, float)
        distances = np.square(numbers[:, None] - numbers)
    meetings = _meetings([unit for unit, _ in shared], values)
    alpha = _alpha(meetings.sum(axis=0), distances)
    member = membership([picture for _, picture in shared])
    if alpha is None or len(member) < 2:
        return Estimate(alpha)
    by_picture = (member @ meetings.reshape(len(shared), -1)).reshape(len(member), *distances.shape)
    drawn = np.tensordot(drawn_clusters(len(member)), by_picture, axes=1)
    alphas = [drawn_alpha for matrix in drawn if (drawn_alpha := _alpha(matrix, distances)) is not None]
    return Estimate(alpha, *map(float, np.quantile(alphas, [0.025, 0.975]))) if alphas else Estimate(alpha)


def _meetings(units: Sequence[Sequence[Hashable]], values: Sequence[Hashable]) -> np.ndarray:
    """How often each pair of values meets in an item: pairs of different people, over one less than people."""
    meetings = np.zeros((len(units), len(values), len(values)))
    for number, unit in enumerate(units):
        counts = np.array([list(unit).count(value) for value in values], float)
        meetings[number] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return meetings


def _alpha(meetings: np.ndarray, distances: np.ndarray) -> float | None:
    totals = meetings.sum(axis=0)
    expected = float((np.outer(totals, totals) * distances).sum())
    return 1 - (totals.sum() - 1) * float((meetings * distances).sum()) / expected if expected else None
