from collections.abc import Iterator

from convergebench.dataset_builder.studies.labels.labels import LEVELS, QUESTIONS

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ...step_answers import share_of
from ..answers import by_editor

TITLE = "What people saw go wrong"
SECTION = "What people saw"
ON_PAGE = OnPage(order=30, part_by="level")
NOTE = "A picture has the failure that more than half of its labellers named."


class Row(TableRow):
    level: str = column("Level", shown=False)
    failure: str = column("Failure")
    editor: str = column("Method")
    share: Estimate = column("Share of pictures", "share")
    seen: int = column("Pictures with it", "count")
    items: int = column("Pictures labelled", "count")
    unclear: int = column("No majority", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    for answer in sorted(QUESTIONS["failure"].answers, key=lambda answer: LEVELS.index(answer.level)):
        for editor, items in sorted(by_editor(analysis, "failure").items()):
            clear = [item for item in items if item.majority is not None]
            marks = [item.majority == answer.code for item in clear]
            if any(marks):
                yield Row(
                    level=answer.level,
                    failure=answer.words,
                    editor=editor,
                    share=share_of(marks, [item.picture for item in clear]),
                    seen=sum(marks),
                    items=len(items),
                    unclear=len(items) - len(clear),
                )
