"""Compares editors in pairs on their common cases: differences of rounds kept, sign-flip tests, verdicts and ranks.

Signs are flipped by whole sources, because chains of one source are not
independent. Nothing depends on the names or the order of editors and sources: sums
are exact, and random flips meet the rows in an order that their values decide.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import floor, fsum, log2
from typing import TypeVar

import numpy as np

LEVEL = 0.05
RANKED_FROM = 12  # sources; fewer can only indicate
_FLIPS = 20_000  # random flips, if there are too many to take all
_SETS_UP_TO = 14  # sources: 16,384 sets
_ALL_FLIPS_UP_TO = 15  # rows: 16,384 flips up to an overall sign
_SEED = 0
_EXACT_UP_TO = 40  # differences that share no coarse grid
_COARSE = 2**24  # differences times points of the grid, 20 ms
# A multiple of 1 to 20 and of 25, so that means of that many integers are integers on this grid.
_GRID = 1_163_962_800
_BLOCK = 2**20  # numbers held at once for the joint flips, 8 MB

Case = TypeVar("Case", bound=Hashable)
_RoundsKept = Mapping[Case, float | None]  # per case; None if the case failed technically


@dataclass(frozen=True)
class Comparison:
    first: str
    second: str
    cases: int  # that both have
    left_out: int  # that only one has, or that failed technically
    sources: int
    difference: float | None  # rounds that the first survives more than the second, on average over cases
    interval: tuple[float, float] | None
    p_value: float | None  # of this pair alone: no third editor moves it
    p_corrected: float | None = None  # for all pairs of the table at once; None below 12 sources
    verdict: str = "indicative"  # first, second, open; "indicative" with fewer than 12 sources
    by_source: Mapping[Hashable, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def sentence(self) -> str:
        if self.difference is None:
            return f"{self.first} and {self.second} have no test in common"
        winner, loser = (self.first, self.second) if self.difference >= 0 else (self.second, self.first)
        counts = f"{self.cases} tests on {self.sources} pictures"
        more = f"{winner} survives {abs(self.difference):.1f} rounds more than {loser}"
        word = {"indicative": "; too few pictures to rank", "open": "; no difference shown"}.get(self.verdict, "")
        return f"{more} ({counts}{word})"


def compare(
    names: tuple[str, str],
    first: _RoundsKept[Case],
    second: _RoundsKept[Case],
    source_of: Mapping[Case, Hashable],
    most: float | None = None,
) -> Comparison:
    """Differences of rounds kept on the common cases; each case weighs the same, as in the table of results.

    `most` is the largest difference that the plan allows;
    limits that data of so few sources leave open end there.
    """
    common = [case for case in first if first[case] is not None and second.get(case) is not None]
    left_out = len(first.keys() | second.keys()) - len(common)
    gains: dict[Hashable, list[float]] = {}
    for case in common:
        gains.setdefault(source_of[case], []).append(first[case] - second[case])  # type: ignore[operator]
    size, count = len(gains), len(common)
    if not size:
        return Comparison(*names, 0, left_out, 0, None, None, None)
    # Sources with more cases weigh more: the mean of these is the mean over cases.
    by_source = {source: fsum(values) * size / count for source, values in gains.items()}
    totals = np.array(list(by_source.values()))
    p = _sign_flip_p(totals)
    shares = np.array([len(values) * size / count for values in gains.values()])
    centre = fsum(totals) / len(totals)
    limits = _flip_limits(totals, shares, centre, p, most)
    return Comparison(*names, count, left_out, size, centre, limits, p, by_source=by_source)


def _flip_limits(
    totals: np.ndarray, shares: np.ndarray, centre: float, p: float, most: float | None
) -> tuple[float, float] | None:
    """All differences that the sign-flip test would not reject: the limits exclude 0 where p is at most 5%.

    A flip of the sources A reaches the observed mean if the mean over A is at most the
    tested difference, so the limits are order statistics of the means over all sets of
    sources. Reference: Hartigan, Using subsample values as typical values, JASA 64 (1969).
    """
    if len(totals) < 2:
        return None
    order = np.lexsort((shares, totals))
    few = len(totals) <= _SETS_UP_TO
    sets = _all_sets(len(totals)) if few else _random_signs(len(totals)) > 0
    weights = sets[sets.any(axis=1)].astype(float)
    means = weights @ totals[order] / (weights @ shares[order])
    place = floor((len(means) + 1) * LEVEL / 2)
    if place == 0:
        return None if most is None else (-most, most)
    means.partition([place - 1, len(means) - place])
    low, high = float(means[place - 1]), float(means[-place])
    # Where the sets are drawn, the exact p decides on which side 0 is.
    return (min(low, 0.0), max(high, 0.0)) if p > LEVEL else (low, high)


@lru_cache(maxsize=4)
def _all_sets(size: int) -> np.ndarray:
    return (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(bool)


def judge_together(pairs: Sequence[Comparison]) -> list[Comparison]:
    family = [place for place, pair in enumerate(pairs) if pair.sources >= RANKED_FROM]
    sources = list(dict.fromkeys(source for place in family for source in pairs[place].by_source))
    row_of = {source: row for row, source in enumerate(sources)}
    table = np.full((len(sources), len(family)), np.nan)
    for column, place in enumerate(family):
        by_source = pairs[place].by_source
        table[[row_of[source] for source in by_source], column] = list(by_source.values())
    judged = list(pairs)
    # A single pair has nothing to be corrected for.
    stepped = _step_down(table) if len(family) > 1 else np.zeros(len(family))
    for place, corrected in zip(family, stepped, strict=True):
        pair = pairs[place]
        p = max(float(corrected), pair.p_value)  # type: ignore[type-var]  # not None where there are sources
        judged[place] = replace(pair, p_corrected=p, verdict=_verdict(pair, p))
    return judged


def _verdict(pair: Comparison, p_value: float | None) -> str:
    if pair.sources < RANKED_FROM or p_value is None:
        return "indicative"
    if p_value > LEVEL:
        return "open"
    return "first" if pair.difference > 0 else "second"  # type: ignore[operator]  # not None where there are sources


def judge_alone(pairs: Sequence[Comparison]) -> list[Comparison]:
    """The pairs with verdicts by uncorrected p, for a fixed baseline: other editors do not change them."""
    return [replace(pair, verdict=_verdict(pair, pair.p_value)) for pair in pairs]


def rank_intervals(editors: Sequence[str], pairs: Sequence[Comparison]) -> dict[str, tuple[int, int] | None]:
    """The best and worst rank of every editor that the verdicts allow; None without a judged pair.

    The family error of the verdicts is that of all intervals together.
    Reference: Al Mohamad, Goeman and van Zwet, Journal of Multivariate Analysis 188 (2022).
    """
    better, worse = dict.fromkeys(editors, 0), dict.fromkeys(editors, 0)
    ranked: set[str] = set()
    for pair in pairs:
        if pair.verdict == "indicative":
            continue
        ranked |= {pair.first, pair.second}
        if pair.verdict != "open":
            winner, loser = (pair.first, pair.second) if pair.verdict == "first" else (pair.second, pair.first)
            worse[winner] += 1
            better[loser] += 1
    return {name: (1 + better[name], len(ranked) - worse[name]) if name in ranked else None for name in editors}


def _whole(values: np.ndarray) -> tuple[np.ndarray, float]:
    """The values as integers without a common divisor, and the largest rounding error of their sum."""
    top = float(np.abs(values).max(initial=0.0))
    if top == 0:
        return np.zeros(len(values), np.int64), 0.0
    height = log2(top * _GRID)
    scale = _GRID * 2.0 ** floor(43 - height)
    units = np.rint(values * scale).astype(np.int64)
    divisor = max(int(np.gcd.reduce(units)), 1)
    return units // divisor, len(values) / 2 / divisor


def _sign_flip_p(differences: Sequence[float] | np.ndarray) -> float:
    """Two-sided p of a mean: the share of sign patterns that give a mean at least as far from zero.

    Exact for differences on a coarse grid, as rounds kept are, and for up to 40 of any kind;
    else from seeded patterns. Reference: Fisher, The Design of Experiments (1935), section 21.

    >>> _sign_flip_p([1.0, 2.0, 3.0])
    0.25
    >>> _sign_flip_p([1.0] * 40) == 2 / 2**40
    True
    """
    values = np.asarray(differences, float)
    units, slack = _whole(values)
    sizes = np.sort(np.abs(units[units != 0]))
    observed = abs(int(units.sum())) - slack
    if observed <= 0:
        return 1.0
    if len(sizes) * int(sizes.sum()) <= _COARSE:
        tail = _grid_tail(sizes, observed)
    elif len(sizes) <= _EXACT_UP_TO:
        tail = _tail_by_halves(sizes, observed)
    else:
        return _drawn_p(np.sort(np.abs(values[units != 0])), abs(fsum(values)))
    return min(2 * tail, 1.0)


def _grid_tail(sizes: np.ndarray, observed: float) -> float:
    """The share of sign patterns whose sum is the observed one or more.

    Reference: Pagano and Tritchler, On obtaining permutation
    distributions in polynomial time, JASA 78 (1983).
    """
    total, top = int(sizes.sum()), 0
    chances = np.zeros(total + 1)
    chances[0] = 1
    for size in sizes.tolist():
        half = chances[: top + 1] / 2
        chances[: top + 1] = half
        chances[size : size + top + 1] += half
        top += size
    # Turning a size takes twice of it from the sum.
    return float(chances[: floor((total - observed) / 2) + 1].sum())


def _tail_by_halves(sizes: np.ndarray, observed: float) -> float:
    sums, other_sums = (_all_sums(sizes[start::2]) for start in (0, 1))
    below = np.searchsorted(other_sums, np.ceil(observed) - sums[::-1], side="left")
    return float((len(other_sums) - below).sum() / len(sums) / len(other_sums))


def _all_sums(sizes: np.ndarray) -> np.ndarray:
    sums = np.zeros(1, np.int64)
    for size in sizes:
        sums = np.sort(np.concatenate([sums - size, sums + size]), kind="stable")  # two ascending runs: a merge
    return sums


def _drawn_p(sizes: np.ndarray, observed: float) -> float:
    """The sizes are in ascending order, so that names do not decide their signs."""
    reached = np.abs(_random_signs(len(sizes)) @ sizes) >= observed * (1 - 1e-12)
    return float((1 + reached.sum()) / (1 + _FLIPS))


@lru_cache(maxsize=8)  # pairs of a table share few sizes; a byte a sign, 2 MB for 100 sources
def _random_signs(size: int) -> np.ndarray:
    return np.random.default_rng(_SEED).integers(0, 2, (_FLIPS, size)).astype(np.int8) * 2 - 1


def _step_down(differences: np.ndarray) -> np.ndarray:
    """p of every column, corrected for all of them: step-down max-T over joint flips of the rows.

    One row per source, one column per pair, NaN if a pair has no common case on a
    source. A flip turns a source's sign in every pair. The statistic is Student's
    t on the normal scale: pairs have different numbers of sources. Reference:
    Westfall and Young, Resampling-Based Multiple Testing (1993), algorithm 4.1.
    """
    filled = np.nan_to_num(differences)
    used = np.flatnonzero(filled.any(axis=0))
    corrected = np.ones(differences.shape[1])
    if not len(used):
        return corrected
    filled, sizes = filled[:, used], (~np.isnan(differences[:, used])).sum(axis=0)
    filled = filled[filled.any(axis=1)]
    filled = filled[_order_by_content(np.abs(filled))] / np.sqrt((filled**2).sum(axis=0))
    observed = _normal_score(filled.sum(axis=0), sizes)
    order = np.argsort(-observed, kind="stable")
    filled, sizes, observed = filled[:, order], sizes[order], observed[order]
    size = len(filled)
    all_taken = size <= _ALL_FLIPS_UP_TO
    # Up to an overall sign.
    signs = _all_sets(size)[::2] * 2.0 - 1 if all_taken else _random_signs(size)
    count, block = np.zeros(len(order)), max(_BLOCK // len(order), 1)
    for start in range(0, len(signs), block):
        scores = _normal_score(signs[start : start + block] @ filled, sizes)
        largest = np.maximum.accumulate(scores[:, ::-1], axis=1)[:, ::-1]  # over this pair and all weaker ones
        count += (largest >= observed - 1e-9).sum(axis=0)
    p = (count + (not all_taken)) / (len(signs) + (not all_taken))
    corrected[used[order]] = np.maximum.accumulate(p)
    return corrected


def _normal_score(ratios: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """|t| on the normal scale, from the sum of the differences over the root of the sum of their squares.

    Reference: Wallace, The Annals of Mathematical Statistics 30 (1959).
    """
    free = sizes - 1
    unexplained = np.maximum(1 - ratios**2 / sizes, 1e-12)
    return (8 * free + 1) / (8 * free + 3) * np.sqrt(-free * np.log(unexplained))


def _order_by_content(sizes: np.ndarray) -> np.ndarray:
    """An order of the rows by their values alone, whatever the order of rows and columns was.

    Rows get a colour by their values, columns by theirs
    and their rows' colours, rows again by their columns'.
    """
    distinct, codes = np.unique(np.round(sizes, 9), return_inverse=True)
    codes = codes.reshape(sizes.shape)
    rows = _colours(codes)
    for _ in range(2):
        columns = _colours((codes + rows[:, None] * len(distinct)).T)
        rows = _colours(codes + columns[None, :] * len(distinct))
    return np.argsort(rows, kind="stable")


def _colours(codes: np.ndarray) -> np.ndarray:
    return np.unique(np.sort(codes, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
