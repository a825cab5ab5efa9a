"""How often limits of mean rounds, restricted mean and survival hold the truth: four scenarios of twenty rounds.

A source and a program multiply how long a chain lasts; both are drawn anew for every set.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_interval, share_interval

from . import markdown

ROUNDS = 20
SETS = 2000
SMALL, LARGE = (6, 8, 12, 20), ((6, 9), (8, 9), (12, 9), (20, 9))
FIGURES = ("rounds kept", "restricted mean", "survival")


class Scenario(NamedTuple):
    """How long chains last: the median, the spread of its logarithm over sources, and the share of bad sources."""

    median: float
    between: float
    bad: float = 0.0


SCENARIOS = {
    "long": Scenario(12.9, 0.5),
    "short, unequal": Scenario(3.4, 1.0),
    "mostly censored": Scenario(45.0, 0.7),
    "bimodal": Scenario(40.0, 0.5, 0.5),
}


def rounds_kept(
    rng: np.random.Generator, scenario: Scenario, sources: int, chains: int, sets: int, programs: float
) -> np.ndarray:
    """Rounds kept of sets x sources x chains; with a spread of `programs` each chain of a source is a program."""
    logarithm = rng.normal(0, scenario.between, (sets, sources, 1)) + rng.normal(0, 0.3, (sets, sources, chains))
    logarithm = logarithm + rng.normal(0, programs, (sets, 1, chains)) if programs else logarithm
    is_bad = rng.random((sets, sources, 1)) < scenario.bad
    return np.clip(np.floor(np.where(is_bad, 2.0, scenario.median) * np.exp(logarithm)), 0, ROUNDS)


def truth(scenario: Scenario, programs: float) -> np.ndarray:
    kept = rounds_kept(np.random.default_rng(1), scenario, 1, 1, 2_000_000, programs).ravel()
    return np.array([kept.mean(), np.minimum(kept + 1, ROUNDS).mean(), (kept >= ROUNDS).mean()])


def designs(
    name: str, sizes: list[tuple[int, int]], sets: int, programs: float, unequal: bool
) -> Iterator[np.ndarray]:
    """For each size the share of sets in which each of FIGURES was covered."""
    scenario = SCENARIOS[name]
    true = truth(scenario, programs)
    for sources, chains in sizes:
        rng = np.random.default_rng(sources * 100 + chains + unequal)
        held = np.zeros(3)
        for table in rounds_kept(rng, scenario, sources, chains, sets, programs):
            there = np.arange(chains) < rng.integers(1, chains + 1, sources)[:, None] if unequal else table >= 0
            pictures, asked = np.nonzero(there)
            kept, own = table[there], pictures.tolist()
            second = asked.tolist() if programs else None
            limits = (
                mean_interval(kept, own, ROUNDS, second),
                mean_interval(np.minimum(kept + 1, ROUNDS), own, ROUNDS, second, first=1.0),
                share_interval(kept >= ROUNDS, own, second),
            )
            held += [low - 1e-9 <= each <= high + 1e-9 for (low, high), each in zip(limits, true, strict=True)]
        yield held / sets


def one_table(sizes: list[tuple[int, int]], titles: list[str], sets: int, programs: float, unequal: bool) -> str:
    rows = []
    for name in SCENARIOS:
        figures = zip(*designs(name, sizes, sets, programs, unequal), strict=True)
        for figure, shares in zip(FIGURES, figures, strict=True):
            rows.append([f"{name}: {figure}", *(f"{share:.3f}" for share in shares)])
    return markdown(["limits of", *titles], rows)


def tables(scale: float) -> dict[str, str]:
    sets = max(int(SETS * scale), 10)
    sources = [f"{size} sources" for size in SMALL]
    both = [f"{pictures} x {asked}" for pictures, asked in LARGE]
    return {
        "coverage over sources": one_table([(size, 5) for size in SMALL], sources, sets, 0.0, False),
        "coverage over unequal sources": one_table([(size, 9) for size in SMALL], sources, sets, 0.0, True),
        "coverage over sources and programs": one_table(list(LARGE), both, sets, 0.5, False),
    }
