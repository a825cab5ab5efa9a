"""The table of results as HTML."""

import html
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from convergebench.metric_modules.halflife.causes import CAUSES

from ...analysis.groups import ROLES
from ...analysis.tables import NO_VALUE, Column, format_value, is_missing
from ...words import COLUMNS
from .. import page
from ..headline import Leaderboard
from ..served_dataset import Answer, ServedDataset
from ..tabs import SPACE

_TEMPLATE = SPACE / "leaderboard" / "table.html"
MAIN = ("rank", "editor", "rounds_kept", "sources", "cost", "seconds", "cause")  # shown at first
_BASELINES = {
    "No edit": "returns its input unchanged",
    "Perfect undo": "the best possible score",
    "Random picture": "the worst possible score",
}
_MOST_COMPARISONS = 12
_BAR = 120  # units of the drawing
Row = Mapping[str, Any]


def leaderboard_html(board: Leaderboard, dataset: ServedDataset) -> str:
    """The whole table, with baselines below the editors."""
    rows = board.table.rows
    if not rows:
        reset = '<button type="button" data-reset>Reset filters</button>'
        return f'<p class="cb-note">{html.escape(board.table.note)} {reset}</p>'
    by_key = {column.key: column for column in board.table.columns}
    filled = [key for key in by_key if any(not is_missing(row[key]) and row[key] != 0 for row in rows)]
    shown = [key for key in dict.fromkeys((*MAIN, *COLUMNS)) if key in filled]
    titles = {ROLES["editor"]: "", ROLES["baseline"]: "Baselines, not ranked"}
    parts = [
        (
            titles.get(role, role.capitalize()),
            [[_cell(row, by_key[key], dataset) for key in shown] for row in rows if row["role"] == role],
        )
        for role in dict.fromkeys(row["role"] for row in rows)
    ]
    numeric = {key for key in shown if by_key[key].form != "text" or key.endswith("_text")}
    headings = [(key, *COLUMNS[key], key in numeric, key in MAIN) for key in shown]
    last_round = max(row["last_round"] or 1 for row in rows)
    return page.render(_TEMPLATE, headings=headings, parts=parts, last_round=last_round, bar_width=_BAR)


def _cell(row: Row, column: Column, dataset: ServedDataset) -> Answer:
    cell: Answer = {
        "text": format_value(row[column.key], column.form),
        "sort": _sort_key(row[column.key], column.key),
    }
    if column.key == "editor":
        editor = str(row["editor"])
        name = dataset.display.get(editor, editor)
        small = _BASELINES.get(name, "")
        return cell | {"text": name, "small": small, "place": dataset.looks[editor].place}
    if column.key == "rank" and row["rank"] is not None and row["rank_low"] != row["rank_high"]:
        return cell | {"text": f"{row['rank_low']} to {row['rank_high']}"}
    if column.key == "cause" and row["cause"]:
        cause = str(row["cause"]).rpartition(" (")[0]
        count = str(row["cause"]).rpartition(" (")[2].rstrip(")")
        return cell | {"text": f"{CAUSES[cause].title.lower()}, {count}", "cause": cause}
    if column.key == "rounds_kept":
        # Without a share, no edit was asked for.
        makes_no_edits = row["role"] == ROLES["baseline"] and row["forward"] == 0
        cell |= _limits(row, column)
        return cell | {"bar": _rounds_bar(row)} | ({"words": "makes no edits"} if makes_no_edits else {})
    return cell | _limits(row, column)


def _limits(row: Row, column: Column) -> Answer:
    low, high = (row[f"{column.key}_{end}"] if column.interval else None for end in ("low", "high"))
    if is_missing(low) or low == high:
        return {}
    form = "count" if column.form == "text" else column.form
    return {"limits": f"[{format_value(low, form)}, {'…' if is_missing(high) else format_value(high, form)}]"}


def _sort_key(value: Any, key: str) -> str:
    if is_missing(value):
        return ""
    if not key.endswith("_text"):
        return str(value)
    number = re.search(r"[\d.]+", str(value))
    return str(float(number[0].strip(".") or 0) + 0.5 * str(value).startswith(">") if number else 0.0)


def _rounds_bar(row: Row) -> Answer:
    value, last = row["rounds_kept"], row["last_round"]
    if is_missing(value) or not last:
        return {"words": NO_VALUE}
    low, high = row["rounds_kept_low"], last if is_missing(row["rounds_kept_high"]) else row["rounds_kept_high"]

    def along(rounds: float) -> float:
        return 4 + (_BAR - 8) * min(max(float(rounds), 0.0), last) / last

    if is_missing(low):
        return {"words": f"{value:.1f} of {last}", "mean": along(value)}
    words = f"{value:.1f} of {last}, 95% interval {low:.1f} to {high:.1f}"
    return {"words": words, "mean": along(value), "low": along(low), "high": along(high)}


def comparisons_html(board: Leaderboard, editors: Sequence[str], names: Mapping[str, str]) -> str:
    """The chosen editors against each other; by default each against the one below it in the table."""
    order = [row.editor for row in board.typed_rows if row.role == ROLES["editor"]]
    beside = {*pairwise(order), *((second, first) for first, second in pairwise(order))}
    rows = [
        row
        for row in board.versus.rows
        if ({row["first"], row["second"]} <= {*editors} if editors else (row["first"], row["second"]) in beside)
    ]
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(_pair_words(row, names))}</li>" for row in rows[:_MOST_COMPARISONS])
    and_more = f"<p>and {len(rows) - _MOST_COMPARISONS} more</p>" if len(rows) > _MOST_COMPARISONS else ""
    return f'<div class="cb-versus"><h3>Head-to-head, on the tests they share</h3><ul>{items}</ul>{and_more}</div>'


def _pair_words(row: Row, names: Mapping[str, str]) -> str:
    first, second = (names.get(row[side], row[side]) for side in ("first", "second"))
    if row["difference"] is None:
        return f"{first} and {second} have no test in common"
    limits = (
        "" if row["difference_low"] is None else f" [{row['difference_low']:+.1f}, {row['difference_high']:+.1f}]"
    )
    p = row["p_value"] if row["p_corrected"] is None else row["p_corrected"]
    word = {"indicative": "; too few pictures to rank", "open": "; no difference shown"}.get(row["verdict"], "")
    scope = f"{row['cases']} tests on {row['sources']} pictures, p {format_value(p, 'p')}{word}"
    return f"{first} against {second}: {row['difference']:+.1f}{limits} rounds ({scope})"
