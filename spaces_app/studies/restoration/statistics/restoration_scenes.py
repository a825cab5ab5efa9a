from collections import defaultdict
from collections.abc import Iterator, Mapping

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, columns_by_key
from ....statistics import OnPage
from ..restored import Restored, RestoredSet, mean_over, rows_by_method, score_column

TITLE = "Restoration by scene and degradation"
SECTION = "Restoration"
ON_PAGE = OnPage(order=40, part_by="by", line_where="slice", folded=True)
NOTE = "A method's prompts are averaged. A picture without a clean one has only the scores that need none."


class Row(TableRow):
    table: str | None = column("Table", shown=False)
    by: str = column("By", shown=False)
    slice: str = column("Slice")
    editor: str = column("Method")
    scores: Mapping[str, Estimate] = columns_by_key(score_column)
    pictures: int | None = column("Pictures", "count")
    clean: int | None = column("Clean pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    rows = list(rows_by_method(_method_rows, analysis, with_baselines=True))
    order = {place: number for number, place in enumerate(dict.fromkeys((row.by, row.slice) for row in rows))}
    return sorted(rows, key=lambda row: (row.by != "scene", order[row.by, row.slice]))


def _method_rows(table: RestoredSet, method: str) -> Iterator[Row]:
    slices: dict[tuple[str, str], list[Restored]] = defaultdict(list)
    for restored in table.pictures:
        for by, name in (("scene", restored.scene), ("degradation", restored.degradation)):
            if name and restored.method == method:
                slices[by, name.replace("-", " ")].append(restored)
    for (by, name), pictures in sorted(slices.items()):
        part = RestoredSet(table.name, pictures)
        prompts = part.prompts(method)
        values = {
            metric: mean_over([part.by_picture(method, prompt, metric) for prompt in prompts], every=False)
            for metric in table.metrics
        }
        yield Row(
            table=table.name or None,
            by=by,
            slice=name,
            editor=method,
            scores={metric: part.mean(metric, by_picture) for metric, by_picture in values.items()},
            **part.counts(values.values()),
        )
