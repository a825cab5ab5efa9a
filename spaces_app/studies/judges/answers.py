"""Judges' answers to the newest wording of each question, and how far answers agree."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from convergebench.metric_modules._judges.answers import CALIBRATION, DATASET
from convergebench.metric_modules._judges.drift import Drift, find_drift
from convergebench.metric_modules.halflife.intervals import share_interval
from convergebench.metric_modules.scores import ScoreRow

from ...analysis.analysis import Analysis
from ...analysis.answers import StepAnswer, StepKey
from ...analysis.stored_rows import rows_of
from ...analysis.tables import Estimate, estimate

Answer = Mapping[str, Any]  # a row of the config `judgements`
Pair = tuple[Any, Any]


class Judged:
    """The answers of all judges; an earlier wording of a question is left out once a newer one was asked.

    Answers about chains that the dataset no longer has count for the judge, but not for an editor.
    """

    def __init__(self, analysis: Analysis):
        rows = list(analysis.table("judgements"))
        self._chains = {chain.id for chain in analysis.chains}
        newest: dict[tuple[str, str], tuple[str, str]] = {}
        for row in rows:
            key = row["judge"], row["question"]
            newest[key] = max(newest.get(key, ("", "")), (row["asked"], row["question_sha256"]))
        self._rows = [row for row in rows if newest[row["judge"], row["question"]][1] == row["question_sha256"]]

    @cached_property
    def by_question(self) -> dict[tuple[str, str], list[Answer]]:
        """All answers by judge and question."""
        rows: dict[tuple[str, str], list[Answer]] = defaultdict(list)
        for row in self._rows:
            rows[row["judge"], row["question"]].append(row)
        return dict(sorted(rows.items()))

    @cached_property
    def by_step(self) -> dict[tuple[str, str], dict[StepKey, Answer]]:
        """The answers about the dataset, by judge and question, then by step."""
        return {
            key: {
                (row["chain"], row["step"]): row
                for row in rows
                if row["purpose"] == DATASET and row["chain"] in self._chains
            }
            for key, rows in self.by_question.items()
        }

    @cached_property
    def drift(self) -> list[Drift]:
        """Every later run of every judge, compared with its first one."""
        return find_drift(self._rows)

    def values(self, judge: str, question: str) -> dict[StepKey, float]:
        """A judge's answers that have a value."""
        rows = self.by_step.get((judge, question), {})
        return {step: row["value"] for step, row in rows.items() if row["value"] is not None}


def answers(analysis: Analysis) -> Iterator[StepAnswer]:
    """The answers about the dataset, as every study can read them."""
    for (judge, question), rows in analysis.once(Judged).by_step.items():
        for step, row in rows.items():
            yield StepAnswer(judge, question, step, row["value"], json.loads(row["answer"] or "{}"))


def scores_of_judged(analysis: Analysis) -> dict[StepKey, ScoreRow]:
    """The scores of the steps of all chains that a judge was asked about."""
    chains = {chain for answers in analysis.once(Judged).by_step.values() for chain, _ in answers}
    return {(row.chain, row.step): row for row in rows_of(analysis.scores, chains)}


def repeated_pairs(rows: Iterable[Answer]) -> list[tuple[Pair, str]]:
    """Every two answers of one judge to the same question in one run, with the source."""
    repeats: dict[tuple[int, str], list[Answer]] = defaultdict(list)
    for row in rows:
        if row["purpose"] == CALIBRATION:
            repeats[row["session"], row["key"]].append(row)

    def answer(row: Answer) -> Any:
        return row["reason"] if row["value"] is None else row["value"]

    return [
        ((answer(first), answer(second)), first["source"])
        for answers in repeats.values()
        for first, second in combinations(answers, 2)
    ]


class Agreement(NamedTuple):
    """How far pairs of answers agree."""

    share: Estimate = Estimate()  # with limits over sources
    kappa: float | None = None  # beyond chance
    pairs: int | None = None


def agreement(pairs: Sequence[tuple[Pair, str]]) -> Agreement:
    """How far pairs of answers, each with its source, agree."""
    if not pairs:
        return Agreement()
    marks = np.array([first == second for (first, second), _ in pairs])
    share = estimate(float(marks.mean()), share_interval(marks, [source for _, source in pairs]))
    return Agreement(share, kappa([pair for pair, _ in pairs]), len(pairs))


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Agreement beyond chance: 1 if all agree, 0 if no more than by chance; None if all answers are the same.

    Reference: Cohen, Educational and Psychological Measurement 20 (1960).

    >>> kappa([(1, 1), (0, 0), (1, 0), (0, 1)]), kappa([(1, 1)] * 5)
    (0.0, None)
    """
    size = len(pairs)
    firsts, seconds = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(count * seconds[answer] for answer, count in firsts.items()) / (size * size)
    if chance > 1 - 1e-12:
        return None
    return (sum(first == second for first, second in pairs) / size - chance) / (1 - chance)
