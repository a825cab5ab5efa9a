"""Infidelity of restorations by prompt: how many pictures hold what the original does not have, as people saw them."""

from collections import defaultdict
from statistics import fmean

from ....analysis.analysis import Analysis
from ....analysis.answers import PEOPLE, Answers
from ....analysis.tables import TableRow, column
from ....statistics import OnPage
from ..prompts import FAITHFUL, FREE, prompt_group, prompt_name
from ..restored import CATEGORY

TITLE = "Infidelity and over-generation by prompt"
SECTION = "Restoration"
ON_PAGE = OnPage(order=45, part_by="editor")
_UNIONS = {"mean of prompts without fidelity words": FREE, "mean of prompts with fidelity words": FAITHFUL}


class Row(TableRow):
    editor: str = column("Method", shown=False)
    prompt: str = column("Prompt")
    infidelity: float = column("Infidelity, cases", "rounds")
    over_generation: float = column("Over-generation, cases", "rounds")
    items: float = column("Pictures labelled", "rounds")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each editor and prompt that people labelled, and the means per prompt that the study compares."""
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category == CATEGORY}
    failures: dict[str, dict[str, list[str | None]]] = defaultdict(lambda: defaultdict(list))
    for (name, _), answer in analysis.once(Answers).to(PEOPLE, "failure").items():
        if chain := chains.get(name):
            failures[chain.editor][chain.program.id].append(answer.details["majority"])
    rows = []
    for editor, by_prompt in sorted(failures.items()):
        of_prompts = {
            prompt: Row(
                editor=editor,
                prompt=prompt_name(prompt),
                infidelity=float(seen.count("infidelity")),
                over_generation=float(seen.count("over-generation")),
                items=float(len(seen)),
            )
            for prompt, seen in sorted(by_prompt.items())
        }
        rows += of_prompts.values()
        for union, groups in _UNIONS.items():
            if parts := [row for prompt, row in of_prompts.items() if prompt_group(prompt) in groups]:
                rows.append(
                    Row(
                        editor=editor,
                        prompt=union,
                        infidelity=fmean(row.infidelity for row in parts),
                        over_generation=fmean(row.over_generation for row in parts),
                        items=fmean(row.items for row in parts),
                    )
                )
    return rows


def note(analysis: Analysis, rows: list[Row]) -> str:
    if not rows:
        return ""
    return (
        "A case is a restored picture in which more than half of its labellers saw what the original does not have "
        "(infidelity), or exaggerated details (over-generation)."
    )
