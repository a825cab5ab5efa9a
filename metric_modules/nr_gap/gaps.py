"""The normalised score gap: a no-reference metric's scores of later steps against step 1.

`TABLE` has the no-reference metrics of Banana100's Table 2: name, typical range, direction, what computes each here.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

# The steps that Banana100 compares (its Table 2 and figures).
FIRST = 1
STEPS = (5, 10, 20)
# The perceptual index ((10 - NRQM) + NIQE) / 2 has no upper bound of its own; the ranges of its parts end it here.
PI_CAP = 55.0


class _NoReference(NamedTuple):
    name: str
    column: str  # of the scores, and the metric's name for `convergebench score --metrics`
    low: float
    high: float
    higher_is_better: bool
    computed_by: str  # "here": a folder of its own; or the library that has it: "pyiqa" or "transformers"
    library_name: str = ""  # what that library calls it: a metric of pyiqa, a repository of the Hub


TABLE = (
    _NoReference("ARNIQA", "arniqa", 0, 1, True, "pyiqa", "arniqa"),
    _NoReference("BRISQUE", "brisque", 0, 150, False, "here"),
    _NoReference("CLIPIQA", "clipiqa", 0, 1, True, "pyiqa", "clipiqa"),
    _NoReference("CNNIQA", "cnniqa", 0, 1, True, "pyiqa", "cnniqa"),
    _NoReference("DBCNN", "dbcnn", 0, 1, True, "pyiqa", "dbcnn"),
    _NoReference("HyperIQA", "hyperiqa", 0, 1, True, "pyiqa", "hyperiqa"),
    _NoReference("ILNIQE", "ilniqe", 0, 100, False, "pyiqa", "ilniqe"),
    _NoReference("LIQE", "liqe", 1, 5, True, "pyiqa", "liqe"),
    _NoReference("MANIQA", "maniqa", 0, 1, True, "pyiqa", "maniqa"),
    _NoReference("MUSIQ", "musiq", 0, 100, True, "pyiqa", "musiq"),
    _NoReference("NIMA", "nima", 0, 10, True, "pyiqa", "nima"),
    _NoReference("NIQE", "niqe", 0, 100, False, "here"),
    _NoReference("NRQM", "nrqm", 0, 10, True, "pyiqa", "nrqm"),
    _NoReference("PaQ-2-PiQ", "paq2piq", 0, 100, True, "pyiqa", "paq2piq"),
    _NoReference("PI", "pi", 0, PI_CAP, False, "pyiqa", "pi"),
    _NoReference("PIQE", "piqe", 0, 100, False, "here"),
    _NoReference("Q-Align", "qalign", 1, 5, True, "pyiqa", "qalign"),
    _NoReference("QualiCLIP", "qualiclip", 0, 1, True, "pyiqa", "qualiclip"),
    _NoReference("TOPIQ_NR", "topiq_nr", 0, 1, True, "pyiqa", "topiq_nr"),
    _NoReference("TReS", "tres", 0, 100, True, "pyiqa", "tres"),
    _NoReference("WaDIQaM", "wadiqam", -1, 0.1, True, "pyiqa", "wadiqam_nr"),
    _NoReference("VisualQuality-R1", "visualquality_r1", 1, 5, True, "transformers", "TianheWu/VisualQuality-R1-7B"),
    _NoReference("RALI", "rali", 1, 5, True, "transformers", "ByteDance/Q-Insight"),
)
RANGES = {row.name: (row.low, row.high, row.higher_is_better) for row in TABLE}
COLUMNS = {row.column: row for row in TABLE}


def plain(name: str) -> str:
    """Names are compared by letters and digits alone: 'topiq_nr' is 'TOPIQ NR'."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


BY_PLAIN_NAME = {plain(name): name for name in RANGES}


def metric_name(name: str) -> str:
    if plain(name) not in BY_PLAIN_NAME:
        raise ValueError(f"no metric {name!r} with a known range; the metrics are {', '.join(RANGES)}")
    return BY_PLAIN_NAME[plain(name)]


def normalised(score: float, metric: str) -> float:
    """A score from 0 to 100, higher is better.

    >>> normalised(34.1, "BRISQUE")
    77.26666666666667
    """
    low, high, higher_is_better = RANGES[metric_name(metric)]
    share = (score - low) / (high - low)
    return 100 * (share if higher_is_better else 1 - share)


def _series_gaps(scores: Sequence[float | None], metric: str, steps: Sequence[int]) -> dict[int, float | None]:
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
        runs[name, image].append(_series_gaps(scores, name, steps))
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
