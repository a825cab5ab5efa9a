"""Banana100's levels of failure by rules: a part of an object, an object, the picture."""

import json
from collections import Counter
from collections.abc import Iterator

from convergebench.metric_modules.edit_applied.cycles import asked_transforms

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.reasons import TITLES
from ....analysis.tables import TableRow, column
from ....statistics import OnPage

TITLE = "What failed first, by level"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=75, folded=True, part_by="level", line_where="editor")
NOTE = (
    "By rules: a lost area under a fiftieth of the picture, or another face, is a part of an object; a larger one, "
    "or an edit that was not made, an object; the rest, and changes of the whole picture that were not made, the "
    "picture."
)
_SMALL = 0.02  # of the picture
_WHOLE = ("colour lost", "quality lost", "framing lost", "meaning lost", "shrunk")
_EDITS = ("not changed", "not as asked", "not undone")


class Row(TableRow):
    level: str = column("Level", shown=False)
    editor: str = column("Editor")
    failure: str = column("First failure")
    share: float = column("Share of tests", "share")
    cases: int = column("Tests", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    scores = analysis.scores.select(["chain", "round", "damage_outline"]).with_any(["damage_outline"])
    areas = {(row.chain, row.round): _area(row.value("damage_outline")) for row in scores}
    failures: Counter[tuple[str, str, str]] = Counter()
    tests: Counter[str] = Counter()
    for group in analysis.groups.values():
        for case, outcome in analysis.with_outcomes(group):
            tests[case.editor] += 1
            if outcome.cause and (
                level := _level(case, outcome.cause, areas.get((case.chain.id, outcome.lost_at)))
            ):
                failures[level, case.editor, outcome.cause] += 1
    for (level, editor, cause), count in sorted(failures.items()):
        yield Row(level=level, editor=editor, failure=TITLES[cause], share=count / tests[editor], cases=count)


def _level(case: Case, cause: str, area: float | None) -> str | None:
    cycle, category = case.chain.program.cycle, case.category
    if cause in _WHOLE or (
        cause in _EDITS and (asked_transforms(cycle[0]) or category == "partially reversible")
    ):
        return "image"
    if cause == "another person" or (cause == "part lost" and area is not None and area < _SMALL):
        return "sub-object"
    return "object" if cause == "part lost" or cause in _EDITS else None


def _area(outline: object) -> float:
    """Of all polygons, by Gauss's formula.

    >>> _area('{"polygons": [[[0, 0], [0.1, 0], [0.1, 0.1], [0, 0.1]]]}')
    0.01
    """
    polygons = json.loads(str(outline))["polygons"]
    pairs = ((polygon[place - 1], corner) for polygon in polygons for place, corner in enumerate(polygon))
    return round(abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2, 6)
