"""What choosing the best prompt is worth: chosen on one half of the clean pictures, reported on the other."""

from collections import Counter
from typing import Any

import numpy as np

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import best_prompts, prompt_name, prompt_scores, prompts_to_choose_from
from ..restored import RestoredSet, better_sign, each_method, metric_title

TITLE = "The best prompt, chosen on one half and reported on the other"
SECTION = "Restoration"
HALVINGS = 100
OVERALL = "all metrics (mean rank)"
ON_PAGE = OnPage(order=25, part_by="editor", folded=True)
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("by", "Chosen by"),
    Column("prompt", "Mostly chosen"),
    Column("share", "in so many halvings", "share"),
    Column("metric", "Metric"),
    Column("inside", "On the half of the choice", "score"),
    Column("outside", "On the other half", "score"),
    Column("gain_inside", "Better than the mean prompt there by", "score"),
    Column("gain_outside", "and on the other half by", "score"),
    Column("clean", "Clean pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method and metric, chosen by that metric; then one for each metric chosen by all together."""
    return each_method(analysis, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    known = prompt_scores(each, method, prompts_to_choose_from(each, method))
    names = known.clean_pictures
    if len(known.prompts) < 2 or len(names) < 4:
        return []
    first = np.array([np.random.default_rng(seed).permutation(len(names)) % 2 == 0 for seed in range(HALVINGS)])
    inside = {metric: known.means(metric, first) for metric in known.values}
    outside = {metric: known.means(metric, ~first) for metric in known.values}
    found = []
    for by in (*known.values, OVERALL):
        wanted = [by] if by != OVERALL else list(known.values)
        whole = np.all(
            [np.isfinite(half[metric]).all(axis=1) for half in (inside, outside) for metric in wanted], axis=0
        )
        if not whole.any():
            continue
        picked = best_prompts({metric: inside[metric][whole] for metric in wanted})
        [(most, times)] = Counter(picked.tolist()).most_common(1)
        for metric in wanted:
            halves = inside[metric][whole], outside[metric][whole]
            of_choice = [half[np.arange(len(picked)), picked] for half in halves]
            gains = [
                better_sign(metric) * float((own - half.mean(axis=1)).mean())
                for own, half in zip(of_choice, halves, strict=True)
            ]
            found.append(
                {
                    "by": metric_title(by) if by != OVERALL else OVERALL,
                    "prompt": prompt_name(known.prompts[most]),
                    "share": times / len(picked),
                    "metric": metric_title(metric),
                    "inside": float(of_choice[0].mean()),
                    "outside": float(of_choice[1].mean()),
                    "gain_inside": gains[0],
                    "gain_outside": gains[1],
                    "clean": len(names),
                }
            )
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        f"The clean pictures are halved at random {HALVINGS} times. What a chosen prompt scores on the half it was "
        "chosen on flatters it; what it scores on the other half can be expected of it."
    )
