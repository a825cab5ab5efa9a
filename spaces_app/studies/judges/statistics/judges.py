"""How reliable each judge is: its agreement with itself, the rules and people, and whether it drifted."""

from collections import Counter
from collections.abc import Sequence

from convergebench.metric_modules._judges.drift import Drift

from ....analysis.analysis import Analysis
from ....analysis.answers import PEOPLE, Answers
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ..answers import Judged, Pair, agreement, repeated_pairs, scores_of_judged

TITLE = "How reliable the judges are"
SECTION = "Judges"
ON_PAGE = OnPage(line_where="judge")
ONE_RUN = "one run: a shift would show in the next"
_NO_REPEATS = "nothing was asked twice"
_UNCLEAR = "unclear"  # people's answer if they cannot tell
_NUMBER = "number"  # instead of an answer's code: the judge's value is compared with people's number


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
    """A row for each judge and question."""
    return [_row(analysis, judge, question) for judge, question in analysis.once(Judged).by_question]


def _row(analysis: Analysis, judge: str, question: str) -> Row:
    judged = analysis.once(Judged)
    answers, by_step = judged.by_question[judge, question], judged.by_step[judge, question]
    first = answers[0]
    without = Counter(answer["reason"] for answer in by_step.values() if answer["value"] is None)
    repeats = repeated_pairs(answers)
    itself = agreement(repeats)
    rule = agreement(_pairs_with_rule(analysis, judge, question, first["compared_with"]))
    people = agreement(_pairs_with_people(analysis, judge, question, first.get("labelled_as") or ""))
    later_runs = [run for run in judged.drift if (run.judge, run.question) == (judge, question)]
    costs = [answer["cost"] for answer in answers if answer["cost"] is not None]
    return Row(
        judge=judge,
        question=question,
        title=first["title"],
        model=", ".join(sorted({answer["model"] for answer in answers if answer["model"]})),
        answers=len(by_step),
        without=", ".join(f"{count} {reason}" for reason, count in sorted(without.items())) or None,
        itself=itself.share,
        itself_kappa=itself.kappa,
        itself_pairs=itself.pairs,
        rule=rule.share,
        rule_name=first["compared_with"],
        rule_kappa=rule.kappa,
        rule_pairs=rule.pairs,
        people=people.share,
        people_kappa=people.kappa,
        people_pairs=people.pairs,
        runs=len({answer["session"] for answer in answers}),
        drift=_drift_words(later_runs) or (ONE_RUN if repeats else _NO_REPEATS),
        alarm=" ".join(f"{run.sentence}." for run in later_runs if run.alarm) or None,
        cost=sum(costs) if costs else None,
    )


def _pairs_with_rule(analysis: Analysis, judge: str, question: str, rule: str | None) -> list[tuple[Pair, str]]:
    """A judge's answers paired with a column of the scores, each with its source."""
    judged, scores = analysis.once(Judged), analysis.once(scores_of_judged)
    by_step = judged.by_step[judge, question]
    return [
        ((value, float(seen)), by_step[step]["source"])
        for step, value in judged.values(judge, question).items()
        if rule and step in scores and (seen := scores[step].value(rule)) is not None
    ]


def _pairs_with_people(analysis: Analysis, judge: str, question: str, labelled_as: str) -> list[tuple[Pair, str]]:
    """A judge's answers paired with what most people said; `labelled_as` is QUESTION=ANSWER, the one that means yes."""
    judged = analysis.once(Judged)
    by_step = judged.by_step[judge, question]
    people_question, _, meaning = labelled_as.partition("=")
    people = analysis.once(Answers).to(PEOPLE, people_question)
    majorities = {step: answer.details["majority"] or _UNCLEAR for step, answer in people.items()}
    return [
        ((value, float(majority) if meaning == _NUMBER else float(majority == meaning)), by_step[step]["source"])
        for step, value in judged.values(judge, question).items()
        if (majority := majorities.get(step, _UNCLEAR)) != _UNCLEAR
    ]


def _drift_words(later_runs: Sequence[Drift]) -> str:
    """In a few words, whether later runs agree with the first one; empty if there are none."""
    if not later_runs:
        return ""
    if alarmed := [str(run.session) for run in later_runs if run.alarm]:
        return f"ALARM in run {', '.join(alarmed)}"
    renamed = ", another model name" if any(run.other_model for run in later_runs) else ""
    return f"none seen (p = {min(run.p for run in later_runs):.2f}){renamed}"


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    """The alarms first; then what the columns mean."""
    if not rows:
        return ""
    alarms = [f"ALARM: {row.alarm}" for row in rows if row.alarm]
    words = (
        "A judge is a vision or language model that was asked about steps; no headline depends on it. It agrees with "
        "itself if it answers the same question about the same pictures the same way twice. The rule is the column of "
        "the scores for the same question. Beyond chance: 1 is full agreement, 0 no more than by chance. An answer "
        "without a value is neither yes nor no. People's answer is the one that more than half of them gave for that "
        "step."
    )
    return " ".join([*alarms, words])


def alarms(rows: Sequence[Row]) -> list[str]:
    """For the top of the page: judges that drifted."""
    return [row.alarm for row in rows if row.alarm]
