from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from convergebench.metric_modules._judges.answers import CALIBRATION
from convergebench.metric_modules._judges.drift import Drift, find_drift

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ...step_answers import PEOPLE, StepKey, all_answers
from ..answers import Answer, Pair, agreement, judged_steps, newest_answers, scores_of_judged

TITLE = "How reliable the judges are"
SECTION = "Judges"
ON_PAGE = OnPage(line_where="judge")
NOTE = (
    "No headline depends on a judge. It agrees with itself if it answers the same question about the "
    "same pictures the same way twice. The rule is the column of the scores that answers the same question. "
    "Beyond chance: 1 is full agreement, 0 no more than chance. People's answer is the one that more than "
    "half of them gave."
)
ONE_RUN = "one run: a shift would show in the next"
_NO_REPEATS = "nothing was asked twice"
_UNCLEAR = "unclear"  # people's answer if they could not tell
_NUMBER = "number"  # the judge's value is compared with the number that people gave


class Row(TableRow):
    judge: str = column("Judge")
    question: str = column("Question", shown=False)
    title: str = column("Question")
    model: str = column("Model that answered")
    answers: int = column("Answers", "count")
    without: str | None = column("Without a value")
    itself: Estimate = column("Agrees with itself", "share")
    itself_kappa: float | None = column("Agreement with itself beyond chance", "number", shown=False)
    itself_pairs: int | None = column("Repeats", "count", shown=False)
    rule: Estimate = column("Agrees with the rule", "share")
    rule_name: str | None = column("Rule", shown=False)
    rule_kappa: float | None = column("Agreement with the rule beyond chance", "number")
    rule_pairs: int | None = column("Steps", "count")
    people: Estimate = column("Agrees with people", "share")
    people_kappa: float | None = column("Agreement with people beyond chance", "number")
    people_pairs: int | None = column("Labels", "count")
    runs: int = column("Runs", "count")
    drift: str = column("Drift")
    alarm: str | None = column("Alarm", shown=False)
    cost: float | None = column("Cost", "money")


def rows(analysis: Analysis) -> list[Row]:
    by_question = analysis.once(newest_answers)
    drifts: dict[tuple[str, str], list[Drift]] = defaultdict(list)
    for run in find_drift(row for rows in by_question.values() for row in rows):
        drifts[run.judge, run.question].append(run)
    return [_row(analysis, *key, answers, drifts[key]) for key, answers in by_question.items()]


def _row(analysis: Analysis, judge: str, question: str, answers: list[Answer], later_runs: list[Drift]) -> Row:
    by_step, scores = analysis.once(judged_steps)[judge, question], analysis.once(scores_of_judged)
    first, repeats = answers[0], _repeats(answers)
    without = Counter(answer["reason"] for answer in by_step.values() if answer["value"] is None)
    costs = [answer["cost"] for answer in answers if answer["cost"] is not None]
    rule = first["compared_with"]
    with_rule = {step: scores[step].value(rule) for step in by_step if rule and step in scores}
    with_people = _answers_of_people(analysis, first.get("labelled_as") or "")
    return Row(
        judge=judge,
        question=question,
        title=first["title"],
        model=", ".join(sorted({answer["model"] for answer in answers if answer["model"]})),
        answers=len(by_step),
        without=", ".join(f"{count} {reason}" for reason, count in sorted(without.items())) or None,
        rule_name=rule,
        **agreement("itself", repeats),
        **agreement("rule", _pairs(by_step, with_rule)),
        **agreement("people", _pairs(by_step, with_people)),
        runs=len({answer["session"] for answer in answers}),
        drift=_drift_words(later_runs) or (ONE_RUN if repeats else _NO_REPEATS),
        alarm=" ".join(f"{run.sentence}." for run in later_runs if run.alarm) or None,
        cost=sum(costs) if costs else None,
    )


def _pairs(answers: Mapping[StepKey, Answer], others: Mapping[StepKey, Any]) -> list[tuple[Pair, str]]:
    """Both values of each step that has both, as numbers, with its source."""
    return [
        ((row["value"], float(others[step])), row["source"])
        for step, row in answers.items()
        if row["value"] is not None and others.get(step) is not None
    ]


def _repeats(answers: Iterable[Answer]) -> list[tuple[Pair, str]]:
    repeats: dict[tuple[int, str], list[Answer]] = defaultdict(list)
    for row in answers:
        if row["purpose"] == CALIBRATION:
            repeats[row["session"], row["key"]].append(row)
    return [
        (tuple(row["reason"] if row["value"] is None else row["value"] for row in pair), pair[0]["source"])
        for same in repeats.values()
        for pair in combinations(same, 2)
    ]


def _answers_of_people(analysis: Analysis, labelled_as: str) -> dict[StepKey, float]:
    question, _, meaning = labelled_as.partition("=")
    people = analysis.once(all_answers).get((PEOPLE, question), {})
    return {
        step: float(answer.details["majority"] if meaning == _NUMBER else answer.details["majority"] == meaning)
        for step, answer in people.items()
        if answer.details["majority"] not in (None, _UNCLEAR)
    }


def _drift_words(later_runs: Sequence[Drift]) -> str:
    if not later_runs:
        return ""
    if alarmed := [str(run.session) for run in later_runs if run.alarm]:
        return f"ALARM in run {', '.join(alarmed)}"
    renamed = ", another model name" if any(run.other_model for run in later_runs) else ""
    return f"none seen (p = {min(run.p for run in later_runs):.2f}){renamed}"


def alarms(rows: Sequence[Row]) -> list[str]:
    return [row.alarm for row in rows if row.alarm]
