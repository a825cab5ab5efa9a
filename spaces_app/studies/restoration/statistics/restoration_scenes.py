"""Restoration by kind of scene and by degradation."""

from collections import defaultdict
from collections.abc import Mapping

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, columns_by_key
from ....statistics import OnPage, Rows
from ..restored import Restored, RestoredSet, mean_over, methods_by_table, score_column

TITLE = "Restoration by scene and degradation"
SECTION = "Restoration"
_CROSSED = "scene and degradation"
_KINDS = ["scene", "degradation", _CROSSED]


def _without_crossed(rows: Rows) -> Rows:
    return [row for row in rows if row["by"] != _CROSSED]


ON_PAGE = OnPage(order=40, part_by="by", line_where="slice", folded=True, choose=_without_crossed)
NOTE = (
    "A method's prompts are averaged. A degraded picture without a clean one, such as a real old photograph, has "
    "only the scores that need none. The files also have every scene under every degradation."
)


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    by: str = column("By", shown=False)
    slice: str = column("Slice")
    editor: str = column("Method")
    scores: Mapping[str, Estimate] = columns_by_key(score_column)
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """A row for each scene, degradation and pair of both, and method; a method's prompts are averaged."""
    methods = methods_by_table(analysis, with_baselines=True)
    rows = [row for table, method in methods for row in _method_rows(table, method)]
    order = list(dict.fromkeys((row.by, row.slice) for row in rows))
    return sorted(rows, key=lambda row: (_KINDS.index(row.by), order.index((row.by, row.slice))))


def _method_rows(table: RestoredSet, method: str) -> list[Row]:
    slices: dict[tuple[str, str], list[Restored]] = defaultdict(list)
    for restored in table.pictures:
        if restored.method == method:
            scene, degradation = restored.scene.replace("-", " "), restored.degradation.replace("-", " ")
            crossed = f"{scene}, {degradation}" if scene and degradation else ""
            for by, name in zip(_KINDS, (scene, degradation, crossed), strict=True):
                if name:
                    slices[by, name].append(restored)
    return [_row(table, method, by, name, pictures) for (by, name), pictures in sorted(slices.items())]


def _row(table: RestoredSet, method: str, by: str, name: str, restored: list[Restored]) -> Row:
    """The means over some pictures; published means of a scene or a degradation are unchanged."""
    part = RestoredSet(table.name, restored)
    values = {
        metric: mean_over([part.by_picture(method, prompt, metric) for prompt in part.prompts(method)], every=False)
        for metric in table.metrics
    }
    pictures, clean = part.counts(values.values())
    return Row(
        table=table.name or None,
        by=by,
        slice=name,
        editor=method,
        scores={metric: part.mean(metric, by_picture) for metric, by_picture in values.items()},
        pictures=pictures,
        clean=clean,
    )
