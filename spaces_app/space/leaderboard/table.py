"""The table of results as HTML: rounds survived lead, cost and main cause follow, the rest on demand."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...analysis.groups import ROLES
from ...analysis.reasons import TITLES
from ...analysis.tables import NO_VALUE, Column, Table, format_value, is_missing
from .. import page
from ..headline import Leaderboard
from ..served_dataset import ServedDataset
from ..tabs import SPACE

_TEMPLATE = SPACE / "leaderboard" / "table.html"
MAIN = ("rank", "editor", "rounds_kept", "cost", "seconds", "cause")  # shown at first
# What a _heading says, and one line on what the column means.
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


class _Heading(NamedTuple):
    key: str
    short: str
    title: str
    numeric: bool
    bars: bool = False
    main: bool = True


class _Bar(NamedTuple):
    """Mean and limits on the scale of all rounds, in the units of the drawing."""

    words: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    width: int = _BAR


class _Cell(NamedTuple):
    key: str
    text: str
    sort: str  # the number, or the name, by which the browser sorts
    numeric: bool = False
    limits: str = ""
    link: str = ""
    small: str = ""  # below the text
    place: int | None = None  # of the editor's colour
    bar: _Bar | None = None
    main: bool = True


def leaderboard_html(found: Leaderboard, dataset: ServedDataset) -> str:
    """The whole table; baselines stand apart below the editors."""
    rows = found.table.rows
    if not rows:
        reset = '<button type="button" data-reset>Reset filters</button>'
        return f'<p class="cb-note">{html.escape(found.table.note)} {reset}</p>'
    columns = _shown_columns(found.table)
    parts = [
        (title, [[_cell(row, column, dataset) for column in columns] for row in rows if row["role"] == role])
        for role, title in _role_titles(rows).items()
    ]
    headings, last_round = [_heading(column) for column in columns], max(row["last_round"] or 1 for row in rows)
    return page.render(_TEMPLATE, columns=headings, parts=parts, label="Results", last_round=last_round)


def _shown_columns(table: Table) -> list[Column]:
    """The table's columns that have a value, those that are shown at first before the others."""
    there = {column.key: column for column in table.columns if column.key in HEADINGS}
    known = {
        key: column
        for key, column in there.items()
        if any(not is_missing(row.get(key)) and row.get(key) != 0 for row in table.rows)
    }
    return [
        *(known[key] for key in MAIN if key in known),
        *(known[key] for key in HEADINGS if key in known and key not in MAIN),
    ]


def _role_titles(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The roles in their order, with what stands above the rows of each; nothing above those of editors."""
    names = {ROLES["editor"]: "", ROLES["baseline"]: "Baselines, not ranked"}
    return {role: names.get(role, role.capitalize()) for role in dict.fromkeys(row["role"] for row in rows)}


def _heading(column: Column) -> _Heading:
    short, title = HEADINGS.get(column.key, (column.title, column.title))
    main = column.key in MAIN or column.key not in HEADINGS
    return _Heading(column.key, short, title, _is_numeric(column), column.key == "rounds_kept", main)


def _is_numeric(column: Column) -> bool:
    return column.form != "text" or column.key.endswith("_text")


def _cell(row: Mapping[str, Any], column: Column, dataset: ServedDataset) -> _Cell:
    value = row.get(column.key)
    text, main = format_value(value, column.form), column.key in MAIN
    if column.key == "editor":
        return _editor_cell(row, dataset)
    if column.key == "cause" and row.get("cause"):
        cause, share = str(value).rpartition(" (")[0], f"{row['cause_share']:.0%}"
        return _Cell("cause", f"{TITLES[cause].lower()} ({share})", str(value), link=f"{row['editor']}\n{cause}")
    limits = ""
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if column.interval and column.key != "rounds_kept" and not is_missing(low) and low != high:
        form = "count" if column.form == "text" else column.form
        limits = f"{format_value(low, form)} to {'…' if is_missing(high) else format_value(high, form)}"
    if column.key == "rounds_kept":
        small = "" if row.get("forward") or row["role"] != ROLES["baseline"] else "makes no edits"
        return _Cell("rounds_kept", small or text, _sort_key(row, column), numeric=True, bar=_rounds_bar(row))
    return _Cell(column.key, text, _sort_key(row, column), _is_numeric(column), limits, main=main)


def _editor_cell(row: Mapping[str, Any], dataset: ServedDataset) -> _Cell:
    """The editor's name with its id or, of a baseline, its meaning in small print."""
    editor = row["editor"]
    name = dataset.display.get(editor, editor)
    small = editor if name != editor else ""
    if row["role"] == ROLES["baseline"]:
        small = _BASELINES.get(name) or _baseline_words(row) or small
    look = dataset.looks.get(editor)
    return _Cell("editor", name, editor, link=editor, small=small, place=look.place if look else None)


def _baseline_words(row: Mapping[str, Any]) -> str:
    """Of a baseline that makes no edits: how long its quality lasts."""
    lasts = row.get("quality_text")
    if row.get("forward") or not lasts:
        return ""
    if str(lasts).startswith(">"):
        return f"makes no edits; its quality lasts more than {str(lasts)[1:]} rounds"
    return f"makes no edits; its quality halves in round {lasts}"


def _sort_key(row: Mapping[str, Any], column: Column) -> str:
    """The number behind a cell; a half-life beyond the last round sorts after all others."""
    value = row.get(column.key)
    if is_missing(value):
        return ""
    if column.key.endswith("_text"):
        digits = "".join(sign for sign in str(value) if sign.isdigit() or sign in "., ").replace(",", " ").split()
        number = float(digits[0].strip(".") or 0) if digits else 0.0
        return str(number + 0.5 if str(value).startswith(">") else number)
    return str(value)


def _rounds_bar(row: Mapping[str, Any]) -> _Bar:
    value, last = row["rounds_kept"], row["last_round"]
    if is_missing(value) or not last:
        return _Bar(NO_VALUE)
    low, high = row["rounds_kept_low"], row["rounds_kept_high"]

    def along(rounds: float) -> float:
        return 4 + (_BAR - 8) * min(max(float(rounds), 0.0), last) / last

    if is_missing(low):
        return _Bar(f"{value:.1f} of {last}", along(value))
    high = last if is_missing(high) else high
    words = f"{value:.1f} of {last}, 95% interval {low:.1f} to {high:.1f}"
    return _Bar(words, along(value), along(low), along(high))


def comparisons_html(versus: Table, editors: Sequence[str]) -> str:
    """The chosen editors against each other, in sentences."""
    rows = [row for row in versus.rows if row["first"] in editors and row["second"] in editors]
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(row['sentence'])}</li>" for row in rows[:_MOST_COMPARISONS])
    more = f"<p>and {len(rows) - _MOST_COMPARISONS} more</p>" if len(rows) > _MOST_COMPARISONS else ""
    return f'<div class="cb-versus"><h3>Head-to-head, on the tests they share</h3><ul>{items}</ul>{more}</div>'
