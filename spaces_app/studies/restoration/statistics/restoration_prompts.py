"""What each prompt gives when an editor restores pictures, and the means of groups of prompts."""

from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import FAITHFUL, FREE, LONG, SHORT, prompt_group, prompt_name
from ..restored import ByPicture, RestoredSet, each_method, mean_over, metric_columns

TITLE = "Restoration by prompt"
SECTION = "Restoration"
ON_PAGE = OnPage(order=10, part_by="part", line_where="group")
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method", shown=False),
    Column("part", "Part", shown=False),
    Column("group", "Group"),
    Column("prompt", "Prompt"),
    Column("words", "Words", "count"),
)
LAST = (Column("pictures", "Pictures", "count"), Column("clean", "Clean pictures", "count"))
GROUPS = {"L": "long", "LF": "long, with fidelity words", "S": "short", "SF": "short, with fidelity words"}
UNIONS = {"L + LF": LONG, "S + SF": SHORT, "L + S": FREE, "LF + SF": FAITHFUL}


def columns(rows: Rows) -> list[Column]:
    return [*COLUMNS, *metric_columns(rows), *LAST]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each prompt, for each group of prompts and for pairs of groups; a group's prompts weigh alike."""
    return each_method(analysis, method_rows)


def method_rows(each: RestoredSet, method: str) -> list[dict[str, Any]]:
    groups: dict[str, list[str]] = {}
    for prompt in each.prompts(method):
        if prompt:
            groups.setdefault(prompt_group(prompt), []).append(prompt)
    part = " ".join([method, *([f"({each.name})"] if each.name else [])])
    found = []
    for group, prompts in groups.items():
        found += [{"group": group, "prompt": prompt_name(one)} | scores(each, method, [one]) for one in prompts]
        if len(prompts) > 1 and group:
            found.append({"group": group, "prompt": "mean"} | scores(each, method, prompts))
    for union, names in UNIONS.items():
        if all(len(groups.get(name, ())) > 1 for name in names):
            prompts = [prompt for name in names for prompt in groups[name]]
            found.append({"group": union, "prompt": "mean"} | scores(each, method, prompts))
    return [{"part": part, **row} for row in found]


def scores(each: RestoredSet, method: str, prompts: list[str]) -> dict[str, Any]:
    """The mean of some prompts' means by metric; limits from pictures that have all of the prompts."""
    found: dict[str, Any] = {"words": None}
    if len(prompts) == 1:
        found["words"] = next(p.words for p in each.pictures if p.method == method and p.prompt == prompts[0])
    own: list[ByPicture] = []
    for metric in each.metrics:
        parts = [each.by_picture(method, prompt, metric) for prompt in prompts]
        own += parts
        if all(parts):
            found |= each.with_limits(metric, mean_over(parts))
            means = [sum(part.values()) / len(part) for part in parts]
            found[metric] = sum(means) / len(means)
    return found | each.counts(own)


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    said = ", ".join(f"{name} {words}" for name, words in GROUPS.items() if any(row["group"] == name for row in rows))
    return (
        "An editor is asked to restore degraded pictures; a restored one is compared with the clean one, where there "
        "is a clean one. The first metrics need it; the others look at the restored picture alone. Repeated runs of a "
        "picture are averaged; ranges rest on clean pictures, because several degradations of one are not independent."
        + (f" Groups: {said}." if said else "")
    )
