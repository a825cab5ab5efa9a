"""Editors of published tables against each other, on the rounds and cases that both have.

They are compared by the mean of all rounds, which one bad early round can decide, and at the last common round.
"""

from collections.abc import Hashable
from itertools import combinations

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import COLUMNS, column_range
from ....analysis.comparisons import verdict_name
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


def rows(analysis: Analysis) -> list[Row]:
    """Two rows per table, metric and pair of editors; all of one metric are corrected together."""
    rows = []
    for metric in analysis.once(published_metrics):
        pairs = list(combinations(sorted(metric.editors), 2))
        comparisons: list[tuple[int | None, tuple[str, str]]] = [(None, pair) for pair in pairs]
        if len(metric.rounds) > 1:
            comparisons += [(_last_round(metric, *pair), pair) for pair in pairs]
        judged = judge_together([_compare_at(metric, *pair, round) for round, pair in comparisons])
        rows += [_row(metric, round, pair) for (round, _), pair in zip(comparisons, judged, strict=True)]
    return rows


def _last_round(published: PublishedMetric, first: str, second: str) -> int:
    """The last round that both editors have, in whatever case; 0 if they share none."""
    rounds = [{round for values in published.editors[editor].values() for round in values}
              for editor in (first, second)]  # fmt: skip
    return max(rounds[0] & rounds[1], default=0)


def _compare_at(published: PublishedMetric, first: str, second: str, round: int | None) -> Comparison:
    """Two editors at one round, or by their mean over the rounds that a case has of both (None).

    Better is positive, whatever the metric's direction.
    """
    sign = -1 if COLUMNS[published.metric].direction == "lower" else 1
    cases = published.editors[first], published.editors[second]
    values: list[dict[Hashable, float | None]] = [{}, {}]
    for key in cases[0].keys() | cases[1].keys():
        sides = [of_editor.get(key, {}) for of_editor in cases]
        shared = sides[0].keys() & sides[1].keys() & (sides[0].keys() if round is None else {round})
        for value, side in zip(values, sides, strict=True):
            if side:
                value[key] = sign * sum(side[number] for number in shared) / len(shared) if shared else None
    has_pictures = published.knows_pictures
    sources: dict[Hashable, Hashable] = {
        key: source if has_pictures else None for key, source in published.source_of.items()
    }
    return compare((first, second), values[0], values[1], sources)


def _row(published: PublishedMetric, round: int | None, pair: Comparison) -> Row:
    """One comparison as a row; no difference lies outside what the metric's range allows."""
    lowest, highest = column_range(published.metric)
    has_pictures = published.knows_pictures
    return Row(
        table=published.table,
        metric=published.metric,
        over="mean of all rounds" if round is None else f"round {round}",
        first=pair.first,
        second=pair.second,
        difference=estimate(pair.difference, pair.interval, lowest - highest, highest - lowest),
        cases=pair.cases,
        left_out=pair.left_out,
        sources=pair.sources if has_pictures else None,
        p_value=pair.p_value if has_pictures else None,
        p_corrected=pair.p_corrected if has_pictures else None,
        verdict=verdict_name(pair) if has_pictures else "pictures unknown",
    )
