from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any

from convergebench.metric_modules.scores import ScoreRow

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.groups import account_for
from ....analysis.tables import Column, Estimate, TableRow, column, columns_by_key, mean_of
from ....statistics import OnPage
from ...step_answers import PEOPLE, Answers, StepAnswer, all_answers, judges_asked, share_of

TITLE = "Additions"
SECTION = "Additions"
ON_PAGE = OnPage(part_by="program", line_where="judged_by")
_STEPS = (5, 10, 20)  # the background is compared at these, as in Banana100
_RULES = "the rules"  # stand in for a judge, by the scores' `edit_changed`, if nobody was asked
_APPLIED, _THERE, _COUNT = "edit_applied", "additions_there", "object_count"  # questions to judges
_OF_PEOPLE = {_APPLIED: "applied", _THERE: "", _COUNT: "count"}  # the same questions as people are asked them


class Row(TableRow):
    program: str = column("Program", shown=False)
    editor: str = column("Editor")
    judged_by: str = column("Judged by")
    added: Estimate = column("Additions made", "share")
    stays: float | None = column("Still there at the end", "share")
    first_lost: str | None = column("First step that lost a thing")
    counted_right: float | None = column("Steps with one more", "share")
    none_added: float | None = column("Steps with none more", "share")
    several_added: float | None = column("Steps with several more", "share")
    first_miscount: str | None = column("First wrong count")
    count_error: float | None = column("Error of the last count", "change")
    replaced: float | None = column("Replaced, not added", "share")
    background: Mapping[str, float | None] = columns_by_key(
        lambda key: Column(key, f"Background LPIPS, step {key.rpartition('_')[2]}", "number", shown="_5" in key)
    )
    background_last: float | None = column("Background LPIPS, last step", "number")
    whole_last: float | None = column("LPIPS of the whole picture, last step", "number")
    steps: int = column("Steps", "count")
    planned: int = column("Steps planned", "count", shown=False)
    ended: str | None = column("Ended early")
    chains: int = column("Chains", "count")
    sources: int = column("Pictures", "count")


@dataclass(frozen=True)
class _Seen:
    """One chain as a judge saw it; steps without an entry were not judged."""

    case: Case
    answered: int  # steps with a picture
    added: Mapping[int, bool]  # whether the new thing is there
    there: Mapping[int, frozenset[int]]  # the steps whose things a judge listed as there
    counts: Mapping[int, float]
    background: Mapping[int, float]  # LPIPS outside the additions
    whole: Mapping[int, float]  # LPIPS of the whole picture


def _rises(chain: _Seen) -> dict[int, float]:
    """By how much the count rose in each step that was counted, as was the step before."""
    return {
        step: count - chain.counts[step - 1] for step, count in chain.counts.items() if step - 1 in chain.counts
    }


def _stays(chain: _Seen) -> float | None:
    made = [step for step in range(1, max(chain.there, default=0) + 1) if chain.added.get(step, True)]
    return mean_of(step in chain.there[max(chain.there)] for step in made)


def _first_lost(chain: _Seen) -> float:
    seen: set[int] = set()
    for step in sorted(chain.there):
        if seen - chain.there[step]:
            return step
        seen |= chain.there[step]
    return inf


def _count_error(chain: _Seen) -> float | None:
    """How many more things the last picture has than requested."""
    if 0 not in chain.counts or len(chain.counts) < 2:
        return None
    last = max(chain.counts)
    return chain.counts[last] - chain.counts[0] - last


def _replaced(chain: _Seen) -> dict[int, bool]:
    """For each step whose thing is there: did another thing disappear?"""
    lost = {step: rise <= 0 for step, rise in _rises(chain).items() if chain.added.get(step)}
    for step, steps_there in chain.there.items():
        if chain.added.get(step) and step - 1 in chain.there:
            lost[step] = lost.get(step, False) or bool(chain.there[step - 1] - steps_there)
    return lost


def _seen_chains(analysis: Analysis) -> Iterator[tuple[str, _Seen]]:
    cases = [
        case for case in analysis.cases if case.group == "additions" and "audit" not in case.chain.chain.settings
    ]
    scores = analysis.scores.of_chains({case.chain.id for case in cases})
    answers = analysis.once(all_answers)
    chains_of = {
        judge: {chain for question in _OF_PEOPLE for chain, _ in answers.get((judge, question), {})}
        for judge in judges_asked(answers, _OF_PEOPLE)
    }
    # Only people who counted have followed a chain;
    # others just said whether a change is there.
    chains_of[PEOPLE] = {
        answer.step[0] for answer in answers.get((PEOPLE, "count"), {}).values() if answer.value is not None
    }
    for case in cases:
        for judge in [judge for judge in chains_of if case.chain.id in chains_of[judge]] or [_RULES]:
            yield judge, _seen_by(judge, case, scores.get(case.chain.id, []), answers)


def _seen_by(judge: str, case: Case, scores: list[ScoreRow], answers: Answers) -> _Seen:
    replies: dict[str, dict[int, StepAnswer]] = {}
    for question, of_people in _OF_PEOPLE.items():
        by_step = answers.get((judge, of_people if judge == PEOPLE else question), {})
        steps = [(case.chain.id, step) for step in range(case.chain.calls + 1)]
        replies[question] = {key[1]: by_step[key] for key in steps if key in by_step}
    values = {
        question: {step: answer.value for step, answer in by_step.items() if answer.value is not None}
        for question, by_step in replies.items()
    }
    lists = {step: answer.details for step, answer in replies[_THERE].items() if answer.details}
    return _Seen(
        case,
        answered=sum(row.status == "ok" for row in scores),
        added={step: value == 1 for step, value in (values[_APPLIED] or _scored(scores, "edit_changed")).items()},
        there={step: frozenset(details.get("there", ())) for step, details in lists.items()},
        counts=values[_COUNT],
        background=_scored(scores, "background_lpips"),
        whole=_scored(scores, "lpips"),
    )


def _scored(scores: list[ScoreRow], name: str) -> dict[int, float]:
    return {row.step: value for row in scores if (value := row.value(name)) is not None}


def rows(analysis: Analysis) -> list[Row]:
    """The rules come after judges, baselines after editors."""
    groups: dict[tuple[Any, ...], list[_Seen]] = defaultdict(list)
    for judge, chain in _seen_chains(analysis):
        is_baseline = analysis.roles.get(chain.case.editor, "editor") != "editor"
        groups[chain.case.program, judge == _RULES, judge, is_baseline, chain.case.editor].append(chain)
    return [_row(key[0], key[2], key[4], groups[key]) for key in sorted(groups)]


def _row(program: str, judge: str, editor: str, chains: Sequence[_Seen]) -> Row:
    all_rises = [rise for chain in chains for rise in _rises(chain).values()]
    ends = Counter(chain.case.end for chain in chains if chain.case.end != "complete")
    return Row(
        program=program,
        editor=editor,
        judged_by=judge,
        added=share_of(
            [made for chain in chains for made in chain.added.values()],
            [chain.case.source for chain in chains for _ in chain.added],
        ),
        stays=mean_of(map(_stays, chains)),
        first_lost=_median_step((_first_lost(chain), chain.there) for chain in chains if chain.there),
        counted_right=mean_of(rise == 1 for rise in all_rises),
        none_added=mean_of(rise < 1 for rise in all_rises),
        several_added=mean_of(rise > 1 for rise in all_rises),
        first_miscount=_median_step(
            (min((step for step, rise in rises.items() if rise != 1), default=inf), chain.counts)
            for chain in chains
            if (rises := _rises(chain))
        ),
        count_error=mean_of(map(_count_error, chains)),
        replaced=mean_of(lost for chain in chains for lost in _replaced(chain).values()),
        background={
            f"background_{step}": mean_of(chain.background.get(step) for chain in chains) for step in _STEPS
        },
        background_last=mean_of(_last(chain.background) for chain in chains),
        whole_last=mean_of(_last(chain.whole) for chain in chains),
        steps=sum(chain.answered for chain in chains),
        planned=sum(chain.case.rounds * len(chain.case.chain.program.cycle) for chain in chains),
        ended=", ".join(f"{count} {end}" for end, count in sorted(ends.items())) or None,
        chains=len(chains),
        sources=len({chain.case.source for chain in chains}),
    )


def _last(values: Mapping[int, float]) -> float | None:
    return values[max(values)] if values else None


def _median_step(firsts: Iterable[tuple[float, Iterable[int]]]) -> str | None:
    """The median of first steps; ">N" if half of the chains have none.

    >>> _median_step([(7, [20]), (9, [20]), (float("inf"), [20])]), _median_step([(float("inf"), [4, 12])])
    ('9', '>12')
    """
    pairs = [(first, max(steps)) for first, steps in firsts]
    if not pairs:
        return None
    middle = median(first for first, _ in pairs)
    return f">{max(last for _, last in pairs)}" if middle == inf else f"{middle:g}"


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    places = account_for(analysis)
    counts = Counter(places[chain.id] for chain in analysis.chains if not chain.program.closes)
    total = " + ".join(f"{count} {place}" for place, count in sorted(counts.items()))
    sentences = [
        f"{counts.total()} chains that only add = {total}.",
        "What counts is whether each thing appears and stays, and what happens to the rest of the picture. "
        "First steps are medians over chains.",
    ]
    if any(row.judged_by == _RULES for row in rows):
        sentences.append(
            "The rules neither count nor name things: `convergebench judge` "
            "with the questions edit_applied, additions_there and object_count does."
        )
    if not any(row.background_last is not None for row in rows):
        sentences.append("`convergebench score --metrics background` adds LPIPS outside the additions.")
    return " ".join(sentences)
