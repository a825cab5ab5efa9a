"""Which metrics see the damage, and which source fools them, for which editor: Banana100's Figures 6 and 10."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_over_clusters, student_quantile
from convergebench.metric_modules.no_reference.ranges import FIRST, STEPS

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, estimate, rows_of
from ....reporting.figures import Drawing, FigureContext
from ....statistics import OnPage
from .. import series
from . import no_reference_gaps

TITLE = "Which metric sees the damage, and which source fools it"
SECTION = series.SECTION
ON_PAGE = OnPage(order=10, part_by="program", line_where="editor")
NOTE = (
    "A source fools a metric with a single gap above 0. The rank correlation is -1 for a metric that sees the damage, "
    "and +1 for one that takes it for quality. From the named step on, the score is below (or above) that of step 1, "
    "beyond 95% limits over sources."
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
    fooled: int | None = column("Sources that fool it", "count", default=None)
    fooled_by: str | None = column("Fooled by", default=None)
    gaps_above: int | None = column("Gaps above 0", "count", default=None)
    gaps: int | None = column("Gaps", "count", default=None)
    largest: float | None = column("Largest gap", "change", default=None)


def rows(analysis: Analysis) -> Iterator[Row]:
    gaps: dict[tuple[str, str, str], list[no_reference_gaps.Row]] = defaultdict(list)
    for gap in no_reference_gaps.rows(analysis):
        gaps[gap.editor, gap.program, gap.metric].append(gap)
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
            **_fooled(gaps[editor, program, metric]),
        )


def _fooled(gaps: Sequence[no_reference_gaps.Row]) -> dict[str, Any]:
    if not gaps:
        return {}
    fooled = Counter(row.source for row in gaps if row.gap > 0)
    return {
        "fooled": len(fooled),
        "fooled_by": ", ".join(f"{name} ({count} of {len(STEPS)})" for name, count in fooled.items()) or "none",
        "gaps_above": fooled.total(),
        "gaps": len(gaps),
        "largest": max(row.gap for row in gaps),
    }


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


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    """A panel for each editor: how many of the gaps are above 0."""
    gaps = rows_of(context.tables, no_reference_gaps.Row)
    if not gaps:
        return []
    gaps = [row for row in gaps if row.program == gaps[0].program]
    panels, never = defaultdict[str, list[no_reference_gaps.Row]](list), defaultdict[str, list[str]](list)
    for gap in gaps:
        panels[gap.editor].append(gap)
    for row in rows:
        if row.program == gaps[0].program and row.fooled == 0:
            never[row.editor].append(row.metric)
    words = [f"{editor}: {', '.join(never[editor]) or 'no metric'} fooled by no source" for editor in panels]
    title = "How many of the gaps at steps 5, 10 and 20 are above 0: white none, dark blue all three"
    figure = no_reference_gaps.heatmaps(panels, lambda gap: float(gap > 0), ("#f3f5f8", "#0b4f9e"), (0, 1))
    return [Drawing("no-reference-fooled", title, "; ".join(words) + ".", figure)]
