"""What judges answered, as statistics use it: of each question its newest wording, and how far answers agree."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from convergebench.metric_modules._judges.answers import CALIBRATION, DATASET
from convergebench.metric_modules._judges.drift import Drift, find_drift
from convergebench.metric_modules.halflife.intervals import share_interval

if TYPE_CHECKING:
    from .analysis import Analysis

Row = Mapping[str, Any]
Step = tuple[str, int]  # chain and number
Pair = tuple[Any, Any]


class Judged:
    """The answers of all judges; an earlier wording of a question is left out once a newer one was asked.

    Answers about chains that the dataset no longer has say something of the judge and nothing of an editor.
    """

    def __init__(self, rows: Iterable[Row], chains: Collection[str] | None = None):
        self.chains = chains
        everything = list(rows)
        newest: dict[tuple[str, str], tuple[str, str]] = {}
        for row in everything:
            key = row["judge"], row["question"]
            newest[key] = max(newest.get(key, ("", "")), (row["asked"], row["question_sha256"]))
        self.rows = [row for row in everything if newest[row["judge"], row["question"]][1] == row["question_sha256"]]

    @cached_property
    def by_question(self) -> dict[tuple[str, str], list[Row]]:
        """All answers by judge and question."""
        found: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row["judge"], row["question"]].append(row)
        return dict(sorted(found.items()))

    @cached_property
    def by_step(self) -> dict[tuple[str, str], dict[Step, Row]]:
        """The answers about the dataset, by judge and question, then by step."""
        return {
            key: {
                (row["chain"], row["step"]): row
                for row in rows
                if row["purpose"] == DATASET and (self.chains is None or row["chain"] in self.chains)
            }
            for key, rows in self.by_question.items()
        }

    @cached_property
    def drift(self) -> list[Drift]:
        """Every later run of every judge beside its first one."""
        return find_drift(self.rows)

    def judges_of(self, *questions: str) -> list[str]:
        """The judges that answered one of these questions."""
        return sorted({judge for judge, question in self.by_step if question in questions})

    def values(self, judge: str, question: str) -> dict[Step, float]:
        """A judge's answers that have a value."""
        rows = self.by_step.get((judge, question), {})
        return {step: row["value"] for step, row in rows.items() if row["value"] is not None}

    def whole_answers(self, judge: str, question: str) -> dict[Step, dict[str, Any]]:
        """A judge's answers as the question's schema has them."""
        rows = self.by_step.get((judge, question), {})
        return {step: json.loads(row["answer"]) for step, row in rows.items() if row["answer"]}


def judged_of(analysis: "Analysis") -> Judged:
    return Judged(analysis.table("judgements"), {chain.id for chain in analysis.chains})


def repeated_pairs(rows: Iterable[Row]) -> list[tuple[Pair, str]]:
    """Two answers of one judge to the same in one run, with the source: as often as it was asked twice."""
    repeats: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["purpose"] == CALIBRATION:
            repeats[row["session"], row["key"]].append(row)
    return [
        ((answer_of(one), answer_of(other)), one["source"])
        for own in repeats.values()
        for one, other in combinations(own, 2)
    ]


def answer_of(row: Row) -> Any:
    """The value, or the reason why there is none."""
    return row["reason"] if row["value"] is None else row["value"]


def agreement(pairs: Sequence[tuple[Pair, str]], name: str) -> dict[str, Any]:
    """The share of pairs that agree with its limits over sources, beyond chance, and how many there are."""
    if not pairs:
        return {}
    marks = np.array([one == other for (one, other), _ in pairs])
    limits = share_interval(marks, [source for _, source in pairs])
    low, high = limits if limits else (None, None)
    about = {name: float(marks.mean()), f"{name}_low": low, f"{name}_high": high}
    return about | {f"{name}_kappa": kappa([pair for pair, _ in pairs]), f"{name}_pairs": len(pairs)}


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Agreement beyond chance: 1 where all agree, 0 where no more do than by chance; None where all say the same.

    Reference: Cohen, Educational and Psychological Measurement 20 (1960).

    >>> kappa([(1, 1), (0, 0), (1, 0), (0, 1)]), kappa([(1, 1)] * 5)
    (0.0, None)
    """
    size = len(pairs)
    said = {answer for pair in pairs for answer in pair}
    chance = sum(
        sum(one == answer for one, _ in pairs) * sum(other == answer for _, other in pairs) for answer in said
    ) / (size * size)
    if chance > 1 - 1e-12:
        return None
    return (sum(one == other for one, other in pairs) / size - chance) / (1 - chance)
