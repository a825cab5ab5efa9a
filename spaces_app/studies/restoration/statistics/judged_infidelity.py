"""How often a restored picture is unfaithful or overdone, by prompt, as judges and people see it."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.intervals import share_interval

from ....analysis.analysis import Analysis
from ....analysis.answers import PEOPLE, Answers, StepAnswer
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from ..prompts import FAITHFUL, FREE, prompt_group, prompt_name
from ..restored import CATEGORY

TITLE = "Infidelity and over-generation, as judges and people see them"
SECTION = "Restoration"
ON_PAGE = OnPage(order=65, part_by="judge", line_where="group")
NOTE = (
    "A picture is unfaithful if it deviates severely from the degraded one: something inserted, a shape distorted, "
    "a meaning changed. It is overdone if detail is exaggerated. The section Judges shows how reliable these "
    "judges are."
)
_INFIDELITY, _OVERDONE = "infidelity", "over_generation"  # questions to judges
_UNIONS = {"without fidelity words": FREE, "with fidelity words": FAITHFUL}


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


def rows(analysis: Analysis) -> list[Row]:
    """A row for each judge, editor and prompt, and one for the prompts with and without fidelity words."""
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category == CATEGORY}
    answers = analysis.once(Answers)
    judged = [
        answer
        for judge in answers.judges(_INFIDELITY, _OVERDONE)
        for question in (_INFIDELITY, _OVERDONE)
        for answer in answers.to(judge, question).values()
    ]
    groups: dict[tuple[str, str], list[_JudgedChain]] = defaultdict(list)
    for answer in [*judged, *_answers_of_people(answers)]:
        if chain := chains.get(answer.step[0]):
            groups[answer.judge, chain.editor].append((chain, answer))
    rows = []
    for judge, editor in sorted(groups, key=lambda key: (key[0] == PEOPLE, key)):
        of_editor = groups[judge, editor]
        for prompt in sorted({chain.program.id for chain, _ in of_editor}):
            part = [(chain, answer) for chain, answer in of_editor if chain.program.id == prompt]
            rows.append(_row(judge, editor, prompt_name(prompt), part))
        for name, prompts in _UNIONS.items():
            if part := [pair for pair in of_editor if prompt_group(pair[0].program.id) in prompts]:
                rows.append(_row(judge, editor, name, part))
    return rows


def _answers_of_people(answers: Answers) -> Iterator[StepAnswer]:
    """What people saw go wrong, as answers to the judges' questions."""
    for failure in answers.to(PEOPLE, "failure").values():
        majority = failure.details["majority"]
        for question, code in ((_INFIDELITY, "infidelity"), (_OVERDONE, "over-generation")):
            value = None if majority is None else float(majority == code)
            yield StepAnswer(PEOPLE, question, failure.step, value, {})


def _row(judge: str, editor: str, group: str, judged: list[_JudgedChain]) -> Row:
    """Counts and shares of some prompts' pictures; an answer without a value counts in neither."""
    prompts = len({chain.program.id for chain, _ in judged})
    infidelity, infidelity_share = _counts(judged, _INFIDELITY)
    overdone, overdone_share = _counts(judged, _OVERDONE)
    kinds = Counter(
        answer.details.get("kind", "other")
        for _, answer in judged
        if answer.question == _INFIDELITY and answer.value == 1.0 and judge != PEOPLE  # people name no kind
    )
    return Row(
        judge=judge,
        editor=editor,
        group=group,
        prompts=prompts,
        infidelity=infidelity,
        infidelity_per_prompt=None if infidelity is None else infidelity / prompts,
        infidelity_share=infidelity_share,
        kinds=", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or None,
        overdone=overdone,
        overdone_per_prompt=None if overdone is None else overdone / prompts,
        overdone_share=overdone_share,
        pictures=len({answer.step for _, answer in judged}),
        without=sum(answer.value is None for _, answer in judged),
    )


def _counts(judged: list[_JudgedChain], question: str) -> tuple[int | None, Estimate]:
    """The number of pictures answered yes, and their share."""
    answers = [pair for pair in judged if pair[1].question == question and pair[1].value is not None]
    if not answers:
        return None, Estimate()
    seen = np.array([answer.value == 1.0 for _, answer in answers])
    clean = [chain.source.id.partition("~")[0] for chain, _ in answers]
    return int(seen.sum()), estimate(float(seen.mean()), share_interval(seen, clean))
