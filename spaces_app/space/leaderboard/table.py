"""The table of results as HTML: rounds survived lead, cost and main cause follow, the rest on demand."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.metric_modules.halflife.causes import CAUSES

from ...analysis.groups import ROLES
from ...analysis.tables import NO_VALUE, Column, Table, format_value, is_missing
from .. import page
from ..headline import Leaderboard
from ..served_dataset import Answer, ServedDataset
from ..tabs import SPACE

_TEMPLATE = SPACE / "leaderboard" / "table.html"
MAIN = ("rank", "editor", "rounds_kept", "cost", "seconds", "cause")  # shown at first
# Each column's heading, and one line on what the column means.
HEADINGS = {
    "editor": ("Editor", "The image editor that was tested."),
    "rank": ("#", "One more than the number of editors that are better beyond chance."),
    "rounds_kept": (
        "Rounds survived",
        "How many rounds of edit and undo a picture survives, on average over all tests.",
    ),
    "cost": ("$ a round", "What one round of edit and undo costs, in US dollars."),
    "seconds": ("Seconds a round", "How long one round of edit and undo takes, in seconds."),
    "cause": ("Main cause of failure", "The most common reason for which tests failed, with its share of all tests."),
    "survival": ("Survived all rounds", "The share of tests that survived every round."),
    "half_life_text": ("Half-life", "The round by which half of the tests were lost."),
    "restricted_mean": ("Restricted mean", "The area under the survival curve, in rounds."),
    "rounds_kept_two_way": (
        "Rounds survived, any program",
        "The same mean, with a range that also holds for programs that were not tested.",
    ),
    "quality_text": ("Rounds until quality halves", "The median round in which half of the quality is gone."),
    "meaning_text": ("Rounds until meaning halves", "The median round in which half of the CLIP similarity is gone."),
    "forward": ("Edits carried out", "The share of rounds in which the edit was made."),
    "refused": ("Refused", "The share of tests that the editor refused."),
    "failed": ("Missing", "The share of tests that a technical failure ended."),
    "cases": ("Tests", "One test is one picture with one program."),
    "sources": ("Pictures", "How many different pictures were used."),
    "apart": ("Listed apart because", "Why this editor has no rank."),
}
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
    columns = _shown_columns(board.table)
    titles = {ROLES["editor"]: "", ROLES["baseline"]: "Baselines, not ranked"}
    parts = [
        (titles.get(role, role.capitalize()), [_cells(row, columns, dataset) for row in rows if row["role"] == role])
        for role in dict.fromkeys(row["role"] for row in rows)
    ]
    headings = [(column.key, *HEADINGS[column.key], _is_numeric(column), column.key in MAIN) for column in columns]
    last_round = max(row["last_round"] or 1 for row in rows)
    return page.render(_TEMPLATE, headings=headings, parts=parts, last_round=last_round, bar_width=_BAR)


def _shown_columns(table: Table) -> list[Column]:
    """The table's columns that have a value, those that are shown at first before the others."""
    columns = {
        column.key: column
        for column in table.columns
        if any(not is_missing(row.get(column.key)) and row.get(column.key) != 0 for row in table.rows)
    }
    return [columns[key] for key in dict.fromkeys((*MAIN, *HEADINGS)) if key in columns]


def _is_numeric(column: Column) -> bool:
    return column.form != "text" or column.key.endswith("_text")


def _cells(row: Row, columns: Sequence[Column], dataset: ServedDataset) -> list[Answer]:
    """What each cell says, and the number or name by which the browser sorts it."""
    cells = []
    for column in columns:
        cell: Answer = {"text": format_value(row.get(column.key), column.form), "sort": _sort_key(row, column)}
        if column.key == "editor":
            cell |= _editor_words(row, dataset)
        elif column.key == "cause" and row["cause"]:
            cause = str(row["cause"]).rpartition(" (")[0]
            cell |= {"text": f"{CAUSES[cause].title.lower()} ({row['cause_share']:.0%})", "cause": cause}
        elif column.key == "rounds_kept":
            cell["bar"] = _rounds_bar(row)
            if row["role"] == ROLES["baseline"] and not row["forward"]:
                cell["words"] = "makes no edits"
        elif column.interval:
            low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
            form = "count" if column.form == "text" else column.form
            if not is_missing(low) and low != high:
                cell["limits"] = f"{format_value(low, form)} to {'…' if is_missing(high) else format_value(high, form)}"
        cells.append(cell)
    return cells


def _editor_words(row: Row, dataset: ServedDataset) -> Answer:
    """The editor's name with its id or, of a baseline, its meaning in small print."""
    editor = str(row["editor"])
    name = dataset.display.get(editor, editor)
    small = editor if name != editor else ""
    if row["role"] == ROLES["baseline"]:
        small = _BASELINES.get(name) or _baseline_words(row) or small
    return {"text": name, "small": small, "place": dataset.looks[editor].place}


def _baseline_words(row: Row) -> str:
    """How long the quality of a baseline that makes no edits lasts."""
    lasts = row.get("quality_text")
    if row.get("forward") or not lasts:
        return ""
    if str(lasts).startswith(">"):
        return f"makes no edits; its quality lasts more than {str(lasts)[1:]} rounds"
    return f"makes no edits; its quality halves in round {lasts}"


def _sort_key(row: Row, column: Column) -> str:
    """The number behind a cell; a half-life beyond the last round sorts after all others."""
    value = row.get(column.key)
    if is_missing(value):
        return ""
    if column.key.endswith("_text"):
        digits = "".join(sign for sign in str(value) if sign.isdigit() or sign in "., ").replace(",", " ").split()
        number = float(digits[0].strip(".") or 0) if digits else 0.0
        return str(number + 0.5 if str(value).startswith(">") else number)
    return str(value)


def _rounds_bar(row: Row) -> Answer:
    """Mean and limits on the scale of all rounds, in the units of the drawing."""
    value, last = row["rounds_kept"], row["last_round"]
    if is_missing(value) or not last:
        return {"words": NO_VALUE}
    low, high = row["rounds_kept_low"], row["rounds_kept_high"]

    def along(rounds: float) -> float:
        return 4 + (_BAR - 8) * min(max(float(rounds), 0.0), last) / last

    if is_missing(low):
        return {"words": f"{value:.1f} of {last}", "mean": along(value)}
    high = last if is_missing(high) else high
    words = f"{value:.1f} of {last}, 95% interval {low:.1f} to {high:.1f}"
    return {"words": words, "mean": along(value), "low": along(low), "high": along(high)}


def comparisons_html(versus: Table, editors: Sequence[str]) -> str:
    """The chosen editors against each other, in sentences."""
    rows = [row for row in versus.rows if row["first"] in editors and row["second"] in editors]
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(row['sentence'])}</li>" for row in rows[:_MOST_COMPARISONS])
    and_more = f"<p>and {len(rows) - _MOST_COMPARISONS} more</p>" if len(rows) > _MOST_COMPARISONS else ""
    return f'<div class="cb-versus"><h3>Head-to-head, on the tests they share</h3><ul>{items}</ul>{and_more}</div>'
