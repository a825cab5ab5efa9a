from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from convergebench.generation.records import FinishedChain

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ...step_answers import PEOPLE, Answers, StepAnswer, all_answers, judges_asked, share_of
from ..restored import CATEGORY, prompt_group, prompt_name

TITLE = "Infidelity and over-generation, as judges and people see them"
SECTION = "Restoration"
ON_PAGE = OnPage(order=65, part_by="judge", line_where="group")
NOTE = (
    "A picture is unfaithful if something is inserted, a shape distorted or a meaning changed, "
    "and overdone if detail is exaggerated. The section Judges shows how reliable judges are."
)
# The questions to judges, and what people call the same failures.
_QUESTIONS = {"infidelity": "infidelity", "over_generation": "over-generation"}
_UNIONS = {"without fidelity words": ("L", "S"), "with fidelity words": ("LF", "SF")}


class Row(TableRow):
    judge: str = column("Judge", shown=False)
    editor: str = column("Editor")
    group: str = column("Prompts")
    prompts: int = column("Number of prompts", "count")
    infidelity: int | None = column("Unfaithful", "count")
    infidelity_per_prompt: float | None = column("Unfaithful per prompt", "rounds")
    infidelity_share: Estimate = column("Share unfaithful", "share")
    kinds: str | None = column("Kinds")
    overdone: int | None = column("Overdone", "count")
    overdone_per_prompt: float | None = column("Overdone per prompt", "rounds")
    overdone_share: Estimate = column("Share overdone", "share")
    pictures: int = column("Pictures judged", "count")
    without: int = column("Answers without a value", "count")


_JudgedChain = tuple[FinishedChain, StepAnswer]


def rows(analysis: Analysis) -> Iterator[Row]:
    """For each prompt, and for all with and without fidelity words."""
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category == CATEGORY}
    groups: dict[tuple[str, str], list[_JudgedChain]] = defaultdict(list)
    for answer in _all_answers(analysis.once(all_answers)):
        if chain := chains.get(answer.step[0]):
            groups[answer.judge, chain.editor].append((chain, answer))
    for (judge, editor), judged in sorted(groups.items(), key=lambda item: (item[0][0] == PEOPLE, item[0])):
        by_prompt: dict[str, list[_JudgedChain]] = defaultdict(list)
        for chain, answer in judged:
            by_prompt[chain.program.id].append((chain, answer))
        for prompt in sorted(by_prompt):
            yield _row(judge, editor, prompt_name(prompt), by_prompt[prompt])
        for name, union in _UNIONS.items():
            if part := [pair for pair in judged if prompt_group(pair[0].program.id) in union]:
                yield _row(judge, editor, name, part)


def _all_answers(answers: Answers) -> Iterator[StepAnswer]:
    for judge in judges_asked(answers, _QUESTIONS):
        for question in _QUESTIONS:
            yield from answers.get((judge, question), {}).values()
    for failure in answers.get((PEOPLE, "failure"), {}).values():
        majority = failure.details["majority"]
        for question, code in _QUESTIONS.items():
            value = None if majority is None else float(majority == code)
            yield StepAnswer(PEOPLE, question, failure.step, value, {})


def _row(judge: str, editor: str, group: str, judged: list[_JudgedChain]) -> Row:
    unfaithful = [answer for _, answer in judged if answer.question == "infidelity" and answer.value == 1.0]
    named = unfaithful if judge != PEOPLE else []  # people name no kinds
    kinds = Counter(answer.details.get("kind", "other") for answer in named)
    return Row(
        judge=judge,
        editor=editor,
        group=group,
        prompts=len({chain.program.id for chain, _ in judged}),
        kinds=", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or None,
        **_counts(judged, "infidelity", "infidelity"),
        **_counts(judged, "overdone", "over_generation"),
        pictures=len({answer.step for _, answer in judged}),
        without=sum(answer.value is None for _, answer in judged),
    )


def _counts(judged: list[_JudgedChain], name: str, question: str) -> dict[str, Any]:
    answered = [pair for pair in judged if pair[1].question == question and pair[1].value is not None]
    if not answered:
        return {name: None, f"{name}_per_prompt": None, f"{name}_share": Estimate()}
    seen = [answer.value == 1.0 for _, answer in answered]
    share = share_of(seen, [chain.source.id.partition("~")[0] for chain, _ in answered])
    count, prompts = sum(seen), len({chain.program.id for chain, _ in judged})
    return {name: count, f"{name}_per_prompt": count / prompts, f"{name}_share": share}
