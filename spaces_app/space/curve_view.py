"""Curves of a metric over rounds, editors as colours, as an interactive figure that can be taken away."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..palette import GRID, INK, MUTED, PAPER, SERIES
from ..statistics.cases import RAW, RETAINED, Case
from ..statistics.curves import NAMES, slice_rows
from ..statistics.fates import ROLES, role
from .board import ALL, Choice, board
from .store import Store, Unknown

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

DASHES = ("dot", "dash", "dashdot", "longdash")
SINGLE = 40  # chains of one editor that are drawn one by one
UNITS = {"psnr": "dB", "rmse": "grey levels"}


def names(store: Store) -> dict[str, str]:
    """The metrics that can be drawn, with their titles."""
    if "curve names" not in store.kept:
        there = {
            name
            for case in store.cases
            for name, values in (
                *((f"retained {m}", case.retained[m]) for m in RETAINED),
                *((m, case.raw[m]) for m in RAW),
            )
            if any(value is not None for value in values)
        }
        titles = NAMES | {"kept": "share still converging"}
        store.kept["curve names"] = {
            name: titles.get(name, name) for name in titles if name in ("kept", "quality") or name in there
        }
    return store.kept["curve names"]


def rows(store: Store, choice: Choice, metric: str) -> list[dict[str, Any]]:
    """One row per editor and round."""
    if metric not in names(store):
        raise Unknown(f"no metric {str(metric)[:40]!r}; the metrics are {', '.join(names(store))}")
    found = board(store, choice)
    if found.field is None:
        return []
    made = slice_rows(found.field, found.fates, ALL, lambda case: True, full=True, only=metric)
    return [row for row in made if row["metric"] == metric]


def looks(store: Store) -> dict[str, tuple[str, str, float]]:
    """Colour, dash and width of every editor, the same in all figures; reference rows are thin and dashed."""
    editors = sorted(
        store.names["editor"], key=lambda name: (role(name) != "editor", store.names["editor"].index(name))
    )
    found = {}
    apart = 0
    for place, editor in enumerate(editors):
        reference = ROLES[role(editor)] == ROLES["reference"]
        dash = DASHES[apart % len(DASHES)] if reference else "solid"
        apart += reference
        found[editor] = (SERIES[place % len(SERIES)].light, dash, 1.6 if reference else 2.8)
    return found


def figure(store: Store, choice: Choice, metric: str, single: bool = False) -> "Figure":
    """Means with bands over pictures; single chains faintly, named when pointed at."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    made = rows(store, choice, metric)
    styles = looks(store)
    for editor in [name for name in styles if any(row["editor"] == name for row in made)]:
        colour, dash, width = styles[editor]
        own = [row for row in made if row["editor"] == editor]
        rounds = [row["round"] for row in own]
        if single:
            for case in board(store, choice).field.cases[editor][:SINGLE]:  # type: ignore[union-attr]
                drawn.add_trace(chain_line(go, case, metric, colour, editor))
        banded = [row for row in own if row["mean_low"] is not None]
        if banded:
            xs = [row["round"] for row in banded]
            drawn.add_trace(
                go.Scatter(
                    x=xs + xs[::-1],
                    y=[row["mean_high"] for row in banded] + [row["mean_low"] for row in banded][::-1],
                    fill="toself",
                    fillcolor=faint(colour),
                    line={"width": 0},
                    hoverinfo="skip",
                    legendgroup=plain(editor),
                    showlegend=False,
                )
            )
        drawn.add_trace(
            go.Scatter(
                x=rounds,
                y=[row["mean"] for row in own],
                mode="lines+markers",
                name=plain(editor),
                legendgroup=plain(editor),
                line={"color": colour, "dash": dash, "width": width},
                marker={"size": 6, "color": colour},
                customdata=[[row["cases"], row["sources"], limits(row)] for row in own],
                hovertemplate="%{y:.3g} %{customdata[2]}<br>%{customdata[0]} cases, %{customdata[1]} pictures",
            )
        )
    laid_out(drawn, names(store)[metric], metric, bool(made))
    return drawn.update_layout(hovermode="closest") if single else drawn


def chain_line(go: Any, case: Case, metric: str, colour: str, editor: str) -> Any:
    values = values_of(case, metric)
    return go.Scatter(
        x=list(range(1, len(values) + 1)),
        y=values,
        mode="lines",
        line={"color": colour, "width": 1},
        opacity=0.28,
        legendgroup=plain(editor),
        showlegend=False,
        name=plain(f"{editor}: {case.source}, {case.program}"),
        hovertemplate="%{fullData.name}<br>%{y:.3g}<extra></extra>",
        hoverlabel={"bgcolor": PAPER.light, "bordercolor": colour, "font": {"color": INK.light}},
    )


def values_of(case: Case, metric: str) -> list[float | None]:
    if metric == "quality":
        return case.quality
    if metric.startswith("retained "):
        return case.retained[metric.removeprefix("retained ")]
    return case.raw.get(metric, [])


def laid_out(drawn: "Figure", title: str, metric: str, there: bool) -> "Figure":
    """Axes and legend in the house's colours; the page's style turns them dark."""
    longest = max((len(trace.x) for trace in drawn.data if trace.x), default=0)
    scaled = metric in ("kept", "quality") or metric.startswith("retained")
    axis = {"gridcolor": GRID.light, "linecolor": MUTED.light, "zeroline": False, "tickcolor": MUTED.light}
    drawn.update_layout(
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
        yaxis={**axis, "title": {"text": short(title) + (f" ({UNITS[metric]})" if metric in UNITS else "")}},
    )
    if scaled:
        drawn.update_yaxes(range=[-0.02, 1.03])
        line = {"color": MUTED.light, "width": 1, "dash": "dot"}
        drawn.add_hline(y=0.5, line=line, annotation={"text": "half", "x": 1, "xanchor": "right", "font": {"size": 11}})
    if not there:
        drawn.add_annotation(
            text="no values for this choice", showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
        )
    return drawn


def short(title: str) -> str:
    """Short enough for a phone, without what stands in brackets.

    >>> short("retained quality (lowest of RMSE, SSIM, LPIPS)")
    'retained quality'
    """
    return title.partition(" (")[0]


def limits(row: Mapping[str, Any]) -> str:
    return "" if row["mean_low"] is None else f"[{row['mean_low']:.3g}, {row['mean_high']:.3g}]"


def faint(colour: str) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:], 16)},0.14)"


def plain(text: str) -> str:
    """Plotly reads a little HTML in names; here every sign stands for itself."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figure's numbers in full."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def length_of(chain: Mapping[str, Any]) -> int:
    """Steps in one round."""
    return len(json.loads(chain["cycle"] or "[]"))
