"""Perception against distortion: do prompts that look better without a reference stray further from the truth?"""

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np
from convergebench.metric_modules.halflife.intervals import drawn_clusters
from scipy import stats

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, column, estimate
from ....palette import SERIES
from ....reporting.figures import SMALL, Drawing, FigureContext, add_legend, new_figure
from ....statistics import OnPage
from ..prompts import prompt_group, prompt_name, prompt_scores
from ..restored import MethodRow, RestoredSet, better_sign, is_mean, methods_by_table, metric_title, needs_clean

TITLE = "Perception against distortion"
SECTION = "Restoration"
ON_PAGE = OnPage(order=28, part_by="editor", folded=True)
_FEWEST = 4  # prompts for a correlation


class _Point(NamedTuple):
    """One prompt in the figure."""

    group: str
    prompt: str
    distortion: float
    perception: float


class Row(MethodRow):
    distortion: str = column("Fidelity by")
    perception: str = column("Looks by")
    correlation: Estimate = column("Rank correlation over prompts", "signed")
    best_looking: str = column("Best-looking prompt")
    its_place: int = column("Its place in fidelity", "count")
    prompts: int = column("Prompts", "count")
    clean: int | None = column("Clean pictures", "count")
    points: list[_Point] = field(default_factory=list)


def rows(analysis: Analysis) -> list[Row]:
    """A row for each method and pair of a metric that needs the clean picture and one that needs none.

    Both are turned so that higher is better: a negative correlation is a trade-off.
    """
    return [row for table, method in methods_by_table(analysis) for row in _method_rows(table, method)]


def _method_rows(table: RestoredSet, method: str) -> list[Row]:
    prompts = [prompt for prompt in table.prompts(method) if prompt]
    if len(prompts) < _FEWEST:
        return []
    means = {metric: values.mean(axis=1) for metric, values in prompt_scores(table, method, prompts).values.items()}
    rows = []
    for distortion in [metric for metric in means if needs_clean(metric)]:
        for perception in [metric for metric in means if not needs_clean(metric)]:
            fidelity, looks = (better_sign(metric) * means[metric] for metric in (distortion, perception))
            if len({*fidelity}) == 1 or len({*looks}) == 1:
                continue  # an editor that does not look at the words
            best = int(np.argmax(looks))
            correlation = float(stats.spearmanr(fidelity, looks).statistic)
            rows.append(
                Row(
                    table=table.name or None,
                    editor=method,
                    distortion=metric_title(distortion),
                    perception=metric_title(perception),
                    correlation=estimate(correlation, _limits(table, method, prompts, (distortion, perception))),
                    best_looking=prompt_name(prompts[best]),
                    its_place=1 + int((fidelity > fidelity[best]).sum()),
                    prompts=len(prompts),
                    clean=table.counts([table.by_picture(method, prompt, distortion) for prompt in prompts])[1],
                    points=[
                        _Point(prompt_group(prompt), prompt_name(prompt), float(across), float(up))
                        for prompt, across, up in zip(prompts, means[distortion], means[perception], strict=True)
                    ],
                )
            )
    return rows


def _limits(
    table: RestoredSet, method: str, prompts: Sequence[str], metrics: tuple[str, str]
) -> tuple[float, float] | None:
    """The middle 95% of the correlation over bootstrap samples of the clean pictures."""
    clean = {name: place for place, name in enumerate(sorted({*table.clean_of.values()}))}
    if len(clean) < 2:
        return None
    drawn = drawn_clusters(len(clean))
    ranks = []
    for metric in metrics:
        parts = [table.by_picture(method, prompt, metric) for prompt in prompts]
        common = sorted(set.intersection(*(set(part) for part in parts)))
        if any(map(is_mean, common)):
            return None
        sums, sizes = np.zeros((len(prompts), len(clean))), np.zeros(len(clean))
        for picture in common:
            place = clean[table.clean_of[picture]]
            sizes[place] += 1
            sums[:, place] += [better_sign(metric) * part[picture] for part in parts]
        with np.errstate(invalid="ignore", divide="ignore"):  # a sample may hold no picture of a metric
            ranks.append(stats.rankdata(drawn @ sums.T / (drawn @ sizes)[:, None], axis=1))
    first, second = (rank - rank.mean(axis=1, keepdims=True) for rank in ranks)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = (first * second).sum(1) / np.sqrt((first**2).sum(1) * (second**2).sum(1))
    finite = correlations[np.isfinite(correlations)]
    return (float(np.quantile(finite, 0.025)), float(np.quantile(finite, 0.975))) if len(finite) else None


def note(analysis: Analysis, rows: list[Row]) -> str:
    if not rows:
        return ""
    trades = sum(row.correlation.value < 0 for row in rows)
    least_faithful = [row.best_looking for row in rows if row.its_place == row.prompts]
    words = (
        "Both metrics of a pair are turned so that higher is better: below zero, prompts that look better without a "
        f"reference are further from the truth. That is so in {trades} of {len(rows)} pairs"
    )
    if least_faithful:
        names = ", ".join(sorted(set(least_faithful)))
        words += f"; in {len(least_faithful)} the best-looking prompt is the least faithful of all ({names})"
    return f"{words}. Ranges draw clean pictures again."


def figures(rows: list[Row], context: FigureContext) -> list[Drawing]:
    """Each method's prompts as points, of its first pair of metrics: fidelity across, looks up."""
    from matplotlib.ticker import MaxNLocator

    first_pairs = list({(row.table, row.editor): row for row in reversed(rows)}.values())[::-1]
    drawings = []
    for number, row in enumerate(first_pairs, 1):
        figure, grid = new_figure(height=3.4)
        axes = grid[0, 0]
        for place, group in enumerate(dict.fromkeys(point.group for point in row.points)):
            points = [point for point in row.points if point.group == group]
            colour = SERIES[place % len(SERIES)].light
            across, up = [point.distortion for point in points], [point.perception for point in points]
            axes.plot(across, up, "o", color=colour, ms=7, label=group or "prompts")
            for point in points:
                at = point.distortion, point.perception
                axes.annotate(point.prompt, at, (5, 4), textcoords="offset points", fontsize=SMALL)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_xlabel(row.distortion)
        axes.set_ylabel(row.perception)
        add_legend(figure, axes, columns=4)
        title = f"{row.perception} against {row.distortion} of each prompt, {row.editor}"
        words = f"{row.editor}: rank correlation over {row.prompts} prompts {row.correlation.value:+.2f}."
        drawings.append(Drawing(f"restoration-tradeoff-{number}", title, words, figure))
    return drawings
