"""How often a table of equal editors holds any false verdict, where 5% are promised."""

from itertools import combinations

import numpy as np
from convergebench.metric_modules.halflife.comparison import _step_down

from . import markdown

LEVEL = 0.05
SIZES = {12: 3000, 20: 2000, 50: 1500}  # sources -> tables
SHAPES = ((20.0, 0.4), (20.0, 0.25), (8.0, 1.0))  # all of mean 8: all or nothing, skewed, steady


def equal(rng: np.random.Generator, editors: int, sources: int) -> np.ndarray:
    """Rounds kept of editors that differ by chance alone: sources are hard or easy for all of them."""
    base = rng.gamma(2, 3, (1, sources))
    return np.minimum(rng.poisson(base * rng.gamma(4, 0.25, (editors, sources))), 20).astype(float)


def lacking(rng: np.random.Generator, editors: int, sources: int) -> np.ndarray:
    """The same, each editor without its own three tenths of the sources."""
    return np.where(rng.random((editors, sources)) < 0.3, np.nan, equal(rng, editors, sources))


def with_better(rng: np.random.Generator, editors: int, sources: int) -> np.ndarray:
    """The same, beside four editors that are three times better."""
    base = rng.gamma(2, 3, (1, sources))
    rates = np.r_[np.ones(editors), np.full(4, 3.0)][:, None]
    return np.minimum(rng.poisson(base * rates * rng.gamma(4, 0.25, (len(rates), sources))), 60).astype(float)


def of_one_mean(rng: np.random.Generator, editors: int, sources: int) -> np.ndarray:
    """Editors of equal mean and unequal shape: the test asks for symmetry, so this is beyond its promise."""
    columns = []
    for number in range(editors):
        value, share = SHAPES[number % len(SHAPES)]
        lost = (8 - value * share) / (1 - share) if share < 1 else 0.0
        columns.append(np.where(rng.random(sources) < share, value, lost))
    return np.array(columns)


KINDS = {
    "8 equal editors": (equal, 8),
    "8 equal, each lacks 30% of the sources": (lacking, 8),
    "8 equal beside 4 three times better": (with_better, 8),
    "9 of equal mean and unequal shape (not promised)": (of_one_mean, 9),
}


def family_error(kind: str, sources: int, sets: int, seed: int = 2) -> float:
    """The share of tables in which any two of the equal editors are called different."""
    make, editors = KINDS[kind]
    rng = np.random.default_rng([seed, sources])
    wrong = 0
    for _ in range(sets):
        kept = make(rng, editors, sources)
        pairs = list(combinations(range(len(kept)), 2))
        equals = np.array([second < editors for _, second in pairs])
        differences = np.array([kept[a] - kept[b] for a, b in pairs]).T
        wrong += bool((_step_down(differences)[equals] <= LEVEL).any())
    return wrong / sets


def tables(scale: float) -> dict[str, str]:
    rows = []
    for number, kind in enumerate(KINDS):
        share = scale if number == 0 else scale / 3
        errors = [family_error(kind, sources, max(int(sets * share), 10)) for sources, sets in SIZES.items()]
        rows.append([kind, *(f"{error:.3f}" for error in errors)])
    return {"family error": markdown(["table", *(f"{sources} sources" for sources in SIZES)], rows)}
