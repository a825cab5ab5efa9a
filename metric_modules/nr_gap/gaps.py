"""The normalised score gap as pure functions: a no-reference metric's scores of later steps against step 1."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from .ranges import PI_CAP, RANGES, metric_name

# The steps that Banana100 compares (its Table 2 and figures).
FIRST = 1
STEPS = (5, 10, 20)


def normalised(score: float, metric: str) -> float:
    """A score from 0 to 100, higher is better.

    >>> normalised(34.1, "BRISQUE")
    77.26666666666667
    """
    low, high, higher_is_better = RANGES[metric_name(metric)]
    share = (score - low) / (high - low)
    return 100 * (share if higher_is_better else 1 - share)


def series_gaps(scores: Sequence[float | None], metric: str, steps: Sequence[int]) -> dict[int, float | None]:
    measured = {step: score for step, score in zip(steps, scores, strict=False) if score is not None}
    scaled = {step: normalised(score, metric) for step, score in measured.items() if math.isfinite(score)}
    return {step: scaled[step] - scaled[FIRST] if step in scaled and FIRST in scaled else None for step in STEPS}


def nr_gap(
    series: Sequence[Sequence[float | None]],
    metrics: Sequence[str] | str,
    images: Sequence[str],
    steps: Sequence[int] = (FIRST, *STEPS),
) -> dict[str, Any]:
    """Gaps of every metric and image, and how often each sees the damage.

    >>> nr_gap([[0.8, 0.7, 0.6, 0.5]], "MUSIQ", ["fog"])["by_metric"]["MUSIQ"]["seen"]
    1
    """
    names = [metrics] * len(series) if isinstance(metrics, str) else list(metrics)
    _check(series, names, images, steps)
    runs: dict[tuple[str, str], list[dict[int, float | None]]] = defaultdict(list)
    outside = dict.fromkeys(map(metric_name, names), 0)
    for scores, name, image in zip(series, map(metric_name, names), images, strict=True):
        runs[name, image].append(series_gaps(scores, name, steps))
        low, high, _ = RANGES[name]
        outside[name] += sum(score is not None and (score < low or score > high) for score in scores)
    gaps = []
    for (name, image), gaps_of_runs in runs.items():
        for step in STEPS:
            measured = [gap for run in gaps_of_runs if (gap := run[step]) is not None]
            mean = fmean(measured) if measured else None
            gaps.append({"metric": name, "image": image, "step": step, "gap": mean, "runs": len(gaps_of_runs)})
    return {
        "gaps": gaps,
        "by_metric": _counts(gaps, "metric"),
        "by_image": _counts(gaps, "image"),
        "out_of_range": outside,
        "signature": f"gap to step {FIRST} at {','.join(map(str, STEPS))}|PI capped at {PI_CAP:g}",
    }


def _counts(gaps: Sequence[dict[str, Any]], by: str) -> dict[str, dict[str, int]]:
    kinds = ("success", "failure", "tie", "unmeasured", "seen", "cases")
    table: dict[str, dict[str, int]] = {row[by]: dict.fromkeys(kinds, 0) for row in gaps}
    for place in range(0, len(gaps), len(STEPS)):  # the gaps of a case follow each other
        case = gaps[place : place + len(STEPS)]
        counts = table[case[0][by]]
        for gap in (row["gap"] for row in case):
            counts["unmeasured" if gap is None else "success" if gap < 0 else "failure" if gap > 0 else "tie"] += 1
        counts["cases"] += 1
        counts["seen"] += all(row["gap"] is not None and row["gap"] < 0 for row in case)
    return table


def _check(series: Sequence, names: Sequence[str], images: Sequence[str], steps: Sequence[int]) -> None:
    if not len(series):
        raise ValueError("no series were given; the gap needs at least one list of scores")
    if len(names) != len(series) or len(images) != len(series):
        raise ValueError(
            f"{len(series)} series with {len(names)} metrics and {len(images)} images; each series has one of both"
        )
    if FIRST not in steps or len(set(steps)) != len(steps):
        raise ValueError(f"steps are {list(steps)}; they name each step once, and step {FIRST} is among them")
    longest = max(len(scores) for scores in series)
    if longest > len(steps):
        raise ValueError(f"a series of {longest} scores was given with {len(steps)} steps; it has one score per step")
