"""Editors of published tables against each other, on what both have.

By the mean of all rounds, which one bad round can decide, and at the last round.
"""

from collections.abc import Iterator
from itertools import combinations
from math import inf

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import COLUMNS, column_range
from ....analysis.comparisons import pair_columns
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..curves import PublishedMetric, published_metrics

TITLE = "Published scores, editors against each other on common cases"
SECTION = "Published scores"
ON_PAGE = OnPage(order=20)


class Row(TableRow):
    table: str = column("Table")
    metric: str = column("Metric")
    over: str = column("Over")
    first: str = column("Editor")
    second: str = column("Against")
    difference: Estimate = column("Mean difference", "number")
    cases: int = column("Common cases", "count")
    left_out: int = column("Left out", "count")
    sources: int | None = column("Pictures", "count")
    p_value: float | None = column("p", "p")
    p_corrected: float | None = column("p, for all pairs at once", "p")
    verdict: str = column("Verdict")


def rows(analysis: Analysis) -> Iterator[Row]:
    for metric in analysis.once(published_metrics):
        low, high = column_range(metric.metric)
        pairs = list(combinations(sorted(metric.editors), 2))
        over = ["mean of all rounds"] * len(pairs)
        compared = [_compare_at(metric, *pair, None) for pair in pairs]
        for pair in pairs if len(metric.rounds) > 1 else ():
            first, second = ({n for values in metric.editors[name].values() for n in values} for name in pair)
            last = max(first & second, default=0)
            over.append(f"round {last}")
            compared.append(_compare_at(metric, *pair, last))
        for name, result in zip(over, judge_together(compared), strict=True):
            columns = pair_columns(result)
            columns["difference"] = estimate(result.difference, result.interval, low - high, high - low)
            if not metric.has_pictures:
                columns |= {"sources": None, "p_value": None, "p_corrected": None, "verdict": "pictures unknown"}
            yield Row(table=metric.table, metric=metric.metric, over=name, **columns)


def _compare_at(published: PublishedMetric, first: str, second: str, round: int | None) -> Comparison:
    """At one round, or by the mean over common rounds; better is positive."""
    sign = -1 if COLUMNS[published.metric].direction == "lower" else 1
    cases = published.editors[first], published.editors[second]
    values: list[dict[tuple[str, int], float | None]] = [{}, {}]
    for key in cases[0].keys() | cases[1].keys():
        sides = [of_editor.get(key, {}) for of_editor in cases]
        shared = sides[0].keys() & sides[1].keys() & (sides[0].keys() if round is None else {round})
        for value, side in zip(values, sides, strict=True):
            if side:
                value[key] = sign * sum(side[number] for number in shared) / len(shared) if shared else None
    low, high = column_range(published.metric)
    most = high - low if high < inf else None
    return compare((first, second), values[0], values[1], published.source_of, most)
