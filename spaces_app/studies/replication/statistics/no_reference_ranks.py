"""How well each metric's score follows the damage: rank correlations, and the step from which a loss is certain."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.contraction.growth import mean_over_clusters
from convergebench.metric_modules.nr_gap.gaps import FIRST
from scipy import special, stats

from ....analysis.analysis import Analysis
from ....analysis.tables import Column, format_value
from ....palette import MARKERS, MUTED
from ....reporting.figures import Drawing, FigureContext, add_legend, new_figure
from ....statistics import OnPage, Rows
from ..series import WITH_ORIGINAL_TITLE, ChainScores, by_source, replication_series, title_of
from . import no_reference_gaps

TITLE = "Rank correlation of scores with the damage"
SECTION = no_reference_gaps.SECTION
ON_PAGE = OnPage(order=30, part_by="program", line_where="editor")
LEVEL = 0.95
FEWEST = 3  # steps of a chain, for a rank correlation that says anything
COLUMNS = (
    Column("program", "Program", shown=False),
    Column("editor", "Editor"),
    Column("metric", "Metric"),
    Column("with_step", "With the step", "number", interval=True),
    Column("with_lpips", "With LPIPS to the original", "number", interval=True),
    Column("worse_from", "Surely worse from step", "count"),
    Column("better_from", "Surely “better” from step", "count"),
    Column("last_step", "Last step", "count"),
    Column("sources", "Sources", "count"),
    Column("chains", "Chains", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row for each metric, editor and program; limits are over sources."""
    found = []
    for place, chains in replication_series(analysis).items():
        sources = [one.source for one in chains]
        title = title_of(place.metric)
        with_lpips = [None if title == WITH_ORIGINAL_TITLE else correlation(one.by_step, one.lpips) for one in chains]
        steps = {step: float(step) for one in chains for step in one.by_step}
        found.append(
            {
                "program": place.program,
                "editor": place.editor,
                "metric": title,
                **with_limits("with_step", [correlation(one.by_step, steps) for one in chains], sources),
                **with_limits("with_lpips", with_lpips, sources),
                "worse_from": certain_from(chains, -1),
                "better_from": certain_from(chains, 1),
                "last_step": max(steps),
                "sources": len(set(sources)),
                "chains": len(chains),
            }
        )
    return found


def correlation(scores: Mapping[int, float], other: Mapping[int, float]) -> float | None:
    """Spearman's rank correlation over the steps that have both; None where either never changes."""
    steps = sorted(scores.keys() & other.keys())
    first, second = [scores[step] for step in steps], [other[step] for step in steps]
    if len(steps) < FEWEST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return float(stats.spearmanr(first, second).statistic)


def with_limits(key: str, values: Sequence[float | None], sources: Sequence[str]) -> dict[str, float | None]:
    """The mean over sources with its limits, none of them beyond a correlation's ends."""
    centre, interval = mean_over_clusters(values, sources, LEVEL)
    low, high = interval or (None, None)
    return {
        key: centre,
        f"{key}_low": None if low is None else max(low, -1.0),
        f"{key}_high": None if high is None else min(high, 1.0),
    }


def certain_from(chains: Sequence[ChainScores], sign: int) -> int | None:
    """The first step from which on, at every later step, the change since step 1 has that sign beyond its limits.

    The change of a source is the mean of its runs; limits are Student's over sources. One step that is beyond them by
    chance does not count, because all that follow have to be beyond them too.
    """
    changes: dict[int, list[float]] = {}
    for runs in by_source(chains).values():
        whole = [one for one in runs if FIRST in one.by_step]
        for step in sorted({step for one in whole for step in one.by_step} - {FIRST}):
            known = [one.by_step[step] - one.by_step[FIRST] for one in whole if step in one.by_step]
            changes.setdefault(step, []).append(sign * float(np.mean(known)))
    found = None
    for step in sorted(changes, reverse=True):
        values = np.array(changes[step])
        if len(values) < 2:
            return found
        reach = special.stdtrit(len(values) - 1, (1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(len(values))
        if values.mean() - reach <= 0:
            return found
        found = step
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "Scores are oriented so that higher is better: a metric that sees the damage has -1, one that takes it for "
        "quality has +1. From the named step on, the score is below (or above) that of step 1 at every step, "
        "beyond 95% limits over sources."
    )


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """The correlation with LPIPS to the original of every metric, editor by editor."""
    rows = [row for row in rows if row["program"] == rows[0]["program"] and row["with_lpips"] is not None]
    if not rows or not context.is_first_group:
        return []
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    editors = [editor for editor in context.looks if any(row["editor"] == editor for row in rows)]
    words = []
    figure, grid = new_figure(height=1.3 + (0.25 + 0.05 * len(editors)) * len(metrics))
    axes = grid[0, 0]
    for number, editor in enumerate(editors):
        look = context.looks[editor]
        for row in [row for row in rows if row["editor"] == editor]:
            at = metrics.index(row["metric"]) + 0.6 * (number + 0.5) / len(editors) - 0.3
            marker = MARKERS[number % len(MARKERS)] if look.is_reference else look.marker
            label = editor if row["metric"] == metrics[0] else None
            axes.plot(row["with_lpips"], at, marker=marker, color=look.colour, ls="", ms=5, label=label, zorder=3)
            if row["with_lpips_low"] is not None:
                axes.plot([row["with_lpips_low"], row["with_lpips_high"]], [at, at], color=look.colour, lw=1.4)
            words.append(f"{editor}, {row['metric']} {format_value(row['with_lpips'], 'number')}")
    axes.axvline(0, color=MUTED.light, lw=0.8)
    axes.set_xlim(-1.03, 1.03)
    axes.set_yticks(range(len(metrics)), metrics)
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    axes.set_xlabel("rank correlation with LPIPS to the original (-1: sees the damage)")
    add_legend(figure, axes)
    title = "Who follows the damage: scores without a reference against the distance to the original"
    return [Drawing("no-reference-ranks", title, "; ".join(words) + ".", figure)]
