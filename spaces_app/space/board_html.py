"""The leaderboard as HTML: numbers stay numbers, so that sorting works; limits are drawn in a column of their own."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from ..statistics.table import NONE, Column, Table, missing, written
from .board import Board

SHORT = {
    "half_life_text": "Half-life",
    "rounds_kept": "Rounds kept",
    "restricted_mean": "Restricted mean",
    "survival": "Still converging",
    "last_round": "of rounds",
    "quality_text": "Quality half-life",
    "meaning_text": "Meaning half-life",
    "cost": "Cost a round",
    "seconds": "Time a round",
    "cause": "Mostly lost to",
}
LEFT_OUT = ("restricted_mean", "last_round", "no_image")
BAR = 120  # units of the drawing


def table(board: Board) -> str:
    """The whole table; reference rows stand apart below the editors."""
    rows = board.table.rows
    if not rows:
        return f'<p class="cb-note">{html.escape(board.table.note)}</p>'
    columns = [column for column in board.table.columns if column.shown and worth(column, rows)]
    head = "".join(heading(column) + (bar_heading(rows) if column.key == "rounds_kept" else "") for column in columns)
    parts = []
    for name in dict.fromkeys(row["role"] for row in rows):
        body = "".join(line(row, columns) for row in rows if row["role"] == name)
        label = f'<tr class="cb-role"><th colspan="{len(columns) + 1}" scope="rowgroup">{html.escape(name)}</th></tr>'
        parts.append(f"<tbody>{label}{body}</tbody>")
    return (
        '<div class="cb-scroll" tabindex="0" role="region" aria-label="Leaderboard"><table class="cb-board">'
        f"<thead><tr>{head}</tr></thead>{''.join(parts)}</table></div>"
    )


def worth(column: Column, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a column says anything here: no ranks, no refusals and nothing missing need no column."""
    if column.key in ("rank", "refused", "failed"):
        return any(row.get(column.key) for row in rows)
    return column.key not in LEFT_OUT


def heading(column: Column) -> str:
    title = html.escape(SHORT.get(column.key, column.title)).replace("-", "\u2011")  # breaks between words only
    full = html.escape(column.title)
    kind = ' class="cb-n"' if column.form != "text" or column.key.endswith("_text") else ""
    return f'<th scope="col"{kind} title="{full}"><button type="button" data-sort>{title}</button></th>'


def bar_heading(rows: Sequence[Mapping[str, Any]]) -> str:
    last = max(row["last_round"] or 1 for row in rows)
    return f'<th scope="col" class="cb-bars" title="Mean and 95% limits">0 <span>95% limits</span> {last}</th>'


def line(row: Mapping[str, Any], columns: Sequence[Column]) -> str:
    cells = []
    for column in columns:
        cells.append(cell(row, column))
        if column.key == "rounds_kept":
            cells.append(f'<td class="cb-bars">{bar(row)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def cell(row: Mapping[str, Any], column: Column) -> str:
    value = row.get(column.key)
    text = html.escape(written(value, column.form))
    if column.key == "editor":
        name = html.escape(str(value), quote=True)
        link = f'<a href="?tab=chains&amp;editor={quoted(value)}" data-editor="{name}">{text}</a>'
        return f'<th scope="row" data-value="{name}">{link}</th>'
    limits = limits_of(row, column) if column.key.endswith("_text") else ""
    order = sort_key(row, column)
    kind = ' class="cb-n"' if column.form != "text" or column.key.endswith("_text") else ""
    return f'<td{kind} data-value="{html.escape(order, quote=True)}">{text}{limits}</td>'


def sort_key(row: Mapping[str, Any], column: Column) -> str:
    """The number behind a cell; a half-life that was outlived sorts after all others."""
    value = row.get(column.key)
    if missing(value):
        return ""
    if column.key.endswith("_text"):
        digits = "".join(sign for sign in str(value) if sign.isdigit() or sign in "., ").replace(",", " ").split()
        number = float(digits[0].strip(".") or 0) if digits else 0.0
        return str(number + 0.5 if str(value).startswith(">") else number)
    return str(value)


def limits_of(row: Mapping[str, Any], column: Column) -> str:
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if missing(low) or low == high:
        return ""
    form = "count" if column.form == "text" else column.form
    upper = "…" if missing(high) else written(high, form)
    return f' <span class="cb-limits">{html.escape(written(low, form))} to {html.escape(upper)}</span>'


def bar(row: Mapping[str, Any]) -> str:
    """Mean and limits on the scale of all rounds."""
    value, last = row["rounds_kept"], row["last_round"]
    if missing(value) or not last:
        return NONE
    told, band = f"{value:.1f} of {last}", ""
    low, high = row["rounds_kept_low"], row["rounds_kept_high"]
    if not missing(low):
        start, end = along(low, last), along(last if missing(high) else high, last)
        told += f", limits {low:.1f} to {last if missing(high) else high:.1f}"
        band = f'<rect x="{start:.1f}" y="5" width="{max(end - start, 1):.1f}" height="6" rx="3"/>'
    return (
        f'<svg viewBox="0 0 {BAR} 16" role="img" aria-label="{told}"><line x1="4" x2="{BAR - 4}" y1="8" y2="8"/>'
        f'{band}<circle cx="{along(value, last):.1f}" cy="8" r="4"/></svg>'
    )


def along(value: float, last: int) -> float:
    return 4 + (BAR - 8) * min(max(float(value), 0.0), last) / last


def versus(table: Table, editors: Sequence[str]) -> str:
    """The chosen editors against each other, in sentences."""
    rows = [row for row in table.rows if not editors or (row["first"] in editors and row["second"] in editors)]
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(row['sentence'])}</li>" for row in rows[:12])
    more = f"<p>and {len(rows) - 12} more</p>" if len(rows) > 12 else ""
    return f'<div class="cb-versus"><h3>Side by side, on their common cases</h3><ul>{items}</ul>{more}</div>'


def quoted(value: Any) -> str:
    from urllib.parse import quote

    return html.escape(quote(str(value), safe=""))
