"""How far the people who labelled pictures agree, question by question."""

from collections.abc import Sequence
from typing import Any

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..agreement import agreement
from ..people import LabelledItem, of_question, people_of

TITLE = "How far people agree"
SECTION = "What people saw"
ON_PAGE = OnPage(order=90)
COLUMNS = (
    Column("question", "Question"),
    Column("measure", "Scale"),
    Column("alpha", "Krippendorff's alpha", "score", interval=True),
    Column("raters", "People", "count"),
    Column("items", "Items", "count"),
    Column("shared", "answered by two or more", "count"),
    Column("labels", "Labels", "count"),
    Column("pictures", "Pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each question that was answered; failures once by their code and once by their level."""
    return agreement_rows(analysis.once(people_of))


def agreement_rows(items: Sequence[LabelledItem]) -> list[dict[str, Any]]:
    """The same of labels that are not in the dataset."""
    found = []
    for question in QUESTIONS.values():
        own = of_question(items, question.code)
        if not own:
            continue
        answers: list[list[Any]] = [list(item.answers) for item in own]
        if question.measure == "interval":  # who answers in words that nobody can tell has not measured
            answers = [
                [number for each in item.answers if (number := question.number(each)) is not None] for item in own
            ]
        found.append(agreement_row(question.title, question.measure, answers, own))
        if any(answer.level for answer in question.answers):
            levels = [[question.level_of(each) for each in item.answers] for item in own]
            found.append(agreement_row(f"{question.title}: the level", question.measure, levels, own))
    return found


def agreement_row(
    title: str, measure: str, answers: Sequence[Sequence[Any]], items: Sequence[LabelledItem]
) -> dict[str, Any]:
    found = agreement(answers, [item.picture for item in items], measure)
    return {
        "question": title,
        "measure": measure,
        "alpha": found.alpha,
        "alpha_low": found.low,
        "alpha_high": found.high,
        "raters": len({rater for item in items for rater in item.raters}),
        "items": len(items),
        "shared": found.items,
        "labels": sum(len(item.answers) for item in items),
        "pictures": len({item.picture for item in items}),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "People looked at pictures without being told the editor. Alpha is 1 where all agree and 0 where they agree as "
        "by chance; ranges draw pictures again. Krippendorff asks for .8, and .667 for tentative conclusions."
    )
