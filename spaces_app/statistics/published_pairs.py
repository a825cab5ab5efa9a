"""Editors of published tables against each other, on the rounds and cases that both have."""

from itertools import combinations
from typing import Any

from convergebench.metric_modules.halflife.comparison import Comparison, compare, judge_together

from ..study.cases import COLUMNS as METRICS
from ..study.comparisons import comparison_row
from ..study.published_scores import PublishedMetric
from ..study.study import Study
from ..study.tables import Column
from . import OnPage

TITLE = "Published scores, editors against each other on common cases"
SECTION = "Published scores"
ON_PAGE = OnPage(order=20)
COLUMNS = (
    Column("table", "Table"),
    Column("metric", "Metric"),
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


def rows(study: Study) -> list[dict[str, Any]]:
    """One row per table, metric and pair of editors; the pairs of one metric are corrected together."""
    return [
        {"table": each.table, "metric": each.metric} | comparison_row(pair)
        for each in study.published
        for pair in judge_together([compare_means(each, a, b) for a, b in combinations(sorted(each.editors), 2)])
    ]


def compare_means(published: PublishedMetric, first: str, second: str) -> Comparison:
    """Two editors by their mean over common rounds; better is positive, whatever the metric's direction."""
    sign = -1 if METRICS[published.metric].direction == "lower" else 1
    cases = published.editors[first], published.editors[second]
    means: list[dict[Any, float | None]] = [{}, {}]
    for key in cases[0].keys() | cases[1].keys():
        sides = [own.get(key, {}) for own in cases]
        shared = sides[0].keys() & sides[1].keys()
        for mean, side in zip(means, sides, strict=True):
            if side:
                mean[key] = sign * sum(side[round] for round in shared) / len(shared) if shared else None
    return compare((first, second), means[0], means[1], dict(published.source_of))
