"""Whether people think that a program's edit can be taken back, beside the class that the program is in."""

from collections import Counter
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..people import LabelledItem, of_question, people_of

TITLE = "Reversibility, checked by people"
SECTION = "What people saw"
ON_PAGE = OnPage(order=40, folded=True)
COLUMNS = (
    Column("program", "Program"),
    Column("stated", "Its class"),
    Column("seen", "Mostly seen as"),
    Column("agrees", "Answers that name its class", "share"),
    Column("labels", "Answers", "count"),
    Column("pictures", "Pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each program that people were asked about; where they see it otherwise comes first."""
    by_program: dict[str, list[LabelledItem]] = {}
    for item in of_question(analysis.once(people_of), "reversible"):
        by_program.setdefault(item.chain.program.id, []).append(item)
    found = []
    for program, items in by_program.items():
        answers = Counter(answer for item in items for answer in item.answers)
        stated = items[0].chain.program.reversibility
        [(seen, _)] = answers.most_common(1)
        found.append(
            {
                "program": program,
                "stated": stated,
                "seen": seen,
                "agrees": answers[stated] / answers.total(),
                "labels": answers.total(),
                "pictures": len({item.picture for item in items}),
            }
        )
    return sorted(found, key=lambda row: (row["agrees"], row["program"]))


def note(analysis: Analysis, rows: Rows) -> str:
    others = [row for row in rows if row["seen"] != row["stated"]]
    return f"{len(others)} of {len(rows)} programs are mostly seen as of another class." if rows else ""
