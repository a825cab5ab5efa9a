"""Ways to restore pictures side by side: editors with their best prompt, and methods that take no prompt."""

from collections import Counter
from typing import Any

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import Column
from ....statistics import OnPage, Rows
from ..prompts import choose_prompts, chosen_values, prompt_name
from ..restored import RestoredSet, better_sign, metric_columns, metric_title, restored_sets

TITLE = "Methods of restoration side by side"
SECTION = "Restoration"
ON_PAGE = OnPage(order=1, part_by="table")
COLUMNS = (
    Column("table", "Table", shown=False),
    Column("editor", "Method"),
    Column("role", "Role", shown=False),
    Column("prompt", "Prompt"),
)
LAST = (
    Column("best_in", "Best in"),
    Column("pictures", "Pictures", "count"),
    Column("clean", "Clean pictures", "count"),
    Column("missing", "No picture came back", "count"),
)


def columns(rows: Rows) -> list[Column]:
    return [*COLUMNS, *metric_columns(rows), *LAST]


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each method of each table; of an editor with several prompts, those chosen on other pictures."""
    return [row for each in analysis.once(restored_sets) for row in table_rows(each, analysis)]


def table_rows(each: RestoredSet, analysis: Analysis) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for method in each.methods:
        choice = choose_prompts(each, method)
        values = {metric: chosen_values(each, method, choice, metric) for metric in each.metrics}
        used = Counter(choice.values())
        row: dict[str, Any] = {
            "table": each.name or None,
            "editor": method,
            "role": analysis.roles.get(method, "editor"),
            "of": each.metrics,
            "prompt": " or ".join(prompt_name(one) for one in sorted(used) if one) or None,
            **each.counts(values.values()),
            "missing": sum(p.method == method and not p.values for p in each.pictures),
        }
        for metric, own in values.items():
            row |= each.with_limits(metric, own)
        if any(values.values()):
            found.append(row)
    tested = [row for row in found if row["role"] == "editor"]
    for metric in each.metrics if len(tested) > 1 else ():
        known = [row for row in tested if row.get(metric) is not None]
        if len(known) > 1:
            best = max(known, key=lambda row: better_sign(metric) * row[metric])
            best["best_in"] = ", ".join(filter(None, [best.get("best_in"), metric_title(metric)]))
    names = display_names(row["editor"] for row in found)
    order = {"editor": 0, "transport": 1, "baseline": 1}
    return sorted(found, key=lambda row: (order[row["role"]], names[row["editor"]].casefold()))


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "Of an editor with several prompts, each picture is restored with the prompt that was best, by its mean rank "
        "over all metrics, on the half of the clean pictures to which this one does not belong; so no prompt is judged "
        "on pictures that it was chosen on. Baselines have no part in who is best."
    )
