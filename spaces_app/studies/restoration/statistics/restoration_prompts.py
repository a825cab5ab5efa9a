"""The scores of each prompt when an editor restores pictures, and the means of groups of prompts."""

from collections.abc import Mapping

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, column, columns_by_key
from ....statistics import OnPage
from ..prompts import FAITHFUL, FREE, LONG, SHORT, prompt_group, prompt_name
from ..restored import ByPicture, MethodRow, RestoredSet, mean_over, methods_by_table, score_column

TITLE = "Restoration by prompt"
SECTION = "Restoration"
ON_PAGE = OnPage(order=10, part_by="part", line_where="group")
_GROUPS = {"L": "long", "LF": "long, with fidelity words", "S": "short", "SF": "short, with fidelity words"}
_UNIONS = {"L + LF": LONG, "S + SF": SHORT, "L + S": FREE, "LF + SF": FAITHFUL}


class Row(MethodRow):
    part: str = column("Part", shown=False)
    group: str = column("Group")
    prompt: str = column("Prompt")
    words: int | None = column("Words", "count")
    scores: Mapping[str, Estimate] = columns_by_key(score_column)
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each prompt, for each group of prompts and for pairs of groups; a group's prompts weigh alike."""
    return [row for table, method in methods_by_table(analysis) for row in _method_rows(table, method)]


def _method_rows(table: RestoredSet, method: str) -> list[Row]:
    groups: dict[str, list[str]] = {}
    for prompt in filter(None, table.prompts(method)):
        groups.setdefault(prompt_group(prompt), []).append(prompt)
    rows = []
    for group, prompts in groups.items():
        rows += [_row(table, method, group, [prompt]) for prompt in prompts]
        if len(prompts) > 1 and group:
            rows.append(_row(table, method, group, prompts))
    for union, names in _UNIONS.items():
        if all(len(groups.get(name, ())) > 1 for name in names):
            rows.append(_row(table, method, union, [prompt for name in names for prompt in groups[name]]))
    return rows


def _row(table: RestoredSet, method: str, group: str, prompts: list[str]) -> Row:
    """The mean of some prompts' means by metric; limits from pictures that have all of the prompts."""
    scores: dict[str, Estimate] = {}
    values: list[ByPicture] = []
    for metric in table.metrics:
        parts = [table.by_picture(method, prompt, metric) for prompt in prompts]
        values += parts
        means = [sum(part.values()) / len(part) for part in parts if part]
        is_whole = len(means) == len(parts)
        limits = table.mean(metric, mean_over(parts)) if is_whole else Estimate()
        scores[metric] = limits._replace(value=sum(means) / len(means) if is_whole else None)
    pictures, clean = table.counts(values)
    is_single = len(prompts) == 1
    return Row(
        table=table.name or None,
        editor=method,
        part=f"{method} ({table.name})" if table.name else method,
        group=group,
        prompt=prompt_name(prompts[0]) if is_single else "mean",
        words=next(r.words for r in table.pictures if (r.method, r.prompt) == (method, prompts[0]))
        if is_single
        else None,
        scores=scores,
        pictures=pictures,
        clean=clean,
    )


def note(analysis: Analysis, rows: list[Row]) -> str:
    if not rows:
        return ""
    groups = ", ".join(f"{name} {words}" for name, words in _GROUPS.items() if any(row.group == name for row in rows))
    return (
        "An editor is asked to restore degraded pictures; a restored one is compared with the clean one, if there is "
        "one. The first metrics need it; the others look at the restored picture alone. Repeated runs of a picture are "
        "averaged; ranges are across clean pictures, because several degradations of one are not independent."
        + (f" Groups: {groups}." if groups else "")
    )
