"""The causes for which a case is lost: the one table that the headline, cases.csv, the page and the Space read.

A row may name a column of the scores in `decided_by`;
the report refuses to start if there is no such column.
"""

from collections.abc import Callable
from typing import NamedTuple


class Limits(NamedTuple):
    """The limits that a reader may choose."""

    retained: float = 0.5  # of quality and of meaning
    framing: float | None = None  # the largest loss of framing that does not lose a case; None: not checked
    undecided: str = ""  # "kept" or "lost": what rounds near a limit count as; "": the limit decides


class Band(NamedTuple):
    """A limit, and the values around it between which a round is undecided."""

    low: float
    limit: float
    high: float

    def is_reached(self, value: float, limits: Limits) -> bool:
        return value >= {"": self.limit, "kept": self.high, "lost": self.low}[limits.undecided]


# Chosen on 64 rounds of two editors labelled by eye: kept rounds reach 0.246, lost ones begin
# at 0.252. The band includes eight more rounds, in which eyes were redrawn. It is so wide because
# wear of the whole picture can hide part of a loss: of 10,608 worn returns of five editors, none
# fell from 0.32 or more to below 0.22 (docs/verdicts.md).
PART = Band(0.20, 0.25, 0.32)
# Mean delta E of one colour map fitted to the whole picture: at most
# 7 in rounds kept by eye; 12 to 17 if the blue channel is cut to 80%.
COLOUR = Band(7.0, 10.0, 13.0)


class Cause(NamedTuple):
    """Checked in every round of a case that has values, or implied by how the chain ended."""

    name: str  # in files
    title: str  # as a heading or a filter
    clause: str  # in a sentence
    # A series that the report computes for each case (a key of spaces_app.analysis.groups.SERIES),
    # or a column of the scores, read from the row of the round's last step.
    decided_by: str = ""
    is_lost: Callable[[float, Limits], bool] = lambda value, limits: bool(value)
    # If True, a round without a value does not count as kept; if False, the other causes decide.
    leaves_open: bool = True
    end: str = ""  # the status of a chain that ended for this cause


def _not_so(value: float, limits: Limits) -> bool:
    return not value


def _below_half(retained: float, limits: Limits) -> bool:
    return retained < limits.retained


# The distance of faces above which the network's authors see another person. Of 36
# labelled rounds of portraits 7 are above it, all of them lost; kept ones reach 0.54.
_ANOTHER_PERSON = 0.6


def _moved_too_far(loss: float, limits: Limits) -> bool:
    return limits.framing is not None and loss > limits.framing


FAILED = "technical failure"  # counts as a loss between editors; censors the curve of a single metric
_ROWS = (  # in order of precedence within one round
    Cause("not changed", "Nothing changed", "nothing changed", "changed", _not_so),
    Cause("not as asked", "Another change", "not the change that was asked for", "as_asked", _not_so, False),
    Cause("not undone", "Edit not undone", "edit not undone", "undone", _not_so),
    Cause("part lost", "One area lost", "one area no longer matches", "part", PART.is_reached),
    # Asked for by name (`--metrics face_identity`), so a round without it is judged by the other checks.
    Cause(
        "another person",
        "Another person",
        "the face is another person's",
        "face_distance",
        lambda distance, limits: distance > _ANOTHER_PERSON,
        leaves_open=False,
    ),
    Cause("colour lost", "Colours lost", "the colours changed", "colour_shift", COLOUR.is_reached, False),
    Cause("quality lost", "Quality lost", "quality lost", "quality", _below_half),
    Cause(
        "framing lost", "Framing lost", "the picture moved or grew", "framing", _moved_too_far, leaves_open=False
    ),
    Cause("meaning lost", "Meaning lost", "meaning lost", "meaning", _below_half),
    Cause("refused", "Refused", "the editor refused", end="refused"),
    Cause("no image", "No picture", "no picture came back", end="no_image"),
    Cause("shrunk", "Shrunk", "the picture came back smaller", end="shrunk"),
    Cause(FAILED, "Technical failure", "technical failure", end="failed"),
)
CAUSES = {cause.name: cause for cause in _ROWS}
END_CAUSES = {cause.end: cause.name for cause in _ROWS if cause.end and cause.name != FAILED}
