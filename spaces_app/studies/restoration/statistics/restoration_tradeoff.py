"""Perception against distortion: do prompts that look better without a reference stray further from the truth?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import drawn_clusters
from scipy import stats

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....reporting.figures import SMALL, Drawing, FigureContext, add_legend, new_figure
from ....statistics import OnPage, Rows
from ..prompts import prompt_group, prompt_name, prompt_scores
from ..restored import RestoredSet, better_sign, each_method, is_mean, metric_title, needs_clean

TITLE = "Perception against distortion"
SECTION = "Restoration"
LEAST = 4  # prompts for a correlation
ON_PAGE = OnPage(order=28, part_by="editor", folded=True)
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("distortion", "Fidelity by"),
    Column("perception", "Looks by"),
    Column("correlation", "Rank correlation over prompts", "signed", interval=True),
    Column("best_looking", "Best-looking prompt"),
    Column("its_place", "Its place in fidelity", "count"),
    Column("prompts", "Prompts", "count"),
    Column("clean", "Clean pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method and pair of a metric that needs the clean picture and one that needs none.

    Both are turned so that higher is better: a negative correlation is a trade-off.
    """
    return each_method(analysis, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    prompts = [prompt for prompt in each.prompts(method) if prompt]
    scores = prompt_scores(each, method, prompts if len(prompts) >= LEAST else [])
    means = {one: {metric: float(values[place].mean()) for metric, values in scores.values.items()}
             for place, one in enumerate(scores.prompts)}  # fmt: skip
    there = list(means[prompts[0]]) if means else []
    found = []
    for distortion in [metric for metric in there if needs_clean(metric)]:
        for perception in [metric for metric in there if not needs_clean(metric)]:
            pair = (distortion, perception)
            sides = [[better_sign(metric) * means[one][metric] for one in prompts] for metric in pair]
            if any(len(set(side)) == 1 for side in sides):
                continue  # an editor that does not look at the words
            low, high = limits(each, method, prompts, pair) or (None, None)
            best = int(np.argmax(sides[1]))
            found.append(
                {
                    "distortion": metric_title(distortion),
                    "perception": metric_title(perception),
                    "correlation": float(stats.spearmanr(*sides).statistic),
                    "correlation_low": low,
                    "correlation_high": high,
                    "best_looking": prompt_name(prompts[best]),
                    "its_place": 1 + sum(value > sides[0][best] for value in sides[0]),
                    "prompts": len(prompts),
                    "clean": each.counts([each.by_picture(method, one, distortion) for one in prompts])["clean"],
                    "points": [
                        (prompt_group(one), prompt_name(one), means[one][distortion], means[one][perception])
                        for one in prompts
                    ],
                }
            )
    return found


def limits(each: RestoredSet, method: str, prompts: Sequence[str], pair: tuple[str, str]) -> tuple[float, float] | None:
    """The middle 95% of the correlation when clean pictures are drawn again."""
    sums, counts = [], []
    for metric in pair:
        parts = [each.by_picture(method, one, metric) for one in prompts]
        names = sorted(set.intersection(*(set(part) for part in parts)))
        if any(map(is_mean, names)):
            return None
        clean = sorted({each.clean_of[name] for name in each.clean_of})
        place = {name: number for number, name in enumerate(clean)}
        own = np.zeros((len(prompts), len(clean)))
        size = np.zeros(len(clean))
        for name in names:
            size[place[each.clean_of[name]]] += 1
            own[:, place[each.clean_of[name]]] += [better_sign(metric) * part[name] for part in parts]
        sums.append(own)
        counts.append(size)
    if len(counts[0]) < 2:
        return None
    drawn = drawn_clusters(len(counts[0]))
    with np.errstate(invalid="ignore", divide="ignore"):
        ranks = [stats.rankdata(drawn @ own.T / (drawn @ size)[:, None], axis=1)
                 for own, size in zip(sums, counts, strict=True)]  # fmt: skip
        centred = [each - each.mean(axis=1, keepdims=True) for each in ranks]
        norms = np.sqrt((centred[0] ** 2).sum(1) * (centred[1] ** 2).sum(1))
        found = (centred[0] * centred[1]).sum(1) / norms
    known = found[np.isfinite(found)]
    return (float(np.quantile(known, 0.025)), float(np.quantile(known, 0.975))) if len(known) else None


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    trades = [row for row in rows if row["correlation"] < 0]
    last = [row for row in rows if row["its_place"] == row["prompts"]]
    words = (
        "Both metrics of a pair are turned so that higher is better: below zero, prompts that look better without a "
        f"reference are further from the truth. That is so in {len(trades)} of {len(rows)} pairs"
    )
    if last:
        words += (
            f"; in {len(last)} the best-looking prompt is the least faithful of all "
            f"({', '.join(sorted({str(row['best_looking']) for row in last}))})"
        )
    return f"{words}. Ranges draw clean pictures again."


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """Each method's prompts as points: fidelity across, looks up."""
    from matplotlib.ticker import MaxNLocator

    from ....palette import SERIES

    found = []
    for number, own in enumerate(first_pairs(rows), 1):
        figure, grid = new_figure(height=3.4)
        axes = grid[0, 0]
        groups = list(dict.fromkeys(point[0] for point in own["points"]))
        for place, group in enumerate(groups):
            points = [point for point in own["points"] if point[0] == group]
            colour = SERIES[place % len(SERIES)].light
            axes.plot([p[2] for p in points], [p[3] for p in points], "o", color=colour, ms=7, label=group or "prompts")
            for _, name, across, up in points:
                axes.annotate(name, (across, up), (5, 4), textcoords="offset points", fontsize=SMALL)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_xlabel(own["distortion"])
        axes.set_ylabel(own["perception"])
        add_legend(figure, axes, columns=4)
        words = f"{own['editor']}: rank correlation over {own['prompts']} prompts {own['correlation']:+.2f}."
        found.append(Drawing(f"restoration-tradeoff-{number}", f"{own['perception']} against {own['distortion']} "
                             f"of each prompt, {own['editor']}", words, figure))  # fmt: skip
    return found


def first_pairs(rows: Rows) -> list[Any]:
    """Of each method and table the first pair of metrics."""
    return list({(row["table"], row["editor"]): row for row in reversed(rows)}.values())[::-1]
