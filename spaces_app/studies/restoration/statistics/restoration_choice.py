"""The gain from choosing the best prompt: chosen on one half of the clean pictures, reported on the other."""

from collections import Counter

import numpy as np

from ....analysis.analysis import Analysis
from ....analysis.tables import column
from ....statistics import OnPage
from ..prompts import best_prompts, prompt_name, prompt_scores, prompts_to_choose_from
from ..restored import MethodRow, RestoredSet, better_sign, methods_by_table, metric_title

TITLE = "The best prompt, chosen on one half and reported on the other"
SECTION = "Restoration"
ON_PAGE = OnPage(order=25, part_by="editor", folded=True)
_HALVINGS = 100
_ALL = "all metrics (mean rank)"
NOTE = (
    f"The clean pictures are halved at random {_HALVINGS} times. Gains are over the mean of all prompts. A prompt's "
    "score on the half that it was chosen on is too high; its score on the held-out half is what to expect."
)


class Row(MethodRow):
    by: str = column("Chosen by")
    prompt: str = column("Mostly chosen")
    share: float = column("Share of halvings", "share")
    metric: str = column("Metric")
    inside: float = column("Score (selection half)", "score")
    outside: float = column("Score (held-out half)", "score")
    gain_inside: float = column("Gain (selection half)", "score")
    gain_outside: float = column("Gain (held-out half)", "score")
    clean: int = column("Clean pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each method and metric, chosen by that metric; then one for each metric, chosen by all together."""
    return [row for table, method in methods_by_table(analysis) for row in _method_rows(table, method)]


def _method_rows(table: RestoredSet, method: str) -> list[Row]:
    scores = prompt_scores(table, method, prompts_to_choose_from(table, method))
    pictures = scores.clean_pictures
    if len(scores.prompts) < 2 or len(pictures) < 4:
        return []
    selection = np.array([np.random.default_rng(seed).permutation(len(pictures)) % 2 == 0 for seed in range(_HALVINGS)])
    halves = [{metric: scores.means(metric, marks) for metric in scores.values} for marks in (selection, ~selection)]
    rows = []
    for by in (*scores.values, _ALL):
        metrics = list(scores.values) if by == _ALL else [by]
        # A half may hold no picture with a clean one: such a halving is left out.
        usable = np.all([np.isfinite(half[metric]).all(axis=1) for half in halves for metric in metrics], axis=0)
        if not usable.any():
            continue
        chosen = best_prompts({metric: halves[0][metric][usable] for metric in metrics})
        [(most, times)] = Counter(chosen.tolist()).most_common(1)
        for metric in metrics:
            of_all = [half[metric][usable] for half in halves]
            of_chosen = [means[np.arange(len(chosen)), chosen] for means in of_all]
            gains = [
                better_sign(metric) * float((best - means.mean(axis=1)).mean())
                for best, means in zip(of_chosen, of_all, strict=True)
            ]
            rows.append(
                Row(
                    table=table.name or None,
                    editor=method,
                    by=_ALL if by == _ALL else metric_title(by),
                    prompt=prompt_name(scores.prompts[most]),
                    share=times / len(chosen),
                    metric=metric_title(metric),
                    inside=float(of_chosen[0].mean()),
                    outside=float(of_chosen[1].mean()),
                    gain_inside=gains[0],
                    gain_outside=gains[1],
                    clean=len(pictures),
                )
            )
    return rows
