"""Whether stopping early gives the verdict that all sources give, and what it costs: simulated pairs and real ones.

Real pairs are those of the dataset that CONVERGEBENCH_DEMO names (default: convergebench, as `make demo` leaves it):
their differences are drawn again and again until there are as many as in v1.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from convergebench.metric_modules.halflife.comparison import LEVEL
from convergebench.metric_modules.halflife.sequential import follow
from convergebench.metric_modules.halflife.sign_flips import sign_flip_p

from . import markdown

PAIRS = 1000
ROUNDS, PROGRAMS, USUAL = 20, 9, 6.0
SOURCES = (100, 50)


class Pair(NamedTuple):
    """One pair's differences by source in the order of the run, the true mean, and the rounds that were needed."""

    differences: np.ndarray
    true: float
    rounds: np.ndarray  # by source: the share of all rounds that its chains had until they were lost


def differences(rng: np.random.Generator, factor: float, sources: int) -> tuple[np.ndarray, np.ndarray]:
    """How many rounds more an editor keeps that is so many times better, by source; and the share of rounds needed."""
    picture = rng.normal(0, 0.3, (1, sources, 1)) + rng.normal(0, 0.2, (1, 1, PROGRAMS))
    own, rest = rng.normal(0, 0.5, (2, sources, 1)), rng.normal(0, 0.3, (2, sources, PROGRAMS))
    better = np.array([0.0, np.log(factor)])[:, None, None]
    kept = np.clip(np.floor(USUAL * np.exp(better + picture + own + rest)), 0, ROUNDS)
    needed = np.minimum(kept + 1, ROUNDS) / ROUNDS
    return (kept[1] - kept[0]).mean(axis=1), needed.mean(axis=(0, 2))


def simulated(pairs: int, sources: int, most: float) -> Iterator[Pair]:
    """Pairs whose factors lie evenly on the logarithm from 1 / most to most."""
    rng = np.random.default_rng([11, sources, int(10 * most)])
    for factor in most ** rng.uniform(-1, 1, pairs) if most > 1 else np.ones(pairs):
        true = 0.0 if factor == 1 else float(differences(rng, factor, 20_000)[0].mean())
        yield Pair(*differences(rng, factor, sources)[:1], true, differences(rng, factor, sources)[1])


def banked(pairs: int, sources: int, are_equal: bool) -> Iterator[Pair]:
    """Pairs of a real dataset; where they shall be equal, each difference with a sign drawn by chance."""
    rng = np.random.default_rng(13)
    found = banked_differences()
    for number in range(pairs if found else 0):
        own = found[number % len(found)]
        drawn = rng.choice(own, sources)
        signs = rng.choice([-1.0, 1.0], sources) if are_equal else 1.0
        yield Pair(drawn * signs, 0.0 if are_equal else float(own.mean()), np.full(sources, np.nan))


def banked_differences() -> list[np.ndarray]:
    """By pair of rows of the leaderboard the differences of rounds kept by source, where they are not all nothing."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.spaces_app.reporting.write import read_analysis

    folder = Path(os.environ.get("CONVERGEBENCH_DEMO", "convergebench"))
    if not (folder / "data" / "scores").is_dir():
        return []
    compared = read_analysis(Reader(folder), steps=False).comparisons
    pairs = [pair for group in compared.values() for pair in (*group.editors, *group.references)]
    values = [np.array(list(pair.by_source.values())) for pair in pairs]
    return [own for own in values if len(own) > 1 and own.any()]


def verdict_of_all(values: np.ndarray) -> str:
    if sign_flip_p(values) > LEVEL:
        return "open"
    return "first" if values.mean() > 0 else "second"


def row(name: str, pairs: Iterator[Pair], sources: int) -> list[object]:
    """What stopping early did to such pairs."""
    same, opposite, seen, asked, false, held, count = 0, 0, 0.0, 0.0, 0, 0, 0
    for pair in pairs:
        count += 1
        last, usual = follow(pair.differences, sources)[-1], verdict_of_all(pair.differences)
        same += last.verdict == usual
        opposite += {last.verdict, usual} == {"first", "second"}
        seen += last.sources / sources
        asked += pair.rounds[: last.sources].sum() / sources
        held += last.interval[0] - 1e-9 <= pair.true <= last.interval[1] + 1e-9
        is_wrong = last.verdict == ("second" if pair.true > 0 else "first") or not pair.true
        false += last.verdict != "open" and is_wrong
    if not count:
        return []
    values = (same, opposite, seen, asked, false, held)
    shares = ["–" if np.isnan(value) else f"{value / count:.3f}" for value in values]
    return [name, *shares]


def tables(scale: float) -> dict[str, str]:
    count = max(int(PAIRS * scale), 10)
    rows = []
    for sources in SOURCES:
        rows.append(row(f"simulated, {sources} sources", simulated(count, sources, 2.0), sources))
        rows.append(row(f"simulated, equal, {sources} sources", simulated(3 * count, sources, 1.0), sources))
    rows.append(row("the demo's, drawn up to 100 sources", banked(count // 2, 100, False), 100))
    rows.append(row("the same with signs by chance, so equal", banked(count // 2, 100, True), 100))
    titles = ["pairs", "same verdict", "opposite", "calls", "calls, chains ended at their loss", "false", "covered"]
    return {"stopping early": markdown(titles, [each for each in rows if each])}
