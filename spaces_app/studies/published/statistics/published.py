from collections.abc import Iterator, Sequence

from convergebench.metric_modules.halflife.outcomes import curve_outcome
from convergebench.metric_modules.halflife.survival import summarise

from ....analysis.analysis import Analysis
from ....analysis.cases import COLUMNS, CURVES, TITLES
from ....analysis.tables import Estimate, TableRow, column, estimate, rows_of
from ....palette import assign_looks
from ....reporting.figures import Drawing, FigureContext, small_panels
from ....statistics import OnPage
from ....statistics.curves import CurveRow
from ..curves import PublishedMetric, published_metrics

TITLE = "Published scores"
SECTION = "Published scores"
ON_PAGE = OnPage(order=10)
# An untouched picture's value. There is no floor, so half of it
# means something only for metrics with an upper limit.
_UNTOUCHED = {
    name: ceiling
    for name in CURVES
    if COLUMNS[name].direction == "higher" and (ceiling := COLUMNS[name].ceiling) == COLUMNS[name].high
}


class Row(TableRow):
    table: str = column("Table")
    editor: str = column("Editor")
    metric: str = column("Metric")
    half_life_text: Estimate = column("Round below half of the untouched value")
    first: Estimate = column("Mean after the first round", "number")
    last: Estimate = column("Mean after the last round", "number")
    last_round: int = column("Last round", "count")
    cases: int = column("Tests", "count")
    sources: int | None = column("Pictures", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    for metric in analysis.once(published_metrics):
        for editor, cases in metric.editors.items():
            curve = metric.curve(editor)
            yield Row(
                table=metric.table,
                editor=editor,
                metric=metric.metric,
                half_life_text=_half_life(metric, editor),
                first=curve[0].mean,
                last=curve[-1].mean,
                last_round=curve[-1].round,
                cases=len(cases),
                sources=len(set(metric.sources(editor))) if metric.has_pictures else None,
            )


def _half_life(published: PublishedMetric, editor: str) -> Estimate:
    untouched, rounds = _UNTOUCHED.get(published.metric), published.rounds
    if untouched is None:
        return Estimate()
    series = [[values.get(round) for round in rounds] for values in published.editors[editor].values()]
    outcomes = [curve_outcome(values, rounds, untouched / 2) for values in series]
    summary = summarise(outcomes, rounds, published.sources(editor))
    return estimate(summary["half_life_text"], summary["half_life_interval"])


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    note = "Published numbers follow their authors' definitions, so they are never shown in one table with ours."
    if unknown := sorted(
        {metric.table for metric in analysis.once(published_metrics) if not metric.has_pictures}
    ):
        note += (
            f" Pictures are not known for {', '.join(unknown)}, so there are no intervals and no verdicts. "
            "Give their column with `convergebench import --layout scores --column image=...`."
        )
    return note


def figures(rows: Sequence[Row], context: FigureContext) -> Iterator[Drawing | None]:
    curves = rows_of(context.tables, CurveRow)
    for number, table in enumerate(dict.fromkeys(row.table for row in rows), 1):
        of_table = [row for row in curves if row.group == table]
        looks = assign_looks(list(dict.fromkeys(row.editor for row in of_table)), [])
        metrics = dict.fromkeys(row.metric for row in of_table)
        panels = {TITLES[metric]: [row for row in of_table if row.metric == metric] for metric in metrics}
        yield small_panels(f"published-{number}", panels, looks, f"Published scores of {table}", raw=True)
