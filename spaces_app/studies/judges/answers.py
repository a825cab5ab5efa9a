"""Judges' answers to the newest wording of each question, and how far answers agree."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convergebench.metric_modules._judges.answers import DATASET
from convergebench.metric_modules.scores import ScoreRow

from ...analysis.analysis import Analysis
from ..step_answers import StepAnswer, StepKey, share_of

Answer = Mapping[str, Any]  # a row of the config `judgements`
Pair = tuple[Any, Any]


def newest_answers(analysis: Analysis) -> dict[tuple[str, str], list[Answer]]:
    """By judge and question, those to its newest wording; some may be about chains that are gone."""
    rows = list(analysis.table("judgements"))
    newest: dict[tuple[str, str], tuple[str, str]] = {}
    for row in rows:
        key = row["judge"], row["question"]
        newest[key] = max(newest.get(key, ("", "")), (row["asked"], row["question_sha256"]))
    by_question: dict[tuple[str, str], list[Answer]] = {key: [] for key in sorted(newest)}
    for row in rows:
        key = row["judge"], row["question"]
        if newest[key][1] == row["question_sha256"]:
            by_question[key].append(row)
    return by_question


def judged_steps(analysis: Analysis) -> dict[tuple[str, str], dict[StepKey, Answer]]:
    """The same of the dataset's own steps."""
    chains = {chain.id for chain in analysis.chains}
    return {
        key: {
            (row["chain"], row["step"]): row
            for row in rows
            if row["purpose"] == DATASET and row["chain"] in chains
        }
        for key, rows in analysis.once(newest_answers).items()
    }


def answers(analysis: Analysis) -> Iterator[StepAnswer]:
    for (judge, question), rows in analysis.once(judged_steps).items():
        for step, row in rows.items():
            yield StepAnswer(judge, question, step, row["value"], json.loads(row["answer"] or "{}"))


def scores_of_judged(analysis: Analysis) -> dict[StepKey, ScoreRow]:
    chains = {chain for answers in analysis.once(judged_steps).values() for chain, _ in answers}
    return {(row.chain, row.step): row for rows in analysis.scores.of_chains(chains).values() for row in rows}


def agreement(name: str, pairs: Sequence[tuple[Pair, str]]) -> dict[str, Any]:
    """The columns of this name, from pairs of answers with their sources."""
    values = [pair for pair, _ in pairs]
    share = share_of([first == second for first, second in values], [source for _, source in pairs])
    return {name: share, f"{name}_kappa": _kappa(values), f"{name}_pairs": len(pairs) or None}


def _kappa(pairs: Sequence[Pair]) -> float | None:
    """Agreement beyond chance; None if all answers are the same, or none.

    Cohen, Educational and Psychological Measurement 20 (1960).

    >>> _kappa([(1, 1), (0, 0), (1, 0), (0, 1)]), _kappa([(1, 1)] * 5)
    (0.0, None)
    """
    if not pairs:
        return None
    size = len(pairs)
    firsts, seconds = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(count * seconds[answer] for answer, count in firsts.items()) / (size * size)
    if chance > 1 - 1e-12:
        return None
    return (sum(first == second for first, second in pairs) / size - chance) / (1 - chance)
