"""How far people agree: Krippendorff's alpha, with limits from pictures drawn again."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from convergebench.metric_modules.halflife.intervals import drawn_clusters, membership

MEASURES = ("nominal", "ordinal", "interval")
Unit = Sequence[Hashable]  # the answers that one item was given, by whomever


class Agreement(NamedTuple):
    """Alpha is 1 where all agree and 0 where they do as by chance; None where nothing was answered in two ways."""

    alpha: float | None
    low: float | None
    high: float | None
    items: int  # that two or more people answered
    answers: int  # to those


def coincidences(units: Sequence[Unit], values: Sequence[Hashable]) -> np.ndarray:
    """For each unit, how often each pair of values meets in it: pairs of different people, over one less than people.

    Reference: Krippendorff, Computing Krippendorff's alpha-reliability (2011).
    """
    place = {value: number for number, value in enumerate(values)}
    found = np.zeros((len(units), len(values), len(values)))
    for number, unit in enumerate(units):
        counts = np.bincount([place[value] for value in unit], minlength=len(values)).astype(float)
        found[number] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return found


def distances(values: Sequence[Hashable], totals: np.ndarray, measure: str) -> np.ndarray:
    """How far two values are apart, squared."""
    size = len(values)
    if measure == "nominal":
        return 1.0 - np.eye(size)
    if measure == "interval":
        numbers = np.array(values, float)
        return np.square(numbers[:, None] - numbers)
    before = np.concatenate([[0.0], totals.cumsum()])  # ordinal: how many answers lie between the two
    middle = (before[:-1] + before[1:]) / 2
    return np.square(middle[:, None] - middle)


def alpha_of(meetings: np.ndarray, values: Sequence[Hashable], measure: str) -> float | None:
    """Alpha of one matrix of coincidences."""
    totals = meetings.sum(axis=0)
    apart = distances(values, totals, measure)
    expected = float((np.outer(totals, totals) * apart).sum())
    if expected == 0:
        return None
    return 1 - (totals.sum() - 1) * float((meetings * apart).sum()) / expected


def krippendorff_alpha(units: Sequence[Unit], measure: str = "nominal") -> float | None:
    """Krippendorff's alpha; items with a single answer say nothing and are left out.

    >>> round(krippendorff_alpha([["a", "a"], ["a", "b"], ["b", "b"], ["b"]]), 3)
    0.444
    """
    return agreement(units, measure=measure, limits=False).alpha


def agreement(
    units: Sequence[Unit],
    clusters: Sequence[Hashable] | None = None,
    measure: str = "nominal",
    limits: bool = True,
) -> Agreement:
    """Alpha with the middle 95% of its values when clusters (the pictures that items are of) are drawn again."""
    if measure not in MEASURES:
        raise ValueError(f"no measure {measure!r}; it is one of {', '.join(MEASURES)}")
    clusters = clusters if clusters is not None else list(range(len(units)))
    kept = [(unit, cluster) for unit, cluster in zip(units, clusters, strict=True) if len(unit) > 1]
    answers = sum(len(unit) for unit, _ in kept)
    values = sorted({value for unit, _ in kept for value in unit}, key=lambda value: (str(type(value)), value))
    if not kept:
        return Agreement(None, None, None, 0, 0)
    parts = coincidences([unit for unit, _ in kept], values)
    found = alpha_of(parts.sum(axis=0), values, measure)
    member = membership([cluster for _, cluster in kept])
    low = high = None
    if limits and found is not None and len(member) > 1:
        by_cluster = (member @ parts.reshape(len(kept), -1)).reshape(len(member), *parts.shape[1:])
        drawn = np.tensordot(drawn_clusters(len(member)), by_cluster, axes=1)
        alphas = [each for matrix in drawn if (each := alpha_of(matrix, values, measure)) is not None]
        if alphas:
            low, high = (float(each) for each in np.quantile(alphas, [0.025, 0.975]))
    return Agreement(found, low, high, len(kept), answers)
