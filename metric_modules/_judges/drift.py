"""Detects drift of a judge: each run asks a fixed sample again.

Without drift, the answers to one question about one picture are exchangeable between
runs, however noisy the judge is. So a permutation test shuffles each item's answers
between the first run and a later one. Two statistics share the level: how often a new
answer differs from an old one, and how many new ones are rare among all answers to
their item, which finds a judge that became unstable.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .answers import CALIBRATION

SAMPLE = 120  # items that are asked again in each run
REPEATS = 4  # of each item in a run
FIRST_REPEATS = 8  # in the first run that asks it
LEVEL = 0.03  # probability of a false alarm for each run, both statistics together
_SHUFFLES = 1999
_MOST_WAYS = 5000  # to divide one item's answers in two; beyond that ways are sampled
_SEED = 0

Row = Mapping[str, Any]  # of judgements
Answer = float | str  # a value, or the reason why there is none: declining more often is drift too


@dataclass(frozen=True)
class Drift:
    judge: str
    question: str
    session: int
    items: int  # of the sample, asked by both runs
    moved: float  # share of pairs of an old and a new answer that differ
    noise: float  # share of pairs of two old answers that differ
    p: float
    models: tuple[str, ...]  # that answered in the later run
    other_model: bool  # whether they are not the first run's

    @property
    def alarm(self) -> bool:
        return self.p <= LEVEL

    @property
    def sentence(self) -> str:
        words = (
            f"{self.judge} on {self.question}, run {self.session}: on {self.items} steps, {self.moved:.0%} of its "
            f"answers differ from the first run's; its own noise is {self.noise:.0%} (p = {self.p:.3f})"
        )
        return words + (f"; answers come from {' and '.join(self.models)} now" if self.other_model else "")


def find_drift(rows: Iterable[Row]) -> list[Drift]:
    """Every later run of every judge, compared with its first one."""
    runs: dict[tuple[str, str, str], dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["purpose"] == CALIBRATION:
            runs[row["judge"], row["question"], row["question_sha256"]][row["session"]].append(row)
    drifts = []
    for (judge, question, _), sessions in sorted(runs.items()):
        first: dict[str, list[Row]] = {}
        for session, session_rows in sorted(sessions.items()):
            new: dict[str, list[Row]] = defaultdict(list)
            for row in sorted(session_rows, key=lambda row: row["repeat"]):
                new[row["key"]].append(row)
            if both := sorted(new.keys() & first.keys()):
                pairs = [(_answers_of(first[key]), _answers_of(new[key])) for key in both]
                models = _models_of(session_rows)
                other_model = models != _models_of(row for key in both for row in first[key])
                comparison = (*_compare_runs(pairs), models, other_model)
                drifts.append(Drift(judge, question, session, len(both), *comparison))
            first = {**new, **first}
    return drifts


def _answers_of(rows: Iterable[Row]) -> list[Answer]:
    return [row["reason"] if row["value"] is None else row["value"] for row in rows]


def _models_of(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(sorted({row["model"] for row in rows if row["model"]}))


def _compare_runs(pairs: Sequence[tuple[Sequence[Answer], Sequence[Answer]]]) -> tuple[float, float, float]:
    """How many old and new answers differ, how many old ones, and p.

    >>> _compare_runs([([1.0, 1.0], [1.0, 1.0])] * 9)
    (0.0, 0.0, 1.0)
    """
    generator = np.random.default_rng(_SEED)
    tables = []
    for old, new in pairs:
        words = [*map(str, (*old, *new))]  # as numbers that are equal for equal answers
        tables.append(_divided(tuple(map([*dict.fromkeys(words)].index, words)), len(old)))
    moved, rare = np.array([table[:, 0] for table in tables]).sum(axis=0)
    old_pairs = sum(len(old) * (len(old) - 1) / 2 for old, _ in pairs)
    differing = sum(first != second for old, _ in pairs for first, second in itertools.combinations(old, 2))
    mixed_pairs = sum(len(old) * len(new) for old, new in pairs)
    drawn = np.zeros((2, _SHUFFLES))
    for table in tables:
        drawn += table[:, generator.integers(0, table.shape[1], _SHUFFLES)]
    tails = (1 + (drawn >= np.array([[moved], [rare]]) - 1e-9).sum(axis=1)) / (_SHUFFLES + 1)
    return (
        float(moved / mixed_pairs),
        differing / old_pairs if old_pairs else 0.0,
        min(1.0, 2 * float(tails.min())),
    )


@cache
def _divided(answers: tuple[int, ...], old: int) -> np.ndarray:
    """Every way to divide an item's answers in two, the observed one first.

    Of each: the pairs of an old and a new answer that differ, and the new answers
    that are rarer than the most common one. Of too many ways, some are drawn.
    """
    numbers, size = np.array(answers), len(answers)
    ways = [*itertools.islice(itertools.combinations(range(size), old), _MOST_WAYS + 1)]
    if len(ways) > _MOST_WAYS:
        generator = np.random.default_rng(_SEED)
        ways = [tuple(range(old)), *(tuple(generator.permutation(size)[:old]) for _ in range(_MOST_WAYS))]
    differ = (numbers[:, None] != numbers).astype(float)
    counts = np.bincount(numbers)
    is_rare = (counts < counts.max())[numbers].astype(float)
    member = np.zeros((len(ways), size))
    member[np.arange(len(ways))[:, None], np.array(ways)] = 1
    return np.array([np.einsum("wi,ij,wj->w", member, differ, 1 - member), (1 - member) @ is_rare])
