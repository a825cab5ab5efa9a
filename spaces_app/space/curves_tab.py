"""The tab of curves: a metric over rounds, editors as colours, as an interactive figure and as numbers to save."""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.generation.records import UserError
from convergebench.metric_modules.specs import curve_columns, quality_columns, retained_columns, score_columns

from ..palette import GRID, INK, MUTED, PAPER, SERIES
from ..study.cases import Case
from ..study.round_curves import slice_curves
from ..study.tables import csv_value
from . import page
from .errors import explain_errors
from .leaderboard import ALL, Choice, leaderboard
from .leaderboard_tab import filters
from .previews import Previews
from .served_dataset import ServedDataset

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

DASHES = ("dot", "dash", "dashdot", "longdash")
MOST_SINGLE_CHAINS = 40  # chains of one editor that are drawn one by one
NOTE = (
    "Means with 95% confidence bands across pictures; broken lines are baselines. Retained: 1 = identical, 0 = an "
    "unrelated picture. The camera above the figure saves it, the button its numbers."
)


@lru_cache(maxsize=4)
def metric_titles(dataset: ServedDataset) -> dict[str, str]:
    """The metrics that can be drawn, with their titles."""
    retained, columns = retained_columns(), score_columns()
    worst_of = ", ".join(columns[name].title for name in quality_columns())
    titles = {"kept": "share still converging", "quality": f"retained quality (worst of {worst_of})"}
    for name, column in retained.items():
        if has_values(case.retained[name] for case in dataset.cases):
            titles[f"retained {name}"] = f"retained {column.title}"
    for name in curve_columns():
        if has_values(case.raw[name] for case in dataset.cases):
            titles[name] = columns[name].title
    return titles


def has_values(curves: Iterable[Sequence[float | None]]) -> bool:
    return any(value is not None for curve in curves for value in curve)


def curve_rows(dataset: ServedDataset, choice: Choice, metric: str) -> list[dict[str, Any]]:
    """One row per editor and round."""
    if metric not in metric_titles(dataset):
        raise UserError(f"no metric {str(metric)[:40]!r}; the metrics are {', '.join(metric_titles(dataset))}")
    found = leaderboard(dataset, choice)
    if found.group is None:
        return []
    return slice_curves(found.group, found.outcomes, ALL, metrics=(metric,))


def editor_styles(dataset: ServedDataset) -> dict[str, tuple[str, str, float]]:
    """Colour, dash and width of every editor, the same in all figures; baselines are thin and dashed."""
    editors = sorted(
        dataset.names["editor"], key=lambda name: (not dataset.is_tested(name), dataset.names["editor"].index(name))
    )
    found = {}
    baselines = 0
    for place, editor in enumerate(editors):
        baseline = not dataset.is_tested(editor)
        dash = DASHES[baselines % len(DASHES)] if baseline else "solid"
        baselines += baseline
        found[editor] = (SERIES[place % len(SERIES)].light, dash, 1.6 if baseline else 2.8)
    return found


def figure(dataset: ServedDataset, choice: Choice, metric: str, single: bool = False) -> "Figure":
    """Means with bands over pictures; single chains faintly, named under the mouse."""
    import plotly.graph_objects as go

    plot = go.Figure()
    rows = curve_rows(dataset, choice, metric)
    styles = editor_styles(dataset)
    for editor in [name for name in styles if any(row["editor"] == name for row in rows)]:
        colour, dash, width = styles[editor]
        own = [row for row in rows if row["editor"] == editor]
        rounds = [row["round"] for row in own]
        if single:
            for case in leaderboard(dataset, choice).group.cases[editor][:MOST_SINGLE_CHAINS]:  # type: ignore[union-attr]
                plot.add_trace(chain_line(go, case, metric, colour, editor))
        banded = [row for row in own if row["mean_low"] is not None]
        if banded:
            xs = [row["round"] for row in banded]
            plot.add_trace(
                go.Scatter(
                    x=xs + xs[::-1],
                    y=[row["mean_high"] for row in banded] + [row["mean_low"] for row in banded][::-1],
                    fill="toself",
                    fillcolor=translucent(colour),
                    line={"width": 0},
                    hoverinfo="skip",
                    legendgroup=escape_for_plotly(editor),
                    showlegend=False,
                )
            )
        plot.add_trace(
            go.Scatter(
                x=rounds,
                y=[row["mean"] for row in own],
                mode="lines+markers",
                name=escape_for_plotly(editor),
                legendgroup=escape_for_plotly(editor),
                line={"color": colour, "dash": dash, "width": width},
                marker={"size": 6, "color": colour},
                customdata=[[row["cases"], row["sources"], interval_text(row)] for row in own],
                hovertemplate="%{y:.3g} %{customdata[2]}<br>%{customdata[0]} cases, %{customdata[1]} pictures",
            )
        )
    column = score_columns().get(metric)
    style_axes(plot, metric_titles(dataset)[metric], column is None, bool(rows), column.unit if column else "")
    return plot.update_layout(hovermode="closest") if single else plot


def chain_line(go: Any, case: Case, metric: str, colour: str, editor: str) -> Any:
    values = case_values(case, metric)
    return go.Scatter(
        x=list(range(1, len(values) + 1)),
        y=values,
        mode="lines",
        line={"color": colour, "width": 1},
        opacity=0.28,
        legendgroup=escape_for_plotly(editor),
        showlegend=False,
        name=escape_for_plotly(f"{editor}: {case.source}, {case.program}"),
        hovertemplate="%{fullData.name}<br>%{y:.3g}<extra></extra>",
        hoverlabel={"bgcolor": PAPER.light, "bordercolor": colour, "font": {"color": INK.light}},
    )


def case_values(case: Case, metric: str) -> list[float | None]:
    if metric == "quality":
        return case.quality
    if metric.startswith("retained "):
        return case.retained[metric.removeprefix("retained ")]
    return case.raw.get(metric, [])


def style_axes(plot: "Figure", title: str, scaled: bool, there: bool, unit: str = "") -> "Figure":
    """Axes and legend in the palette; the page's style turns them dark. `scaled` is for values from 0 to 1."""
    longest = max((len(trace.x) for trace in plot.data if trace.x), default=0)
    axis = {"gridcolor": GRID.light, "linecolor": MUTED.light, "zeroline": False, "tickcolor": MUTED.light}
    plot.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK.light},
        margin={"l": 58, "r": 12, "t": 34, "b": 46},  # room for the camera above
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": MUTED.light, "activecolor": INK.light},
        height=490,
        hovermode="x unified",
        legend={"orientation": "h", "yanchor": "top", "y": -0.18, "x": 0},
        xaxis={
            **axis,
            "title": {"text": "round", "standoff": 2},
            "tickformat": "d",
            "dtick": 1 if longest <= 20 else None,
        },
        yaxis={**axis, "title": {"text": without_brackets(title) + (f" ({unit})" if unit else "")}},
    )
    if scaled:
        plot.update_yaxes(range=[-0.02, 1.03])
        line = {"color": MUTED.light, "width": 1, "dash": "dot"}
        plot.add_hline(y=0.5, line=line, annotation={"text": "half", "x": 1, "xanchor": "right", "font": {"size": 11}})
    if not there:
        plot.add_annotation(text="no values for this choice", showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return plot


def without_brackets(title: str) -> str:
    """Short enough for a phone, without what stands in brackets.

    >>> without_brackets("retained quality (worst of RMSE, SSIM, LPIPS)")
    'retained quality'
    """
    return title.partition(" (")[0]


def interval_text(row: Mapping[str, Any]) -> str:
    return "" if row["mean_low"] is None else f"[{row['mean_low']:.3g}, {row['mean_high']:.3g}]"


def translucent(colour: str) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:], 16)},0.14)"


def escape_for_plotly(text: str) -> str:
    """Plotly reads a little HTML in names; here every sign stands for itself."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figure's numbers in full."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: csv_value(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def keep_csv(previews: Previews, metric: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """The numbers as a file to download, among the previews, whose room is limited; equal numbers are one file."""
    data = as_csv(rows).encode()
    words = re.sub(r"\W+", "_", metric)[:60]
    return previews.keep(f"{words}-{hashlib.sha256(data).hexdigest()[:16]}.csv", data)


def curves_tab(dataset: ServedDataset, tab: Any, previews: Previews) -> None:
    """The figure with its filters; drawn when the tab is first opened."""
    import gradio as gr

    with gr.Row(elem_classes="cb-filters"):
        names = [(without_brackets(title), name) for name, title in metric_titles(dataset).items()]
        metric = gr.Dropdown(
            names,
            value="quality" if "quality" in dict(metric_titles(dataset)) else None,
            label="Metric",
            min_width=240,
        )
        group, kind, category = filters(dataset)
        single = gr.Checkbox(False, label="Show each chain", info="hover for its name", min_width=180)
    plot = gr.Plot(show_label=False, elem_id="curves")
    with gr.Row():
        page.note(NOTE)
        save = gr.DownloadButton("Numbers as CSV", size="sm", scale=0, min_width=160)

    @explain_errors
    def draw(metric: str, group: str, kind: str, category: str, single: bool) -> Any:
        return figure(dataset, Choice(group or "", kind, category), metric, single)

    @explain_errors
    def table(metric: str, group: str, kind: str, category: str) -> str:
        rows = curve_rows(dataset, Choice(group or "", kind, category), metric)
        return str(keep_csv(previews, metric, rows))

    inputs = [metric, group, kind, category, single]
    about = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 4}
    gr.on([tab.select, *(each.input for each in inputs)], draw, inputs, plot, **about)
    gr.on([tab.select, *(each.input for each in inputs)], table, inputs[:-1], save, **about)
