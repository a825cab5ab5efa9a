"""The normalised score gap as pure functions: a no-reference metric's scores of later steps against step 1."""

import math
from collections.abc import Sequence
from typing import Literal, TypedDict

from .ranges import PI_CAP, RANGES, metric_name

# The steps that Banana100 compares (its Table 2 and figures).
FIRST = 1
STEPS = (5, 10, 20)


class Gap(TypedDict):
    """A metric's gap on one image between step 1 and a later one."""

    metric: str
    image: str
    step: int
    gap: float | None
    runs: int


def normalised(score: float, metric: str, clamp: bool = False) -> float:
    """A score on the scale from 0 to 100 on which higher is better: 100 (score - low) / (high - low), or its mirror.

    >>> normalised(34.1, "BRISQUE"), normalised(-9.8, "BRISQUE", clamp=True)
    (77.26666666666667, 100.0)
    """
    low, high, higher_is_better = RANGES[metric_name(metric)]
    share = (score - low) / (high - low)
    share = share if higher_is_better else 1 - share
    return 100 * (min(max(share, 0.0), 1.0) if clamp else share)


def series_gaps(
    scores: Sequence[float | None], metric: str, steps: Sequence[int], clamp: bool = False
) -> dict[int, float | None]:
    """One series: normalised score at 5, 10 and 20 minus that at 1; None if either is missing."""
    scaled = {
        step: normalised(score, metric, clamp)
        for step, score in zip(steps, scores, strict=False)
        if score is not None and math.isfinite(score)
    }
    return {step: scaled[step] - scaled[FIRST] if step in scaled and FIRST in scaled else None for step in STEPS}


def nr_gap(
    series: Sequence[Sequence[float | None]],
    metrics: Sequence[str] | str,
    images: Sequence[str],
    steps: Sequence[int] = (FIRST, *STEPS),
    clamp: bool = False,
) -> dict[str, object]:
    """Gaps of every metric and image, and how often each sees the damage; -100..100 where scores keep their range.

    >>> nr_gap([[0.8, 0.7, 0.6, 0.5]], "MUSIQ", ["fog"])["by_metric"]["MUSIQ"]["seen"]
    1
    """
    names = [metrics] * len(series) if isinstance(metrics, str) else list(metrics)
    _check(series, names, images, steps)
    runs: dict[tuple[str, str], list[dict[int, float | None]]] = {}
    outside = dict.fromkeys(map(metric_name, names), 0)
    for scores, metric, image in zip(series, names, images, strict=True):
        name = metric_name(metric)
        runs.setdefault((name, image), []).append(series_gaps(scores, name, steps, clamp))
        low, high, _ = RANGES[name]
        outside[name] += sum(score is not None and not low <= score <= high for score in scores if score == score)
    gaps: list[Gap] = [
        {
            "metric": name,
            "image": image,
            "step": step,
            "gap": average([run[step] for run in gaps_of_runs]),
            "runs": len(gaps_of_runs),
        }
        for (name, image), gaps_of_runs in runs.items()
        for step in STEPS
    ]
    return {
        "gaps": gaps,
        "by_metric": counts(gaps, "metric"),
        "by_image": counts(gaps, "image"),
        "out_of_range": outside,
        "signature": f"gap to step {FIRST} at {','.join(map(str, STEPS))}|clamp={clamp}|PI capped at {PI_CAP:g}",
    }


def average(values: Sequence[float | None]) -> float | None:
    """The mean over the runs that have the gap."""
    measured = [value for value in values if value is not None]
    return math.fsum(measured) / len(measured) if measured else None


def counts(gaps: Sequence[Gap], by: Literal["metric", "image"]) -> dict[str, dict[str, int]]:
    """Gaps that succeed (below zero), fail (above), tie or are missing, and the cases in which all three succeed."""
    table: dict[str, dict[str, int]] = {}
    cases: dict[tuple[str, str], list[float | None]] = {}
    for row_of_gap in gaps:
        row = table.setdefault(
            row_of_gap[by], {"success": 0, "failure": 0, "tie": 0, "unmeasured": 0, "seen": 0, "cases": 0}
        )
        gap = row_of_gap["gap"]
        row["unmeasured" if gap is None else "success" if gap < 0 else "failure" if gap > 0 else "tie"] += 1
        cases.setdefault((row_of_gap["metric"], row_of_gap["image"]), []).append(gap)
    for (metric, image), gaps_of_case in cases.items():
        row = table[metric if by == "metric" else image]
        row["cases"] += 1
        row["seen"] += all(gap is not None and gap < 0 for gap in gaps_of_case)
    return table


def _check(series: Sequence, names: Sequence[str], images: Sequence[str], steps: Sequence[int]) -> None:
    """Every refusal is one sentence."""
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
