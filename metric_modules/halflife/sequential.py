"""Compares two editors while sources come in; stops once the verdict is certain, or has become unlikely.

The test is the sign-flip test of `comparison.py`, repeated at each look. Each look spends a part of the level, and all
looks together spend the level, so a run may be stopped at any look and for any reason: a false verdict is as rare as
after all sources. The order of the sources must be fixed in advance, such as a seeded one.
References: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70 (1983); Jennison and
Turnbull, Interim analyses: the repeated confidence interval approach, JRSS B 51 (1989).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

LEVEL = 0.05
# Below 12 sources a verdict is only indicative, as in comparison.py.
FIRST = 12  # sources at the first look; fewer can only indicate
EVERY = 4  # sources from one look to the next
_POWER = 2.0  # the share of the level spent is the share of sources seen to this power
_HOPELESS = 0.05  # below this chance of a verdict after all sources the pair stays open
_FLIPS = 10_000
_SEED = 0


@dataclass(frozen=True)
class _Look:
    """The result after the sources so far. The interval holds at all looks together."""

    sources: int
    mean: float
    interval: tuple[float, float]
    verdict: str  # first, second; open: no verdict will come; "": go on
    chance: float  # of a verdict after all sources


def look_sizes(horizon: int) -> list[int]:
    """The number of sources at each look; the last look is after all of them.

    >>> look_sizes(23)
    [12, 16, 20, 23]
    """
    return [*range(FIRST, horizon, EVERY), horizon] if horizon > FIRST else [horizon]


def spent(share: float, level: float = LEVEL) -> float:
    """The part of the level that may be spent once this share of the sources has been seen."""
    return level * min(share, 1.0) ** _POWER


def boundaries(sums: np.ndarray, sizes: Sequence[int], horizon: int, level: float = LEVEL) -> list[float]:
    """For each look the smallest |sum| that is a verdict, from the sums of flipped differences: flips x looks.

    Flips that crossed at an earlier look are counted there. Of equal sums all or none cross.
    """
    is_active = np.ones(len(sums), bool)
    used, limits = 0, []
    for place, size in enumerate(sizes):
        allowed = int(spent(size / horizon, level) * len(sums)) - used
        sizes_of_sums = np.sort(np.abs(sums[is_active, place]))[::-1]
        if allowed < 1:
            limits.append(np.inf)
            continue
        # Just above the next sum, so that at most `allowed` sums are as large.
        least = np.nextafter(sizes_of_sums[allowed], np.inf) if allowed < len(sizes_of_sums) else 0.0
        crossed = is_active & (np.abs(sums[:, place]) >= least)
        used += int(crossed.sum())
        is_active &= ~crossed
        limits.append(float(least))
    return limits


@lru_cache(maxsize=8)
def signs(size: int) -> np.ndarray:
    return np.random.default_rng(_SEED).integers(0, 2, (_FLIPS, size)) * 2.0 - 1


@lru_cache(maxsize=64)
def normal_boundaries(horizon: int, level: float = LEVEL) -> tuple[float, ...]:
    """The boundaries for standardised sums of normal differences, which set the width of the intervals."""
    sizes = look_sizes(horizon)
    drawn = np.random.default_rng(_SEED).standard_normal((50_000, len(sizes)))
    steps = np.sqrt(np.diff([0, *sizes]))
    sums = np.cumsum(drawn * steps, axis=1) / np.sqrt(sizes)
    return tuple(boundaries(sums, sizes, horizon, level))


def follow(differences: Sequence[float] | np.ndarray, horizon: int, level: float = LEVEL) -> list[_Look]:
    """The looks at mean differences by source, in their order of arrival, up to the look that stops the run.

    >>> [look.verdict for look in follow([2.0, 3.0] * 20, 40)][-1]
    'first'
    """
    values = np.asarray(differences, float)
    sizes = look_sizes(horizon)
    seen = [size for size in sizes if size <= len(values)]
    if not seen:
        return []
    places = [size - 1 for size in seen]
    largest = float(np.abs(values).max()) or 1.0
    # Sums that are equal but for the order of rounding are equal.
    scaled = values[: seen[-1]] / largest
    flipped = np.cumsum(signs(seen[-1]) * np.abs(scaled), axis=1)
    sums, observed = (np.round(totals[..., places], 9) for totals in (flipped, np.cumsum(scaled)))
    least = boundaries(sums, seen, horizon, level)
    looks = []
    for place, size in enumerate(seen):
        so_far = values[:size]
        mean, spread = float(so_far.mean()), float(so_far.std(ddof=1))
        # The boundary for normal sums, widened as Student's t is for so few.
        z = min(normal_boundaries(horizon, level)[place], 8.0)
        reach = float(special.stdtrit(size - 1, special.ndtr(z))) * spread / size**0.5
        chance = float(_chance_of_verdict(mean, spread, size, horizon, level))
        verdict = ""
        if abs(observed[place]) >= least[place] and mean:
            verdict = "first" if mean > 0 else "second"
        elif size == horizon or chance < _HOPELESS:
            verdict = "open"
        looks.append(_Look(size, mean, (mean - reach, mean + reach), verdict, chance))
        if verdict:
            break
    return looks


def _chance_of_verdict(
    mean: np.ndarray | float, spread: np.ndarray | float, size: int, horizon: int, level: float = LEVEL
) -> np.ndarray:
    """The chance that the sum over all sources crosses the last boundary, predicted from the sources seen.

    The prediction includes the uncertainty of the mean of the sources seen.
    """
    needed = normal_boundaries(horizon, level)[-1]
    expected = mean / np.maximum(spread, 1e-9) * horizon**0.5
    spread_left = max((horizon - size) / size, 1e-9) ** 0.5
    return special.ndtr((expected - needed) / spread_left) + special.ndtr((-expected - needed) / spread_left)


def _stops(
    differences: np.ndarray, horizon: int, after: int = 0, level: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """For many simulated runs (rows): after how many sources each stops, and whether with a verdict.

    Looks at up to `after` sources are in the past and did not stop the run. The boundaries are those for normal sums,
    because `follow` would take a second for every few runs.
    """
    ended, decided = np.zeros(len(differences), int), np.zeros(len(differences), bool)
    for size, least in zip(look_sizes(horizon), normal_boundaries(horizon, level), strict=True):
        if size <= after:
            continue
        so_far = differences[:, :size]
        mean, spread = so_far.mean(axis=1), so_far.std(axis=1, ddof=1)
        t = np.abs(mean) / np.maximum(spread, 1e-9) * size**0.5
        crosses = special.ndtri(np.clip(special.stdtr(size - 1, t), 0, 1 - 1e-16)) >= least
        is_last = (size == horizon) | (_chance_of_verdict(mean, spread, size, horizon, level) < _HOPELESS)
        new = (ended == 0) & (crosses | is_last)
        ended[new], decided[new] = size, crosses[new]
    return ended, decided


@dataclass(frozen=True)
class Forecast:
    """The expected cost of a verdict: sources until the run stops, and the chance that it stops with a verdict."""

    sources: float  # on average
    most: float  # in nine of ten runs at most
    chance: float


def forecast(mean: float, spread: float, horizon: int, sets: int = 1000) -> Forecast:
    """The forecast for normal differences between sources with this mean and standard deviation."""
    rng = np.random.default_rng(_SEED)
    return _summed_up(*_stops(rng.normal(mean, spread, (sets, horizon)), horizon))


def forecast_rest(seen: Sequence[float], horizon: int, sets: int = 1000) -> Forecast:
    """The forecast after some sources were seen, if the remaining ones are like them."""
    rng, values = np.random.default_rng(_SEED), np.asarray(seen, float)
    rest = rng.choice(values, (sets, horizon - len(values)))
    return _summed_up(*_stops(np.concatenate([np.tile(values, (sets, 1)), rest], axis=1), horizon, len(values)))


def _summed_up(ended: np.ndarray, decided: np.ndarray) -> Forecast:
    return Forecast(float(ended.mean()), float(np.quantile(ended, 0.9)), float(decided.mean()))
