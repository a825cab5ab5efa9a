"""The table of every two editors: who keeps more rounds on their common cases, and whether that is more than luck."""

from collections.abc import Sequence
from typing import Any

from convergebench.metric_modules.halflife.comparison import Comparison
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import log_rank

from ..analysis.analysis import Analysis
from ..analysis.comparisons import CaseOutcomes, GroupComparison, comparison_row
from ..analysis.groups import CaseGroup
from ..analysis.tables import Column
from . import EACH_GROUP, OnPage, Rows

TITLE = "Pairs of editors on their common cases"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=40, line_where="family", heading="Head-to-head", caption=lambda rows: TITLE)
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("family", "Corrected with", shown=False),
    Column("first", "Editor"),
    Column("second", "Against"),
    Column("difference", "More rounds survived", "change", interval=True),
    Column("cases", "Common tests", "count"),
    Column("left_out", "Left out", "count"),
    Column("sources", "Sources", "count"),
    Column("p_value", "p", "p"),
    Column("p_corrected", "p, for all pairs at once", "p"),
    Column("verdict", "Verdict"),
    Column("log_rank", "Log-rank χ²", "number", shown=False),
    Column("log_rank_p", "Log-rank p", "p", shown=False),
    Column("sentence", "In words", shown=False),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """The comparisons of all groups."""
    return [row for name, group in analysis.groups.items() for row in group_rows(group, analysis.comparisons[name])]


def note(analysis: Analysis, rows: Rows) -> str:
    return "" if rows else "There are no two editors to compare."


def group_rows(group: CaseGroup, compared: GroupComparison) -> list[dict[str, Any]]:
    """The comparisons of one group: editors among themselves, then with rows that have no rank."""
    return pair_rows(group.name, compared.outcomes, compared.editors, "editors") + pair_rows(
        group.name, compared.outcomes, compared.references, "no other pair"
    )


def pair_rows(group: str, outcomes: CaseOutcomes, pairs: Sequence[Comparison], family: str) -> list[dict[str, Any]]:
    """The comparisons as rows, with the log-rank test beside them as a description."""
    rows = []
    for pair in pairs:
        common = [
            key
            for key in outcomes[pair.first].keys() & outcomes[pair.second].keys()
            if not (outcomes[pair.first][key][0].failed or outcomes[pair.second][key][0].failed)
        ]
        first, second = ([outcomes[editor][key][0] for key in common] for editor in (pair.first, pair.second))
        statistic, p = log_rank(*times_and_losses(first), *times_and_losses(second)) if common else (None, None)
        tests = {"log_rank": statistic, "log_rank_p": p, "sentence": pair.sentence}
        rows.append({"group": group, "family": family} | comparison_row(pair) | tests)
    return rows


def times_and_losses(outcomes: Sequence[Outcome]) -> tuple[list[float], list[bool]]:
    return [outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes]
