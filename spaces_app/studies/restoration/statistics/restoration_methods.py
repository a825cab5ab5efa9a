from collections.abc import Mapping
from dataclasses import replace

from ....analysis.analysis import Analysis
from ....analysis.display_names import display_names
from ....analysis.tables import Estimate, TableRow, column, columns_by_key
from ....statistics import OnPage
from ..restored import RestoredSet, better_sign, metric_title, prompt_name, restored_sets, score_column

TITLE = "Methods of restoration side by side"
SECTION = "Restoration"
ON_PAGE = OnPage(order=1, part_by="table")
NOTE = (
    "An editor's prompt for a picture is the one with the best mean rank over all metrics "
    "on the half of the clean pictures without this one. Baselines are never the best."
)


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    editor: str = column("Method")
    role: str = column("Role", shown=False)
    prompt: str | None = column("Prompt")
    scores: Mapping[str, Estimate] = columns_by_key(score_column)
    best_in: str | None = column("Best in")
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")
    missing: int = column("No picture came back", "count")


def rows(analysis: Analysis) -> list[Row]:
    return [row for table in analysis.once(restored_sets) for row in _table_rows(table, analysis)]


def _table_rows(table: RestoredSet, analysis: Analysis) -> list[Row]:
    rows = []
    for method in table.methods:
        choice = table.choose_prompts(method)
        values = table.chosen(method, choice)
        if any(values.values()):
            row = Row(
                table=table.name or None,
                editor=method,
                role=analysis.roles.get(method, "editor"),
                prompt=" or ".join(prompt_name(prompt) for prompt in sorted({*choice.values()}) if prompt)
                or None,
                scores={metric: table.mean(metric, by_picture) for metric, by_picture in values.items()},
                best_in=None,
                missing=sum(r.method == method and not r.values for r in table.pictures),
                **table.counts(values.values()),
            )
            rows.append(row)
    best: dict[str, list[str]] = {row.editor: [] for row in rows}
    for metric in table.metrics:
        means = [(row.scores[metric].value, row.editor) for row in rows if row.role == "editor"]
        scores = {method: better_sign(metric) * mean for mean, method in means if mean is not None}
        if len(scores) > 1:
            best[max(scores, key=scores.__getitem__)].append(metric_title(metric))
    names = display_names(row.editor for row in rows)
    rows.sort(key=lambda row: (row.role != "editor", names[row.editor].casefold()))
    return [replace(row, best_in=", ".join(best[row.editor]) or None) for row in rows]
