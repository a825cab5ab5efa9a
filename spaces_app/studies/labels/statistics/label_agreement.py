"""How far the people who labelled pictures agree, question by question."""

from collections.abc import Hashable, Sequence

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ..agreement import agreement
from ..people import LabelledItem, of_question, people_of

TITLE = "How far people agree"
SECTION = "What people saw"
ON_PAGE = OnPage(order=90)
NOTE = (
    "People looked at pictures without being told the editor. Alpha is 1 if all agree and 0 if they agree as by "
    "chance; ranges draw pictures again. Krippendorff asks for .8, and .667 for tentative conclusions."
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
    return agreement_rows(analysis.once(people_of))


def agreement_rows(items: Sequence[LabelledItem]) -> list[Row]:
    """A row for each question that was answered; failures once by their code and once by their level."""
    rows = []
    for question in QUESTIONS.values():
        asked = of_question(items, question.code)
        if not asked:
            continue
        answers: list[list[Hashable]] = [list(item.answers) for item in asked]
        if question.measure == "interval":  # people who answer that nobody can tell have not measured
            answers = [[number for answer in item.answers if (number := question.number(answer)) is not None]
                       for item in asked]  # fmt: skip
        rows.append(_row(question.title, question.measure, answers, asked))
        if any(answer.level for answer in question.answers):
            levels = [[question.level_of(answer) for answer in item.answers] for item in asked]
            rows.append(_row(f"{question.title}: the level", question.measure, levels, asked))
    return rows


def _row(title: str, measure: str, answers: Sequence[Sequence[Hashable]], items: Sequence[LabelledItem]) -> Row:
    result = agreement(answers, [item.picture for item in items], measure)
    return Row(
        question=title,
        measure=measure,
        alpha=Estimate(result.alpha, result.low, result.high),
        raters=len({rater for item in items for rater in item.raters}),
        items=len(items),
        shared=result.items,
        labels=sum(len(item.answers) for item in items),
        pictures=len({item.picture for item in items}),
    )
