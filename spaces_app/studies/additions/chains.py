"""Programs that only add: what became of each added thing, as a judge, people or the rules saw it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from convergebench.metric_modules.scores import ScoreRow

from ...analysis.analysis import Analysis
from ...analysis.answers import PEOPLE, Answers, StepAnswer
from ...analysis.cases import Case
from ...analysis.stored_rows import by_chain, rows_of

RULES = "the rules"  # the judge's name if none was asked: additions are judged by `edit_applied` of the scores
_APPLIED, _THERE, _COUNT = "edit_applied", "additions_there", "object_count"  # questions to judges
_OF_PEOPLE = {_APPLIED: "applied", _COUNT: "count"}  # the same questions as people are asked them


@dataclass(frozen=True)
class AdditionChain:
    """One chain that only adds, step by step; a step without an entry was not judged."""

    case: Case
    judge: str
    planned: int
    answered: int  # steps with a picture
    added: Mapping[int, bool]  # whether the new thing is there
    there: Mapping[int, frozenset[int]]  # by step that a judge listed: the steps whose things are there
    counts: Mapping[int, float]
    background: Mapping[int, float]  # LPIPS outside the additions
    whole: Mapping[int, float]  # LPIPS of the whole picture

    @property
    def stays(self) -> float | None:
        """The share of the added things that are in the last judged picture."""
        if not self.there:
            return None
        last = max(self.there)
        made = [step for step in range(1, last + 1) if self.added.get(step, True)]
        return sum(step in self.there[last] for step in made) / len(made) if made else None

    @property
    def first_lost(self) -> float:
        """The first step that lacks a thing that an earlier one had; infinity if none does."""
        seen: set[int] = set()
        for step in sorted(self.there):
            if seen - self.there[step]:
                return step
            seen |= self.there[step]
        return inf

    @property
    def steps_by_one(self) -> dict[int, float]:
        """The rise of the count in each step whose picture was counted, as was the one before."""
        return {step: count - self.counts[step - 1] for step, count in self.counts.items() if step - 1 in self.counts}

    @property
    def first_miscount(self) -> float:
        """The first step that does not count one more than the one before; infinity if none does."""
        return min((step for step, rise in self.steps_by_one.items() if rise != 1), default=inf)

    @property
    def count_error(self) -> float | None:
        """How many more things the last picture has than requested; negative if it has fewer."""
        if 0 not in self.counts or len(self.counts) < 2:
            return None
        last = max(self.counts)
        return self.counts[last] - self.counts[0] - last

    @property
    def background_last(self) -> float | None:
        return _last(self.background)

    @property
    def whole_last(self) -> float | None:
        return _last(self.whole)

    @property
    def replaced(self) -> dict[int, bool]:
        """For each step whose new thing is there, whether another thing disappeared."""
        is_replaced = {step: rise <= 0 for step, rise in self.steps_by_one.items() if self.added.get(step)}
        for step, steps_there in self.there.items():
            if self.added.get(step) and step - 1 in self.there:
                is_replaced[step] = is_replaced.get(step, False) or bool(self.there[step - 1] - steps_there)
        return is_replaced


def _last(values: Mapping[int, float]) -> float | None:
    return values[max(values)] if values else None


def addition_chains(analysis: Analysis) -> list[AdditionChain]:
    """Every chain that only adds, once for each judge that was asked about it, or else by the rules alone."""
    cases = [case for case in analysis.cases if case.group == "additions" and "audit" not in case.chain.chain.settings]
    scores = dict(by_chain(rows_of(analysis.scores, {case.chain.id for case in cases})))
    answers = analysis.once(Answers)
    judges = answers.judges(_APPLIED, _THERE, _COUNT)
    # People who only said whether the change is there have not followed a chain: only those who counted do.
    chains_of = {judge: answers.chains(judge, _APPLIED, _THERE, _COUNT) for judge in judges}
    chains_of[PEOPLE] = {answer.step[0] for answer in answers.to(PEOPLE, "count").values() if answer.value is not None}
    chains = []
    for case in cases:
        seen_by = [judge for judge in (*judges, PEOPLE) if case.chain.id in chains_of[judge]] or [RULES]
        chains += [_addition_chain(case, judge, scores.get(case.chain.id, []), answers) for judge in seen_by]
    return chains


def _addition_chain(case: Case, judge: str, scores: list[ScoreRow], answers: Answers) -> AdditionChain:
    def by_step(question: str) -> dict[int, StepAnswer]:
        code = _OF_PEOPLE.get(question, "") if judge == PEOPLE else question
        return answers.of_chain(judge, code, case.chain.id)

    def values(question: str) -> dict[int, float]:
        return {step: answer.value for step, answer in by_step(question).items() if answer.value is not None}

    def column(name: str) -> dict[int, Any]:
        return {row.step: value for row in scores if (value := row.value(name)) is not None}

    made = {step: value == 1.0 for step, value in values(_APPLIED).items()}
    lists = {step: answer.details for step, answer in by_step(_THERE).items() if answer.details}
    return AdditionChain(
        case,
        judge,
        planned=case.rounds * len(case.chain.program.cycle),
        answered=sum(row.status == "ok" for row in scores),
        added=made or {step: bool(value) for step, value in column("edit_applied").items()},
        there={step: frozenset(details.get("there", ())) for step, details in lists.items()},
        counts=values(_COUNT),
        background=column("background_lpips"),
        whole=column("lpips"),
    )
