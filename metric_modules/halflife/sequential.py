"""Two editors compared while sources come in: stop once the verdict is certain, or can hardly come any more.

The test is the sign-flip test of `comparison.py`, looked at again and again. Each look may spend a part of the level,
and what all looks spend together is the level, so that a run may be stopped at any look and for any reason: a false
verdict is as rare as after all sources. Sources must come in an order that was fixed before, such as a seeded one.
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
_POWER = 2.0  # of the share of sources seen: so much of the level is spent by then
_HOPELESS = 0.05  # chance of a verdict after all sources; with less the pair is left open
_FLIPS = 10_000
_SEED = 0


@dataclass(frozen=True)
class _Look:
    """What the sources so far say. The interval holds at all looks together."""

    sources: int
    mean: float
    interval: tuple[float, float]
    verdict: str  # first, second; open: no verdict will come; "": go on
    chance: float  # of a verdict after all sources


def look_sizes(horizon: int) -> list[int]:
    """After how many sources one looks; the last look is after all of them.

    >>> look_sizes(23)
    [12, 16, 20, 23]
    """
    return [*range(FIRST, horizon, EVERY), horizon] if horizon > FIRST else [horizon]


def spent(share: float, level: float = LEVEL) -> float:
    """How much of the level may be spent when this share of the sources has been seen."""
    return level * min(share, 1.0) ** _POWER


def boundaries(sums: np.ndarray, sizes: Sequence[int], horizon: int, level: float = LEVEL) -> list[float]:
    """For each look the least |sum| that is a verdict, from the sums of flipped differences: flips x looks.

    Flips that crossed at an earlier look have been counted there. Of equal sums all or none cross.
    """
    is_left = np.ones(len(sums), bool)
    used, limits = 0, []
    for place, size in enumerate(sizes):
        allowed = int(spent(size / horizon, level) * len(sums)) - used
        left = np.sort(np.abs(sums[is_left, place]))[::-1]
        if allowed < 1:
            limits.append(np.inf)
            continue
        # The least value of which no more than `allowed` are at least as large: more than the next one.
        least = np.nextafter(left[allowed], np.inf) if allowed < len(left) else 0.0
        crossed = is_left & (np.abs(sums[:, place]) >= least)
        used += int(crossed.sum())
        is_left &= ~crossed
        limits.append(float(least))
    return limits


@lru_cache(maxsize=8)
def signs(size: int) -> np.ndarray:
    return np.random.default_rng(_SEED).integers(0, 2, (_FLIPS, size)) * 2.0 - 1


@lru_cache(maxsize=64)
def normal_boundaries(horizon: int, level: float = LEVEL) -> tuple[float, ...]:
    """The same for sums of normal differences, over their standard deviation: how wide the intervals are."""
    sizes = look_sizes(horizon)
    drawn = np.random.default_rng(_SEED).standard_normal((50_000, len(sizes)))
    steps = np.sqrt(np.diff([0, *sizes]))
    sums = np.cumsum(drawn * steps, axis=1) / np.sqrt(sizes)
    return tuple(boundaries(sums, sizes, horizon, level))


def follow(differences: Sequence[float] | np.ndarray, horizon: int, level: float = LEVEL) -> list[_Look]:
    """The looks at mean differences by source, in the order in which they came, up to the one that says stop.

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
    sums, observed = (np.round(each[..., places], 9) for each in (flipped, np.cumsum(scaled)))
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
    """The chance that the sum over all sources crosses the last boundary, by what those seen say of the rest.

    The mean of the rest is as uncertain as what was seen leaves it.
    """
    needed = normal_boundaries(horizon, level)[-1]
    expected = mean / np.maximum(spread, 1e-9) * horizon**0.5
    left = max((horizon - size) / size, 1e-9) ** 0.5
    return special.ndtr((expected - needed) / left) + special.ndtr((-expected - needed) / left)


def _stops(
    differences: np.ndarray, horizon: int, after: int = 0, level: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """For many made-up runs (rows) after how many sources each stops, and whether with a verdict.

    Looks at up to `after` sources have been taken and said go on. The boundaries are those for normal sums: to plan
    with, because `follow` would take a second for every few runs.
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
    """What a verdict will cost: sources until the run stops, and how often it stops with one."""

    sources: float  # on average
    most: float  # in nine of ten runs at most
    chance: float


def forecast(mean: float, spread: float, horizon: int, sets: int = 1000) -> Forecast:
    """For differences between sources that are normal with this mean and standard deviation."""
    rng = np.random.default_rng(_SEED)
    return _summed_up(*_stops(rng.normal(mean, spread, (sets, horizon)), horizon))


def forecast_rest(seen: Sequence[float], horizon: int, sets: int = 1000) -> Forecast:
    """The same where some sources were seen, for sources to come that are like them."""
    rng, values = np.random.default_rng(_SEED), np.asarray(seen, float)
    rest = rng.choice(values, (sets, horizon - len(values)))
    return _summed_up(*_stops(np.concatenate([np.tile(values, (sets, 1)), rest], axis=1), horizon, len(values)))


def _summed_up(ended: np.ndarray, decided: np.ndarray) -> Forecast:
    return Forecast(float(ended.mean()), float(np.quantile(ended, 0.9)), float(decided.mean()))
