"""Perception against distortion: do prompts that look better without a reference stray further from the truth?"""

from collections.abc import Sequence

import numpy as np
from convergebench.metric_modules.halflife.intervals import drawn_clusters
from scipy import stats

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, column, estimate
from ....statistics import OnPage
from ..prompts import prompt_name, prompt_scores
from ..restored import MethodRow, RestoredSet, better_sign, is_mean, methods_by_table, metric_title, needs_clean

TITLE = "Perception against distortion"
SECTION = "Restoration"
ON_PAGE = OnPage(order=28, part_by="editor", folded=True)
_FEWEST = 4  # prompts: a rank correlation of three has only four values


class Row(MethodRow):
    distortion: str = column("Fidelity by")
    perception: str = column("Looks by")
    correlation: Estimate = column("Rank correlation over prompts", "signed")
    best_looking: str = column("Best-looking prompt")
    its_place: int = column("Its rank in fidelity", "count")
    prompts: int = column("Prompts", "count")
    clean: int | None = column("Clean pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each method and pair of a metric that needs the clean picture and one that needs none.

    Both are oriented so that higher is better: a negative correlation is a trade-off.
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
            fidelity, appearance = (better_sign(metric) * means[metric] for metric in (distortion, perception))
            if len({*fidelity}) == 1 or len({*appearance}) == 1:
                continue  # an editor that ignores the prompt
            best = int(np.argmax(appearance))
            correlation = float(stats.spearmanr(fidelity, appearance).statistic)
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
        "Both metrics of a pair are oriented so that higher is better: below zero, prompts that look better without a "
        f"reference are further from the truth. This holds in {trades} of {len(rows)} pairs"
    )
    if least_faithful:
        names = ", ".join(sorted(set(least_faithful)))
        words += f"; in {len(least_faithful)} the best-looking prompt is the least faithful of all ({names})"
    return f"{words}. Ranges resample clean pictures."
