"""Score tables that others published: half-lives by the same rules, under their own definitions."""

from typing import Any

from convergebench.metric_modules.halflife.outcomes import curve_outcome
from convergebench.metric_modules.halflife.summary import summarise

from ....analysis.analysis import Analysis
from ....analysis.cases import COLUMNS as METRICS
from ....analysis.cases import CURVES, TITLES
from ....analysis.round_curves import CurveRow
from ....analysis.tables import Column, rows_of
from ....palette import assign_looks
from ....reporting.figures import Drawing, FigureContext, add_legend, draw_lines, last_values, new_figure
from ....statistics import OnPage, Rows
from ..published_metrics import PublishedMetric, published_of

TITLE = "Published scores"
SECTION = "Published scores"
ON_PAGE = OnPage(order=10)
# Metrics on which half of the untouched value can be asked for without a floor: they grow to a limit.
UNTOUCHED = {
    name: ceiling
    for name in CURVES
    if (ceiling := METRICS[name].ceiling) is not None
    and METRICS[name].direction == "higher"
    and ceiling == METRICS[name].high
}
COLUMNS = (
    Column("table", "Table"),
    Column("editor", "Editor"),
    Column("metric", "Metric"),
    Column("half_life_text", "Below half of the untouched value", interval=True),
    Column("first", "Mean after the first round", "number", interval=True),
    Column("last", "Mean after the last round", "number", interval=True),
    Column("last_round", "Last round", "count"),
    Column("cases", "Cases", "count"),
    Column("sources", "Pictures", "count"),
)
NOTE = "Published numbers keep the definitions of whoever made them: they never share a table with ours."
UNKNOWN = (
    "Which picture a case starts from is not known for {}: cases of one picture are not independent, so there are "
    "neither limits nor verdicts. `convergebench import --layout scores --column image=...` names it."
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row per table, metric and editor."""
    return [editor_row(each, editor) for each in analysis.once(published_of) for editor in each.editors]


def note(analysis: Analysis, rows: Rows) -> str:
    unknown = sorted({each.table for each in analysis.once(published_of) if not each.knows_pictures})
    return " ".join([NOTE, *([UNKNOWN.format(", ".join(unknown))] if unknown else [])]) if rows else ""


def editor_row(published: PublishedMetric, editor: str) -> dict[str, Any]:
    """One editor on one metric: where it begins, where it ends and, where the scale allows, its half-life."""
    cases, rounds, metric = published.editors[editor], published.rounds, published.metric
    sources = published.sources(editor)
    curve = published.curve(editor)
    row: dict[str, Any] = {"table": published.table, "metric": metric, "editor": editor}
    row |= {
        "cases": len(cases),
        "sources": len(set(sources)) if published.knows_pictures else None,
        "last_round": curve[-1].round,
    }
    for name, line in (("first", curve[0]), ("last", curve[-1])):
        row |= {name: line.mean.value, f"{name}_low": line.mean.low, f"{name}_high": line.mean.high}
    if metric in UNTOUCHED:
        start = UNTOUCHED[metric]
        outcomes = [
            curve_outcome([values.get(round) for round in rounds], rounds, start / 2, start=start)
            for values in cases.values()
        ]
        own = summarise(outcomes, rounds, sources)
        low, high = own["half_life_interval"] or (None, None)
        row |= {"half_life_text": own["half_life_text"], "half_life_text_low": low, "half_life_text_high": high}
    return row


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """One figure per published table, each metric in its own unit."""
    drawings = []
    curves = rows_of(context.tables, CurveRow)
    for number, name in enumerate(dict.fromkeys(row["table"] for row in rows), 1):
        own = [row for row in curves if row.group == name]
        looks = assign_looks(list(dict.fromkeys(row.editor for row in own)), [])
        metrics = list(dict.fromkeys(row.metric for row in own))
        height = -(-len(metrics) // 2)
        figure, grid = new_figure(height, min(2, len(metrics)), 0.7 + 2.1 * height)
        words = []
        for axes, metric in zip(grid.flat, metrics, strict=False):
            lines = [row for row in own if row.metric == metric]
            draw_lines(axes, lines, looks)
            axes.set_title(TITLES[metric])
            words.append(f"{TITLES[metric]}: {last_values(lines, 'number')}")
        for axes in list(grid.flat)[len(metrics) :]:
            axes.set_visible(False)
        add_legend(figure, grid.flat[0])
        drawings.append(Drawing(f"published-{number}", f"Published scores of {name}", " ".join(words), figure))
    return drawings
