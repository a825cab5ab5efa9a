"""Programs that only add: what became of each thing that was added, as a judge, or the rules, saw it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any

from convergebench.dataset_builder.studies.labels.labels import QUESTIONS

from .analysis import Analysis
from .cases import Case
from .judged import Step, judged_of
from .people import of_question, people_of
from .stored_rows import rows_of

APPLIED, THERE, COUNT = "edit_applied", "additions_there", "object_count"
PEOPLE = "people"  # who labelled pictures in the Space
RULES = "the rules"  # where no judge was asked: `edit_applied` of the scores
Row = Mapping[str, Any]


@dataclass(frozen=True)
class AdditionChain:
    """One chain that only adds, step by step; a step without an entry was not judged."""

    case: Case
    judge: str
    planned: int
    answered: int  # steps with a picture
    added: Mapping[int, bool]  # whether the new thing is there
    there: Mapping[int, frozenset[int]]  # the steps whose things are there, those that were listed
    counts: Mapping[int, float]
    background: Mapping[int, float]  # LPIPS outside the additions
    whole: Mapping[int, float]  # LPIPS of the whole picture
    by_judge: bool  # whether `added` is a judge's

    @property
    def stays(self) -> float | None:
        """Of the things that were added, the share that is there in the last picture that was judged."""
        if not self.there:
            return None
        last = max(self.there)
        made = [step for step in range(1, last + 1) if self.added.get(step, True)]
        return sum(step in self.there[last] for step in made) / len(made) if made else None

    @property
    def first_lost(self) -> float:
        """The first step that lacks a thing that an earlier one had; infinity where none does."""
        seen: set[int] = set()
        for step in sorted(self.there):
            if seen - self.there[step]:
                return step
            seen |= self.there[step]
        return inf

    @property
    def steps_by_one(self) -> dict[int, float]:
        """By how much the count rose in each step whose picture and the one before were counted."""
        return {step: count - self.counts[step - 1] for step, count in self.counts.items() if step - 1 in self.counts}

    @property
    def first_miscount(self) -> float:
        """The first step that does not count one more than the one before; infinity where none does."""
        return min((step for step, rise in self.steps_by_one.items() if rise != 1), default=inf)

    @property
    def count_error(self) -> float | None:
        """How many things more than asked for the last picture has, if negative, how many fewer."""
        if 0 not in self.counts or len(self.counts) < 2:
            return None
        last = max(self.counts)
        return self.counts[last] - self.counts[0] - last

    @property
    def replaced(self) -> dict[int, bool]:
        """For each step whose new thing is there, whether another thing is gone for it."""
        found = {step: rise <= 0 for step, rise in self.steps_by_one.items() if self.added.get(step)}
        for step, there in self.there.items():
            if self.added.get(step) and step - 1 in self.there:
                found[step] = found.get(step, False) or bool(self.there[step - 1] - there)
        return found


def addition_chains(analysis: Analysis) -> list[AdditionChain]:
    """Every chain that only adds, once for each judge that was asked about it, or else by the rules alone."""
    cases = [case for case in analysis.cases if case.group == "additions" and "audit" not in case.chain.chain.settings]
    scores: dict[str, list[Row]] = defaultdict(list)
    wanted = {case.chain.id for case in cases}
    for row in rows_of(analysis.scores, wanted):
        scores[row["chain"]].append(row)
    judges = analysis.once(judged_of).judges_of(APPLIED, THERE, COUNT)
    asked = {
        judge: {
            chain
            for question in (APPLIED, THERE, COUNT)
            for chain, _ in analysis.once(judged_of).by_step.get((judge, question), {})
        }
        for judge in judges
    }
    seen = {APPLIED: edits_seen(analysis), COUNT: counts_seen(analysis)}
    asked[PEOPLE] = {chain for chain, _ in seen[COUNT]}
    found = []
    for case in cases:
        own = [judge for judge in (*judges, PEOPLE) if case.chain.id in asked[judge]] or [RULES]
        found += [addition_chain(analysis, case, judge, scores[case.chain.id], seen) for judge in own]
    return found


def counts_seen(analysis: Analysis) -> dict[Step, float]:
    """How many things people count in each picture: the middle one of their numbers."""
    number = QUESTIONS["count"].number
    numbers = {
        (item.chain.id, item.step): [each for each in map(number, item.answers) if each is not None]
        for item in of_question(analysis.once(people_of), "count")
    }
    return {step: median(own) for step, own in numbers.items() if own}


def edits_seen(analysis: Analysis) -> dict[Step, float]:
    """Whether most people say that the change is there."""
    said = {(item.chain.id, item.step): item.majority for item in of_question(analysis.once(people_of), "applied")}
    return {step: float(answer == "yes") for step, answer in said.items() if answer in ("yes", "no")}


def addition_chain(
    analysis: Analysis, case: Case, judge: str, scores: Sequence[Row], seen: Mapping[str, Mapping[Step, float]]
) -> AdditionChain:
    """One chain as one judge, or people, saw it."""
    name, judged = case.chain.id, analysis.once(judged_of)

    def values(question: str) -> dict[int, float]:
        said = seen[question] if judge == PEOPLE else judged.values(judge, question)
        return {step: value for (chain, step), value in said.items() if chain == name}

    made = {step: value == 1.0 for step, value in values(APPLIED).items()}
    rules = {row["step"]: bool(row[APPLIED]) for row in scores if row.get(APPLIED) is not None}
    lists = judged.whole_answers(judge, THERE)
    return AdditionChain(
        case,
        judge,
        case.rounds * len(case.chain.program.cycle),
        sum(row["status"] == "ok" for row in scores),
        made or rules,
        {step: frozenset(said.get("there", ())) for (chain, step), said in lists.items() if chain == name},
        values(COUNT),
        {row["step"]: row["background_lpips"] for row in scores if row.get("background_lpips") is not None},
        {row["step"]: row["lpips"] for row in scores if row.get("lpips") is not None},
        bool(made),
    )
