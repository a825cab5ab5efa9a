"""What became of a visitor's own series: judged step by step as the dataset's chains are, with the same verdict."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from convergebench.generation.records import UNKNOWN, Chain, FinishedChain, Program, Source
from convergebench.metric_modules.edit_applied.measure import KeptPicture
from convergebench.metric_modules.edit_applied.measure import Program as Judged
from convergebench.metric_modules.edit_applied.measure import Scorer as EditScorer
from convergebench.metric_modules.registration.measure import Scorer as RegistrationScorer
from convergebench.metric_modules.scores import Missing, ScoreRow, reasons_json

from ...analysis.cases import RETAINED, Case, case_of_chain
from ...analysis.floors import Floors
from ...analysis.groups import CHECKS, outcome_of_case
from ...analysis.reasons import losing_step, loss_clause, lost_outline
from ..served_dataset import Answer

ROUND_TRIP = ("make the edit", "undo it")  # unless a visitor gives the instructions
_ONLY_RETURNS = ("edit and undo",)  # without pictures of the edits, a round is one step
THRESHOLDS = tuple(number / 20 for number in range(1, 20))


@dataclass(frozen=True)
class Terms:
    """The terms by which a series is judged; for a picture of the dataset these are the dataset's own."""

    words: tuple[str, ...] = ROUND_TRIP
    small: bool = False  # the edit covers little of the picture
    short_side: int | None = None
    floors: Mapping[str, float] = field(default_factory=dict)  # empty: medians over the pictures at hand
    checks: tuple[str, ...] = CHECKS


class _FixedFloors(Floors):
    """Floors that were computed before, by metric."""

    def __init__(self, by_metric: Mapping[str, float]):
        super().__init__([], [])
        self.by_metric = by_metric

    def floor(self, chain: FinishedChain, metric: str) -> float | None:
        return self.by_metric.get(metric)


class RoundJudge:
    """Judges for each round whether its edit was made and undone, and whether a part was lost.

    As in the engine, edits are judged at the pictures' own size, and shifts at that of the `reference`.
    """

    def __init__(self, original: np.ndarray, reference: np.ndarray, terms: Terms, with_edits: bool):
        self.registration = RegistrationScorer("cpu", "float32", {})
        self.edits = EditScorer("cpu", "float32", {"registration": self.registration})
        self.sides = self.registration.prepare(reference), self.edits.prepare(reference)
        self.cycle = terms.words if with_edits else _ONLY_RETURNS
        self.small = terms.small
        self.before = self.keep(original)

    def keep(self, picture: np.ndarray) -> KeptPicture:
        return self.edits.embed([self.edits.reduce(picture)], [picture])[0]

    def rows(
        self, round: int, edit: np.ndarray | None, back: np.ndarray, at_size: np.ndarray, values: Mapping[str, float]
    ) -> list[ScoreRow]:
        """The rows of one round; `at_size` is the return at the reference's size, `values` its scores there."""
        pictures = [self.before, *([self.keep(edit)] if edit is not None else []), self.keep(back)]
        [shift] = self.registration.compare(self.sides[0], [at_size], [values])
        rows = []
        for position in range(1, len(pictures)):
            is_return = position == len(self.cycle)
            program = Judged(
                cycle=self.cycle,
                closes=True,
                small=self.small,
                shows=None,
                found=shift,
                round=round,
                audits=[],
                earlier=[],
            )
            judged = self.edits.judge(program, position, pictures[: position + 1], self.sides[1])
            stored = _as_stored({**values, **shift, **judged} if is_return else judged)
            rows.append(ScoreRow.from_scores({"round": round, "position": position} | stored))
        self.before = pictures[-1]
        return rows


def _as_stored(values: Mapping[str, object]) -> Answer:
    """Values as the scores hold them: null if a metric gives the code of a reason."""
    typed: Answer = {}
    for name, value in values.items():
        typed[name] = (
            Missing(value) if isinstance(value, str) else Missing(*value) if isinstance(value, tuple) else value
        )
    row = {name: None if isinstance(value, Missing) else value for name, value in typed.items()}
    return {name: json.dumps(value) if isinstance(value, dict) else value for name, value in row.items()} | {
        "reasons": reasons_json(typed)
    }


def series_case(
    rows: Sequence[ScoreRow], cycle: Sequence[str], floors: Mapping[str, float], size: tuple[int, int]
) -> Case:
    """The series as a case, like those that the statistics make of chains."""
    source = Source("yours", "", *size, "scene", "real", UNKNOWN, UNKNOWN)
    program = Program("yours", tuple(cycle), "", True, "clear")
    rounds = rows[-1].round
    chain = Chain(source, program, "yours", {}, 1, rounds)
    finished = FinishedChain("yours", chain, "yours", "1", "complete", len(rows), None)
    return case_of_chain(finished, rows, _FixedFloors(floors))


def checks_of(case: Case, checks: Sequence[str]) -> tuple[str, ...]:
    """The checks that can be made on this series."""
    measured = [name for name in RETAINED if None not in case.judged(name)]
    return tuple(check for check in checks if check in measured or check in ("part_lost", "edits"))


def verdicts(case: Case, rows: Sequence[ScoreRow], checks: Sequence[str]) -> list[Answer]:
    """What became of the series at each threshold that a visitor can choose."""
    scores = dict(enumerate(rows, 1))
    outcomes = []
    for threshold in THRESHOLDS:
        outcome = outcome_of_case(case, checks, threshold)
        step = losing_step(case, outcome, scores)
        outcomes.append(
            {
                "threshold": threshold,
                "kept": outcome.kept,
                "lost_at": outcome.lost_at,
                "step": step,
                "cause": outcome.cause,
                "clause": loss_clause(case, outcome, checks, threshold, scores.get(step or -1)),
            }
        )
    return outcomes


def listed_steps(rows: Sequence[ScoreRow], names: Sequence[str]) -> list[Answer]:
    """What the viewer shows for each step besides its metrics, with the name of its file."""
    return [
        {
            "name": name,
            "round": row.round,
            "position": row.position,
            "applied": row.edit_applied,
            "undone": row.edit_undone,
            "undo_ratio": row.undo_ratio,
            "part_lost": row.part_lost,
            "outline": lost_outline(row),
        }
        for row, name in zip(rows, names, strict=True)
    ]
