"""How often a restored picture is unfaithful or overdone, by prompt and by group of prompts, as judges see it."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.intervals import share_interval

from ....analysis.analysis import Analysis
from ....analysis.answers import Answers, StepAnswer
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import FAITHFUL, FREE, prompt_group, prompt_name
from ..restored import CATEGORY

TITLE = "Infidelity and over-generation, as judges see them"
SECTION = "Restoration"
ON_PAGE = OnPage(order=65, part_by="judge", line_where="group")
QUESTIONS = {"infidelity": "infidelity", "over_generation": "overdone"}
UNIONS = {"without fidelity words": FREE, "with fidelity words": FAITHFUL}
COLUMNS = (
    Column("judge", "Judge", shown=False),
    Column("editor", "Editor"),
    Column("group", "Prompts"),
    Column("prompts", "Of them", "count"),
    Column("infidelity", "Unfaithful", "count"),
    Column("infidelity_per_prompt", "per prompt", "rounds"),
    Column("infidelity_share", "of the pictures", "share", interval=True),
    Column("kinds", "Kinds"),
    Column("overdone", "Overdone", "count"),
    Column("overdone_per_prompt", "per prompt", "rounds"),
    Column("overdone_share", "of the pictures", "share", interval=True),
    Column("pictures", "Pictures judged", "count"),
    Column("without", "Without a value", "count"),
)

JudgedChain = tuple[FinishedChain, StepAnswer]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each judge, editor and prompt, and one for the prompts with and without fidelity words."""
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category == CATEGORY}
    answers = analysis.once(Answers)
    found = []
    for judge in answers.judges(*QUESTIONS):
        by_editor: dict[str, list[JudgedChain]] = defaultdict(list)
        for question in QUESTIONS:
            for (chain, _), answer in answers.to(judge, question).items():
                if chain in chains:
                    by_editor[chains[chain].editor].append((chains[chain], answer))
        for editor, judged in sorted(by_editor.items()):
            about = {"judge": judge, "editor": editor}
            for prompt in sorted({chain.program.id for chain, _ in judged}):
                part = [(chain, answer) for chain, answer in judged if chain.program.id == prompt]
                found.append(about | {"group": prompt_name(prompt)} | row_of(part))
            for name, groups in UNIONS.items():
                part = [(chain, answer) for chain, answer in judged if prompt_group(chain.program.id) in groups]
                if part:
                    found.append(about | {"group": name} | row_of(part))
    return found


def row_of(judged: list[JudgedChain]) -> dict[str, Any]:
    """Counts and shares of some prompts' pictures; an answer without a value is neither."""
    prompts = {chain.program.id for chain, _ in judged}
    row: dict[str, Any] = {"prompts": len(prompts)}
    for question, column in QUESTIONS.items():
        marks = [
            (answer.value == 1.0, chain.source.id.partition("~")[0])
            for chain, answer in judged
            if answer.question == question and answer.value is not None
        ]
        if marks:
            seen = np.array([is_seen for is_seen, _ in marks])
            low, high = share_interval(seen, [clean for _, clean in marks]) or (None, None)
            row |= {column: int(seen.sum()), f"{column}_per_prompt": seen.sum() / len(prompts)}
            row |= {f"{column}_share": float(seen.mean()), f"{column}_share_low": low, f"{column}_share_high": high}
    kinds = Counter(
        answer.details.get("kind", "other")
        for _, answer in judged
        if answer.question == "infidelity" and answer.value == 1.0
    )
    return row | {
        "kinds": ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or None,
        "pictures": len({answer.step for _, answer in judged}),
        "without": sum(answer.value is None for _, answer in judged),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "A picture is unfaithful where what it shows deviates severely from the degraded one: something inserted, a "
        "shape distorted, a meaning changed. It is overdone where detail is exaggerated. The section Judges says what "
        "these judges are worth."
    )
