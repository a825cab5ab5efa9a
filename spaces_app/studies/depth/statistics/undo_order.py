from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ...two_ways import Side, compare_sides

TITLE = "Nested against crossed undo"
SECTION = "Two ways to ask for the same thing"
ON_PAGE = OnPage(order=10, line_where="role")
NOTE = (
    "Two edits are made one after the other. Nested: the last one is undone first, as an undo button does. "
    "Crossed: the first one is undone while the second is still there. Compared on the same pictures and runs."
)
_ENDS = {"-nested": 0, "-crossed": 1}


class Row(TableRow):
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    first: float = column("Rounds survived, last edit undone first", "rounds")
    second: float = column("Rounds survived, first edit undone first", "rounds")
    difference: Estimate = column("Difference", "change")
    first_undone: float | None = column("Undone, nested", "share")
    second_undone: float | None = column("Undone, crossed", "share")
    p_value: float | None = column("p", "p")
    verdict: str = column("Lasts longer")
    cases: int = column("Common cases", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    return compare_sides(analysis, Row, ("nested", "crossed"), _side_of)


def _side_of(program: str) -> Side | None:
    """What the programs of both orders have in common, and the order.

    >>> _side_of("ball-chair-crossed"), _side_of("hat")
    (('ball-chair', 1), None)
    """
    return next(((program.removesuffix(end), side) for end, side in _ENDS.items() if program.endswith(end)), None)
