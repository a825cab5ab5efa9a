"""Every two editors: which keeps more rounds on their common cases."""

from collections.abc import Sequence

from convergebench.metric_modules.halflife.comparison import Comparison
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import log_rank

from ..analysis.analysis import Analysis
from ..analysis.comparisons import CaseOutcomes, GroupComparison, verdict_name
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
    log_rank: float | None = column("Log-rank χ²", "number", shown=False)
    log_rank_p: float | None = column("Log-rank p", "p", shown=False)
    sentence: str = column("In words", shown=False)


def rows(analysis: Analysis) -> list[Row]:
    return [row for name in analysis.groups for row in group_rows(name, analysis.comparisons[name])]


def group_rows(group: str, compared: GroupComparison) -> list[Row]:
    families = {"editors": compared.editors, "no other pair": compared.references}
    return [_row(group, family, pair, compared.outcomes) for family, pairs in families.items() for pair in pairs]


def _row(group: str, family: str, pair: Comparison, outcomes: CaseOutcomes) -> Row:
    sides = outcomes[pair.first], outcomes[pair.second]
    common = [key for key in sides[0] if key in sides[1] and not any(side[key][0].failed for side in sides)]
    first, second = ([side[key][0] for key in common] for side in sides)
    # A log-rank test, as a description.
    statistic, p = log_rank(*_survival(first), *_survival(second)) if common else (None, None)
    return Row(
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
        log_rank=statistic,
        log_rank_p=p,
        sentence=pair.sentence,
    )


def _survival(outcomes: Sequence[Outcome]) -> tuple[list[float], list[bool]]:
    return [outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes]
