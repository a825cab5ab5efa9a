"""Every two editors: which keeps more rounds on their common cases."""

from collections.abc import Mapping, Sequence

from convergebench.metric_modules.halflife.comparison import Comparison

from ..analysis.analysis import Analysis
from ..analysis.comparisons import pair_columns
from ..analysis.tables import Estimate, TableRow, column
from . import EACH_GROUP, OnPage

TITLE = "Head-to-head: pairs of editors on their common tests"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=40, line_where="family")


class Row(TableRow):
    group: str = column("Programs", shown=False)
    family: str = column("Corrected with", shown=False)
    first: str = column("Editor")
    second: str = column("Against")
    difference: Estimate = column("More rounds survived", "change")
    cases: int = column("Common tests", "count")
    left_out: int = column("Left out", "count")
    sources: int = column("Pictures", "count")
    p_value: float | None = column("p", "p")
    p_corrected: float | None = column("p, for all pairs at once", "p")
    verdict: str = column("Verdict")
    sentence: str = column("In words", shown=False)


def rows(analysis: Analysis) -> list[Row]:
    return [row for name in analysis.groups for row in group_rows(name, analysis.comparisons[name])]


def group_rows(group: str, compared: Mapping[str, Sequence[Comparison]]) -> list[Row]:
    return [
        Row(group=group, family=family, sentence=pair.sentence, **pair_columns(pair))
        for family, pairs in compared.items()
        for pair in pairs
    ]
