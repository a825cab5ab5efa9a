"""Sign-flip tests: of one mean of differences exactly, of many means at once by step-down max-T.

Nothing depends on the names or the order of rows and columns: sums are exact, and random flips meet the rows in an
order that their values alone decide.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import floor, fsum, log2

import numpy as np

_FLIPS = 20_000  # random flips, if there are too many to take all
_ALL_FLIPS_UP_TO = 15  # rows: 16,384 flips up to an overall sign
_SEED = 0
_EXACT_UP_TO = 40  # differences that share no coarse grid
_COARSE = 2**24  # differences times points of the grid, 20 ms
_GRID = 1_163_962_800  # a multiple of 1 to 20 and of 25, so that means of that many integers are integers on this grid
_BLOCK = 2**20  # numbers held at once for the joint flips, 8 MB


def _whole(values: np.ndarray) -> tuple[np.ndarray, float]:
    """The values as integers without a common divisor, and the largest rounding error of their sum.

    Sums of integers do not depend on their order. Means of up to 20 (or 25) integers are exact.
    """
    top = float(np.abs(values).max(initial=0.0))
    if top == 0:
        return np.zeros(len(values), np.int64), 0.0
    height = log2(top * _GRID)
    scale = _GRID * 2.0 ** (floor(40 - height) if height < 40 or height > 46 else 0)
    units = np.rint(values * scale).astype(np.int64)
    divisor = max(int(np.gcd.reduce(units)), 1)
    return units // divisor, len(values) / 2 / divisor


def sign_flip_p(differences: Sequence[float] | np.ndarray) -> float:
    """Two-sided p of a mean of differences: the share of sign patterns that give a mean at least as far from zero.

    Exact for any number of differences that share a coarse grid, as rounds kept do, and for up to 40 of any kind.
    Otherwise from 20,000 seeded patterns, with the observed one counted among them.
    Reference: Fisher, The Design of Experiments (1935), section 21.

    >>> sign_flip_p([1.0, 2.0, 3.0])
    0.25
    >>> sign_flip_p([1.0] * 40) == 2 / 2**40
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
    """The share of sign patterns whose sum is the observed one or more, from the chance of every sum of turned sizes.

    Reference: Pagano and Tritchler, On obtaining permutation distributions in polynomial time, JASA 78 (1983).
    """
    total, top = int(sizes.sum()), 0
    chances = np.zeros(total + 1)
    chances[0] = 1
    for size in sizes.tolist():
        half = chances[: top + 1] / 2
        chances[: top + 1] = half
        chances[size : size + top + 1] += half
        top += size
    return float(chances[: floor((total - observed) / 2) + 1].sum())  # turning a size takes twice of it from the sum


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
    """The p-value from random patterns; the sizes are in ascending order, so that names do not decide their signs."""
    reached = np.abs(_random_signs(len(sizes)) @ sizes) >= observed * (1 - 1e-12)
    return float((1 + reached.sum()) / (1 + _FLIPS))


@lru_cache(maxsize=4)
def _random_signs(size: int) -> np.ndarray:
    return np.random.default_rng(_SEED).integers(0, 2, (_FLIPS, size)) * 2.0 - 1


def step_down(differences: np.ndarray) -> np.ndarray:
    """p of every column, corrected for all of them: step-down max-T over joint flips of the rows.

    One row per source, one column per pair, NaN if a pair has no common case on a source. One flip turns a source's
    sign in every pair, so that the flips reflect the dependence of the pairs. The statistic is Student's t on the
    normal scale, because pairs have different numbers of sources.
    Reference: Westfall and Young, Resampling-Based Multiple Testing (1993), algorithm 4.1.
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
    count, flips = np.zeros(len(order)), 0
    for signs in _joint_signs(len(filled), max(_BLOCK // len(order), 1)):
        scores = _normal_score(signs @ filled, sizes)
        largest = np.maximum.accumulate(scores[:, ::-1], axis=1)[:, ::-1]  # over this pair and all weaker ones
        count += (largest >= observed - 1e-9).sum(axis=0)
        flips += len(signs)
    all_taken = len(filled) <= _ALL_FLIPS_UP_TO
    p = (count + (not all_taken)) / (flips + (not all_taken))
    corrected[used[order]] = np.maximum.accumulate(p)
    return corrected


def _normal_score(ratios: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """|t| on the normal scale, from the sum of the differences over the root of the sum of their squares.

    That root is the same under every flip, and t grows with the ratio alone.
    Reference: Wallace, Bounds on normal approximations to Student's and the chi-square distributions (1959).
    """
    free = np.maximum(sizes - 1, 0.5)
    unexplained = np.maximum(1 - ratios**2 / sizes, 1e-12)
    return (8 * free + 1) / (8 * free + 3) * np.sqrt(-free * np.log(unexplained))


def _joint_signs(size: int, block: int) -> Iterable[np.ndarray]:
    """Blocks of flips: all of them (up to an overall sign) if there are few enough rows, else seeded ones."""
    if size <= _ALL_FLIPS_UP_TO:
        patterns = np.arange(2 ** (size - 1))
        for start in range(0, len(patterns), block):
            bits = patterns[start : start + block, None] >> np.arange(size) & 1
            yield bits * 2.0 - 1
        return
    random = np.random.default_rng(_SEED)
    for start in range(0, _FLIPS, block):
        yield random.integers(0, 2, (min(block, _FLIPS - start), size)) * 2.0 - 1


def _order_by_content(sizes: np.ndarray) -> np.ndarray:
    """An order of the rows that does not depend on the order of rows or columns, unless two rows are interchangeable.

    Rows get a colour by their values, columns by theirs and their rows' colours, rows again by their columns'.
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
