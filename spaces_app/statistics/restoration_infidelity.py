"""Infidelity of restorations by prompt: how many pictures hold what the original does not have, as people saw them."""

from statistics import fmean
from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.people import LabelledItem, of_question, people_of
from ..analysis.restoration import CATEGORY, FAITHFUL, FREE, prompt_group, prompt_name
from ..analysis.tables import Column
from . import OnPage, Rows

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
    by_prompt: dict[tuple[str, str], list[LabelledItem]] = {}
    for item in of_question(analysis.once(people_of), "failure"):
        if item.chain.program.category == CATEGORY:
            by_prompt.setdefault((item.chain.editor, item.chain.program.id), []).append(item)
    found = []
    for editor in sorted({editor for editor, _ in by_prompt}):
        own = {
            prompt: {"items": float(len(items))}
            | {key: float(sum(item.majority == code for item in items)) for key, code in CASES.items()}
            for (of, prompt), items in sorted(by_prompt.items())
            if of == editor
        }
        found += [{"editor": editor, "prompt": prompt_name(prompt)} | counts for prompt, counts in own.items()]
        for union, groups in UNIONS.items():
            parts = [counts for prompt, counts in own.items() if prompt_group(prompt) in groups]
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
