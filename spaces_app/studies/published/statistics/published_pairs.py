"""Editors of published tables against each other, on the rounds and cases that both have.

Over the mean of all rounds, which one bad round early on decides, and at the last round that both have.
"""

from collections.abc import Hashable
from itertools import combinations
from typing import Any

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import COLUMNS as METRICS
from ....analysis.cases import column_range
from ....analysis.comparisons import comparison_row
from ....analysis.tables import Column
from ....statistics import OnPage
from ..published_metrics import PublishedMetric, published_of

TITLE = "Published scores, editors against each other on common cases"
SECTION = "Published scores"
ON_PAGE = OnPage(order=20)
COLUMNS = (
    Column("table", "Table"),
    Column("metric", "Metric"),
    Column("over", "Over"),
    Column("first", "Editor"),
    Column("second", "Against"),
    Column("difference", "Mean difference", "number", interval=True),
    Column("cases", "Common cases", "count"),
    Column("left_out", "Left out", "count"),
    Column("sources", "Pictures", "count"),
    Column("p_value", "p", "p"),
    Column("p_corrected", "p, for all pairs at once", "p"),
    Column("verdict", "Verdict"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Two rows per table, metric and pair of editors; all of one metric are corrected together."""
    found = []
    for each in analysis.once(published_of):
        pairs = list(combinations(sorted(each.editors), 2))
        asked: list[tuple[int | None, tuple[str, str]]] = [(None, pair) for pair in pairs]
        asked += [(last_round(each, *pair), pair) for pair in pairs]
        asked = [(round, pair) for round, pair in asked if round is None or len(each.rounds) > 1]
        judged = judge_together([compare_at(each, *pair, round) for round, pair in asked])
        for (round, _), comparison in zip(asked, judged, strict=True):
            over = "mean of all rounds" if round is None else f"round {round}"
            found.append({"table": each.table, "metric": each.metric, "over": over} | row_of(each, comparison))
    return found


def last_round(published: PublishedMetric, first: str, second: str) -> int:
    """The last round that both editors have, in whatever case; 0 where they share none."""
    own = [{round for values in published.editors[editor].values() for round in values} for editor in (first, second)]
    return max(own[0] & own[1], default=0)


def compare_at(published: PublishedMetric, first: str, second: str, round: int | None) -> Comparison:
    """Two editors at one round, or by their mean over the rounds that a case has of both (None).

    Better is positive, whatever the metric's direction.
    """
    sign = -1 if METRICS[published.metric].direction == "lower" else 1
    cases = published.editors[first], published.editors[second]
    values: list[dict[Any, float | None]] = [{}, {}]
    for key in cases[0].keys() | cases[1].keys():
        sides = [own.get(key, {}) for own in cases]
        shared = sides[0].keys() & sides[1].keys() & (sides[0].keys() if round is None else {round})
        for value, side in zip(values, sides, strict=True):
            if side:
                value[key] = sign * sum(side[each] for each in shared) / len(shared) if shared else None
    known = published.knows_pictures
    sources: dict[Hashable, Hashable] = {key: source if known else None for key, source in published.source_of.items()}
    return compare((first, second), values[0], values[1], sources)


def row_of(published: PublishedMetric, pair: Comparison) -> dict[str, Any]:
    """One comparison as a row; no difference lies outside what the metric's range allows."""
    row = comparison_row(pair)
    low, high = column_range(published.metric)
    for name, bounded in (("difference_low", max), ("difference_high", min)):
        if row[name] is not None:
            row[name] = bounded(row[name], low - high if name == "difference_low" else high - low)
    if not published.knows_pictures:
        row |= dict.fromkeys(("sources", "p_value", "p_corrected")) | {"verdict": "pictures unknown"}
    return row
