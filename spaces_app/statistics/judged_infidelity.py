"""How often a restored picture is unfaithful or overdone, by prompt and by group of prompts, as judges see it."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval

from ..analysis.analysis import Analysis
from ..analysis.judged import judged_of
from ..analysis.restoration import FAITHFUL, FREE, prompt_group, prompt_name
from ..analysis.tables import Column
from . import OnPage, Rows

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


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each judge, editor and prompt, and one for the prompts with and without fidelity words."""
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category == "restoration"}
    found = []
    for judge in analysis.once(judged_of).judges_of(*QUESTIONS):
        answers: dict[str, list[tuple[str, str, dict[str, Any]]]] = defaultdict(list)  # editor: prompt, column, answer
        for question, column in QUESTIONS.items():
            for (chain, _), row in analysis.once(judged_of).by_step.get((judge, question), {}).items():
                if chain in chains:
                    answers[chains[chain].editor].append((chains[chain].program.id, column, dict(row)))
        for editor, own in sorted(answers.items()):
            about = {"judge": judge, "editor": editor}
            for prompt in sorted({prompt for prompt, _, _ in own}):
                part = [each for each in own if each[0] == prompt]
                found.append(about | {"group": prompt_name(prompt)} | row_of(analysis, judge, part))
            for name, groups in UNIONS.items():
                if part := [each for each in own if prompt_group(each[0]) in groups]:
                    found.append(about | {"group": name} | row_of(analysis, judge, part))
    return found


def row_of(analysis: Analysis, judge: str, answers: list[tuple[str, str, dict[str, Any]]]) -> dict[str, Any]:
    """Counts and shares of some prompts' pictures; an answer without a value is neither."""
    prompts = {prompt for prompt, _, _ in answers}
    row: dict[str, Any] = {"prompts": len(prompts)}
    for column in QUESTIONS.values():
        own = [answer for _, each, answer in answers if each == column and answer["value"] is not None]
        if not own:
            continue
        marks = np.array([answer["value"] == 1.0 for answer in own])
        limits = share_interval(marks, [answer["source"].partition("~")[0] for answer in own])
        row |= {column: int(marks.sum()), f"{column}_per_prompt": marks.sum() / len(prompts)}
        row |= {f"{column}_share": float(marks.mean())}
        row |= dict(zip((f"{column}_share_low", f"{column}_share_high"), limits or (None, None), strict=True))
    said = analysis.once(judged_of).whole_answers(judge, "infidelity")
    kinds = Counter(
        said[answer["chain"], answer["step"]].get("kind", "other")
        for _, column, answer in answers
        if column == "infidelity" and answer["value"] == 1.0
    )
    return row | {
        "kinds": ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or None,
        "pictures": len({(answer["chain"], answer["step"]) for _, _, answer in answers}),
        "without": sum(answer["value"] is None for _, _, answer in answers),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "A picture is unfaithful where what it shows deviates severely from the degraded one: something inserted, a "
        "shape distorted, a meaning changed. It is overdone where detail is exaggerated. The section Judges says what "
        "these judges are worth."
    )
