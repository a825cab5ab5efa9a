"""What each judge's answers are worth: with itself, with the rules, with people, and whether it drifted."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.answers import PEOPLE, Answers
from ....analysis.stored_rows import rows_of
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..judged import Judged, Pair, agreement, judged_of, repeated_pairs

TITLE = "What the judges are worth"
SECTION = "Judges"
ON_PAGE = OnPage(line_where="judge")
ONE_RUN = "one run: a shift would show in the next"
UNCLEAR = "unclear"  # people's answer that nobody can tell
NUMBER = "number"  # in the place of an answer's code: the judge's value is compared with people's number
NOTHING = "nothing was asked twice"
COLUMNS = (
    Column("judge", "Judge"),
    Column("question", "Question", shown=False),
    Column("title", "Question"),
    Column("model", "Model that answered"),
    Column("answers", "Answers", "count"),
    Column("without", "Without a value"),
    Column("itself", "Agrees with itself", "share", interval=True),
    Column("itself_kappa", "beyond chance", "number", shown=False),
    Column("itself_pairs", "Repeats", "count", shown=False),
    Column("rule", "Agrees with the rule", "share", interval=True),
    Column("rule_name", "Rule", shown=False),
    Column("rule_kappa", "beyond chance", "number"),
    Column("rule_pairs", "Steps", "count"),
    Column("people", "Agrees with people", "share", interval=True),
    Column("people_kappa", "beyond chance", "number"),
    Column("people_pairs", "Labels", "count"),
    Column("runs", "Runs", "count"),
    Column("drift", "Drift"),
    Column("alarm", "Alarm", shown=False),
    Column("cost", "Cost", "money"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each judge and question."""
    chains = {chain for steps in analysis.once(judged_of).by_step.values() for chain, _ in steps}
    scored = {(row["chain"], row["step"]): row for row in rows_of(analysis.scores, chains)}
    return [row_of(analysis, judge, question, scored) for judge, question in analysis.once(judged_of).by_question]


def row_of(
    analysis: Analysis,
    judge: str,
    question: str,
    scored: Mapping[tuple[str, int], Mapping[str, Any]],
) -> dict[str, Any]:
    judged: Judged = analysis.once(judged_of)
    own, by_step = judged.by_question[judge, question], judged.by_step[judge, question]
    without = Counter(row["reason"] for row in by_step.values() if row["value"] is None)
    rule, values = own[0]["compared_with"], judged.values(judge, question)
    known: list[tuple[Pair, str]] = [
        ((value, float(scored[step][rule])), by_step[step]["source"])
        for step, value in values.items()
        if rule and scored.get(step, {}).get(rule) is not None
    ]
    asked, _, meaning = (own[0].get("labelled_as") or "").partition("=")
    majorities = {step: said.details["majority"] for step, said in analysis.once(Answers).to(PEOPLE, asked).items()}
    said: list[tuple[Pair, str]] = [
        ((value, float(answer) if meaning == NUMBER else float(answer == meaning)), by_step[step]["source"])
        for step, value in values.items()
        if (answer := majorities.get(step) or UNCLEAR) != UNCLEAR
    ]
    costs = [row["cost"] for row in own if row["cost"] is not None]
    runs = sorted({row["session"] for row in own})
    return {
        "judge": judge,
        "question": question,
        "title": own[0]["title"],
        "model": ", ".join(sorted({row["model"] for row in own if row["model"]})),
        "answers": len(by_step),
        "without": ", ".join(f"{count} {reason}" for reason, count in sorted(without.items())) or None,
        **agreement(repeated_pairs(own), "itself"),
        "rule_name": rule,
        **agreement(known, "rule"),
        **agreement(said, "people"),
        "runs": len(runs),
        "drift": drift_words(judged, judge, question),
        "alarm": " ".join(f"{each.sentence}." for each in of_question(judged, judge, question) if each.alarm) or None,
        "cost": sum(costs) if costs else None,
    }


def of_question(judged: Judged, judge: str, question: str) -> list[Any]:
    return [each for each in judged.drift if (each.judge, each.question) == (judge, question)]


def drift_words(judged: Judged, judge: str, question: str) -> str:
    """In a few words, whether later runs were answered as the first one."""
    later = of_question(judged, judge, question)
    if alarms := [each for each in later if each.alarm]:
        return f"ALARM in run {', '.join(str(each.session) for each in alarms)}"
    if not later:
        return ONE_RUN if repeated_pairs(judged.by_question[judge, question]) else NOTHING
    least = min(each.p for each in later)
    renamed = ", another model name" if any(each.other_model for each in later) else ""
    return f"none seen (p = {least:.2f}){renamed}"


def note(analysis: Analysis, rows: Rows) -> str:
    """The alarms first; then what the columns mean."""
    if not rows:
        return ""
    alarms = [f"ALARM: {row['alarm']}" for row in rows if row["alarm"]]
    words = (
        "A judge is a vision or language model that was asked about steps; no headline rests on it. It agrees with "
        "itself where the same question about the same pictures has the same answer twice. The rule is the column of "
        "the scores that answers the same. Beyond chance: 1 is full agreement, 0 no more than by chance. An answer "
        "without a value is neither yes nor no. People's answer is what more than half of them said of that step."
    )
    return " ".join([*alarms, words])


def alarms(rows: Rows) -> list[str]:
    """What the page says first: a judge that drifted."""
    return [row["alarm"] for row in rows if row["alarm"]]
