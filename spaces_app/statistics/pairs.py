"""Every two editors: which keeps more rounds on their common cases."""

from ..analysis.analysis import Analysis
from ..analysis.comparisons import GroupComparison, verdict_name
from ..analysis.tables import Estimate, TableRow, column, estimate
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


def group_rows(group: str, compared: GroupComparison) -> list[Row]:
    families = {"editors": compared.editors, "no other pair": compared.references}
    return [
        Row(
            group=group,
            family=family,
            first=pair.first,
            second=pair.second,
            difference=estimate(pair.difference, pair.interval),
            cases=pair.cases,
            left_out=pair.left_out,
            sources=pair.sources,
            p_value=pair.p_value,
            p_corrected=pair.p_corrected,
            verdict=verdict_name(pair),
            sentence=pair.sentence,
        )
        for family, pairs in families.items()
        for pair in pairs
    ]
