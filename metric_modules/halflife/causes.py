"""Why a case is lost: one row for each cause. The headline, cases.csv, the page and the Space read this table.

A row may name a column of the scores in `decided_by`; the report refuses to start if there is no such column.
"""

from collections.abc import Callable
from typing import NamedTuple

EDITOR, CALL = "the editor", "the call"


class Limits(NamedTuple):
    """What a reader may choose."""

    retained: float = 0.5  # of quality and of meaning
    framing: float | None = None  # the largest loss of framing that is no loss of the case; None: not asked


class Cause(NamedTuple):
    """One cause. It is asked in every round of a case that has values, or it is how the chain ended."""

    name: str  # in files
    title: str  # as a heading or a filter
    clause: str  # in a sentence
    # What decides: a series that the report makes for each case (a key of spaces_app.analysis.groups.SERIES), or a
    # column of the scores, of which the row of the round's last step counts.
    decided_by: str = ""
    is_lost: Callable[[float, Limits], bool] = lambda value, limits: bool(value)
    leaves_open: bool = True  # whether a round without a value is not known to be kept; otherwise the rest decides
    end: str = ""  # the end of a chain
    fault: str = EDITOR  # whose fault; anything else makes the case a missing one as well


_ROWS = (  # in the order in which they count if several happen in one round
    Cause(
        "not applied",
        "Edit not carried out",
        "edit not carried out",
        decided_by="applied",
        is_lost=lambda made, limits: not made,
    ),
    Cause(
        "not undone",
        "Edit not undone",
        "edit not undone",
        decided_by="undone",
        is_lost=lambda undone, limits: not undone,
    ),
    Cause(
        "quality lost",
        "Quality lost",
        "quality lost",
        decided_by="quality",
        is_lost=lambda retained, limits: retained < limits.retained,
    ),
    Cause("part lost", "One area lost", "one area no longer matches", decided_by="part_lost"),
    Cause(
        "framing lost",
        "Framing lost",
        "the picture moved or grew",
        decided_by="framing",
        is_lost=lambda loss, limits: limits.framing is not None and loss > limits.framing,
        leaves_open=False,
    ),
    Cause(
        "meaning lost",
        "Meaning lost",
        "meaning lost",
        decided_by="meaning",
        is_lost=lambda retained, limits: retained < limits.retained,
    ),
    Cause("refused", "Refused", "the editor refused", end="refused"),
    Cause("no image", "No picture", "no picture came back", end="no_image"),
    Cause("shrunk", "Shrunk", "the picture came back smaller", end="shrunk"),
    # A loss wherever editors are compared; the curve of one metric alone is censored by it.
    Cause("technical failure", "Technical failure", "technical failure", end="failed", fault=CALL),
)
CAUSES = {cause.name: cause for cause in _ROWS}
FAILED = next(cause.name for cause in _ROWS if cause.fault == CALL)
END_CAUSES = {cause.end: cause.name for cause in _ROWS if cause.end and cause.fault == EDITOR}
