"""What people saw go wrong, editor by editor: failures of a part of an object, of an object, of the whole picture."""

from collections import Counter
from typing import Any

import numpy as np
from convergebench.dataset_builder.studies.labels.labels import LEVELS, QUESTIONS
from convergebench.metric_modules.halflife.intervals import share_interval

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..people import LabelledItem, of_question, people_of

TITLE = "What people saw go wrong"
SECTION = "What people saw"
ON_PAGE = OnPage(order=30, part_by="level")
QUESTION = QUESTIONS["failure"]
COLUMNS = (
    Column("level", "Level", shown=False),
    Column("failure", "Failure"),
    Column("editor", "Method"),
    Column("share", "Share of pictures", "share", interval=True),
    Column("seen", "Pictures with it", "count"),
    Column("items", "Pictures labelled", "count"),
    Column("unclear", "No majority", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each failure and editor of which it was seen; an item has the failure that more than half named."""
    by_editor: dict[str, list[LabelledItem]] = {}
    for item in of_question(analysis.once(people_of), QUESTION.code):
        by_editor.setdefault(item.chain.editor, []).append(item)
    found = []
    for answer in sorted(QUESTION.answers, key=lambda answer: LEVELS.index(answer.level)):
        for editor, items in sorted(by_editor.items()):
            clear = [item for item in items if item.majority is not None]
            seen = Counter(item.majority for item in clear)[answer.code]
            if not seen:
                continue
            marks = np.array([item.majority == answer.code for item in clear], float)
            low, high = share_interval(marks, [item.picture for item in clear]) or (None, None)
            found.append(
                {
                    "level": answer.level,
                    "failure": answer.words,
                    "editor": editor,
                    "share": seen / len(clear),
                    "share_low": low,
                    "share_high": high,
                    "seen": seen,
                    "items": len(items),
                    "unclear": len(items) - len(clear),
                }
            )
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    return "A picture has the failure that more than half of its labellers named." if rows else ""
