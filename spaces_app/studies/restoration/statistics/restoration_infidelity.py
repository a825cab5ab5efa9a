"""Infidelity of restorations by prompt: how many pictures hold what the original does not have, as people saw them."""

from statistics import fmean
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.answers import PEOPLE, Answers
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import FAITHFUL, FREE, prompt_group, prompt_name
from ..restored import CATEGORY

TITLE = "Infidelity and over-generation by prompt"
SECTION = "Restoration"
ON_PAGE = OnPage(order=45, part_by="editor")
CASES = {"infidelity": "infidelity", "over_generation": "over-generation"}
COLUMNS = (
    Column("editor", "Method", shown=False),
    Column("prompt", "Prompt"),
    Column("infidelity", "Infidelity, cases", "rounds"),
    Column("over_generation", "Over-generation, cases", "rounds"),
    Column("items", "Pictures labelled", "rounds"),
)
UNIONS = {"mean of prompts without fidelity words": FREE, "mean of prompts with fidelity words": FAITHFUL}


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each editor and prompt that people labelled, and the means per prompt that the study compares."""
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category == CATEGORY}
    seen: dict[tuple[str, str], list[str | None]] = {}
    for (name, _), answer in analysis.once(Answers).to(PEOPLE, "failure").items():
        if chain := chains.get(name):
            seen.setdefault((chain.editor, chain.program.id), []).append(answer.details["majority"])
    found = []
    for editor in sorted({editor for editor, _ in seen}):
        by_prompt = {
            prompt: {"items": float(len(failures)), **{key: float(failures.count(code)) for key, code in CASES.items()}}
            for (of, prompt), failures in sorted(seen.items())
            if of == editor
        }
        found += [{"editor": editor, "prompt": prompt_name(prompt)} | counts for prompt, counts in by_prompt.items()]
        for union, groups in UNIONS.items():
            parts = [counts for prompt, counts in by_prompt.items() if prompt_group(prompt) in groups]
            if parts:
                means = {key: fmean(part[key] for part in parts) for key in ("items", *CASES)}
                found.append({"editor": editor, "prompt": union} | means)
    return found


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "A case is a restored picture in which more than half of its labellers saw what the original does not have "
        "(infidelity), or exaggerated details (over-generation)."
    )
