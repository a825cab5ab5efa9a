from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_over_clusters, student_quantile
from convergebench.metric_modules.no_reference.ranges import FIRST

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from .. import series

TITLE = "Rank correlation of scores with the damage"
SECTION = series.SECTION
ON_PAGE = OnPage(order=30, part_by="program", line_where="editor")
NOTE = (
    "A metric that sees the damage has -1, one that takes it for quality has +1. From the named step on, "
    "the score is below (or above) that of step 1, beyond 95% limits over sources."
)
_FEWEST = 3  # steps of a chain: two are always correlated by +1 or -1


class Row(TableRow):
    program: str = column("Program", shown=False)
    editor: str = column("Editor")
    metric: str = column("Metric")
    with_step: Estimate = column("With the step", "number")
    with_lpips: Estimate = column("With LPIPS to the original", "number")
    worse_from: int | None = column("Certainly worse from step", "count")
    better_from: int | None = column("Certainly “better” from step", "count")
    last_step: int = column("Last step", "count")
    sources: int = column("Pictures", "count")
    chains: int = column("Chains", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    for (editor, program, metric), sources in analysis.once(series.replication_series).items():
        runs = [run for runs in sources.values() for run in runs]
        names = [name for name, runs in sources.items() for _ in runs]
        with_lpips = [_correlation(*run) for run in runs if metric != series.WITH_ORIGINAL]
        yield Row(
            program=program,
            editor=editor,
            metric=metric,
            with_step=_mean([_correlation(scores, {step: step for step in scores}) for scores, _ in runs], names),
            with_lpips=_mean(with_lpips or [None] * len(runs), names),
            worse_from=_certain_from(sources.values(), -1),
            better_from=_certain_from(sources.values(), 1),
            last_step=max(step for scores, _ in runs for step in scores),
            sources=len(sources),
            chains=len(runs),
        )


def _correlation(scores: Mapping[int, float], other: Mapping[int, float]) -> float | None:
    """Spearman's correlation over the common steps; None if these are too few or either never changes."""
    from scipy import stats  # importing it takes half a second

    steps = sorted(scores.keys() & other.keys())
    first, second = [scores[step] for step in steps], [other[step] for step in steps]
    if len(steps) < _FEWEST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(stats.spearmanr(first, second).statistic)


def _mean(correlations: Sequence[float | None], sources: Sequence[str]) -> Estimate:
    return estimate(*mean_over_clusters(correlations, sources), -1.0, 1.0)


def _certain_from(sources: Iterable[Sequence[series.Run]], sign: int) -> int | None:
    """The first step from which on every change since step 1 has this sign, beyond 95% limits.

    A source's change is the mean of its runs; the limits are those of Student's t over sources.
    """
    changes: dict[int, list[float]] = defaultdict(list)
    for runs in sources:
        of_source = [scores for scores, _ in runs if FIRST in scores]
        for step in {step for scores in of_source for step in scores} - {FIRST}:
            since_first = [scores[step] - scores[FIRST] for scores in of_source if step in scores]
            changes[step].append(sign * float(np.mean(since_first)))
    start = None
    for step in sorted(changes, reverse=True):
        values = np.array(changes[step])
        if len(values) < 2:
            return start
        margin = student_quantile(len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
        if values.mean() - margin <= 0:
            return start
        start = step
    return start
