"""Whether people think that a program's edit can be undone, compared with the class that the program declares."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column
from ....statistics import OnPage
from ..answers import LabelledItem, of_question, people_of

TITLE = "Reversibility, checked by people"
SECTION = "What people saw"
ON_PAGE = OnPage(order=40, folded=True)


class Row(TableRow):
    program: str = column("Program")
    stated: str = column("Declared class")
    seen: str = column("Mostly seen as")
    agrees: float = column("Answers that agree", "share")
    labels: int = column("Answers", "count")
    pictures: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each program that people were asked about; those that they see in another class come first."""
    by_program: dict[str, list[LabelledItem]] = defaultdict(list)
    for item in of_question(analysis.once(people_of), "reversible"):
        by_program[item.chain.program.id].append(item)
    rows = []
    for program, items in by_program.items():
        answers = Counter(answer for item in items for answer in item.answers)
        stated = items[0].chain.program.reversibility
        rows.append(
            Row(
                program=program,
                stated=stated,
                seen=answers.most_common(1)[0][0],
                agrees=answers[stated] / answers.total(),
                labels=answers.total(),
                pictures=len({item.picture for item in items}),
            )
        )
    return sorted(rows, key=lambda row: (row.agrees, row.program))


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    disputed = sum(row.seen != row.stated for row in rows)
    return f"People mostly see {disputed} of {len(rows)} programs in another class." if rows else ""
