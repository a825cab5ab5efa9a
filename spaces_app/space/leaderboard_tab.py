"""The table of the first tab: rounds survived lead, cost and main cause stand beside, the rest on demand."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..analysis.groups import ROLES
from ..analysis.reasons import TITLES
from ..analysis.tables import NO_VALUE, Column, Table, format_value, is_missing
from . import page
from .leaderboard import Leaderboard
from .served_dataset import ServedDataset

NOTE = (
    "A test stops at the first failure: the edit is not made, it is not undone, too much quality is lost, one area "
    "is destroyed, the editor refuses, or a technical error ends the test. "
    "Baselines show the best and worst possible scores. Ranges are 95% confidence intervals across pictures; "
    "editors that share fewer than 12 pictures are not ranked. A range of "
    "ranks, such as 2 to 4, says that the differences may be chance. "
)
MAIN = ("rank", "editor", "rounds_kept", "cost", "seconds", "cause")  # shown at first
# What a heading says, and one line on what the column means.
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
BASELINES = {
    "No edit": "returns its input unchanged",
    "Perfect undo": "the best possible score",
    "Random picture": "the worst possible score",
}
MOST_COMPARISONS = 12
BAR = 120  # units of the drawing


class Heading(NamedTuple):
    key: str
    short: str
    title: str
    numeric: bool
    bars: bool = False
    main: bool = True


class Bar(NamedTuple):
    """Mean and limits on the scale of all rounds, in the units of the drawing."""

    words: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    width: int = BAR


class Cell(NamedTuple):
    key: str
    text: str
    sort: str  # the number, or the name, by which the browser sorts
    numeric: bool = False
    limits: str = ""
    link: str = ""
    small: str = ""  # below the text
    place: int | None = None  # of the editor's colour
    bar: Bar | None = None
    main: bool = True


def leaderboard_html(found: Leaderboard, dataset: ServedDataset) -> str:
    """The whole table; baselines stand apart below the editors."""
    rows = found.table.rows
    if not rows:
        reset = '<button type="button" data-reset>Reset filters</button>'
        return f'<p class="cb-note">{html.escape(found.table.note)} {reset}</p>'
    columns = shown_columns(found.table)
    parts = [
        (title, [[cell(row, column, dataset) for column in columns] for row in rows if row["role"] == role])
        for role, title in role_titles(rows).items()
    ]
    return table_html(
        [heading(column) for column in columns], parts, "Results", max(row["last_round"] or 1 for row in rows)
    )


def shown_columns(table: Table) -> list[Column]:
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


def role_titles(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The roles in their order, with what stands above the rows of each; nothing above those of editors."""
    names = {ROLES["editor"]: "", ROLES["baseline"]: "Baselines, not ranked"}
    return {role: names.get(role, role.capitalize()) for role in dict.fromkeys(row["role"] for row in rows)}


def table_html(
    headings: Sequence[Heading],
    parts: Sequence[tuple[str, Sequence[Sequence[Cell]]]],
    label: str,
    last_round: int | None = None,
) -> str:
    """A table that the browser sorts, part by part."""
    macro = page.templates().get_template("leaderboard.html").module.table  # type: ignore[attr-defined]
    return macro(headings, parts, label, last_round)


def heading(column: Column) -> Heading:
    short, title = HEADINGS.get(column.key, (column.title, column.title))
    main = column.key in MAIN or column.key not in HEADINGS
    return Heading(column.key, short, title, is_numeric(column), column.key == "rounds_kept", main)


def is_numeric(column: Column) -> bool:
    return column.form != "text" or column.key.endswith("_text")


def cell(row: Mapping[str, Any], column: Column, dataset: ServedDataset) -> Cell:
    value = row.get(column.key)
    text, main = format_value(value, column.form), column.key in MAIN
    if column.key == "editor":
        return editor_cell(row, dataset)
    if column.key == "cause" and row.get("cause"):
        cause, share = str(value).rpartition(" (")[0], f"{row['cause_share']:.0%}"
        return Cell("cause", f"{TITLES[cause].lower()} ({share})", str(value), link=f"{row['editor']}\n{cause}")
    limits = ""
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if column.interval and column.key != "rounds_kept" and not is_missing(low) and low != high:
        form = "count" if column.form == "text" else column.form
        limits = f"{format_value(low, form)} to {'…' if is_missing(high) else format_value(high, form)}"
    if column.key == "rounds_kept":
        small = "" if row.get("forward") or row["role"] != ROLES["baseline"] else "makes no edits"
        return Cell("rounds_kept", small or text, sort_key(row, column), numeric=True, bar=rounds_bar(row))
    return Cell(column.key, text, sort_key(row, column), is_numeric(column), limits, main=main)


def editor_cell(row: Mapping[str, Any], dataset: ServedDataset) -> Cell:
    """The editor's name with its id or, of a baseline, its meaning in small print."""
    editor = row["editor"]
    name = dataset.display.get(editor, editor)
    small = editor if name != editor else ""
    if row["role"] == ROLES["baseline"]:
        small = BASELINES.get(name) or baseline_words(row) or small
    look = dataset.looks.get(editor)
    return Cell("editor", name, editor, link=editor, small=small, place=look.place if look else None)


def baseline_words(row: Mapping[str, Any]) -> str:
    """Of a baseline that makes no edits: how long its quality lasts."""
    lasts = row.get("quality_text")
    if row.get("forward") or not lasts:
        return ""
    if str(lasts).startswith(">"):
        return f"makes no edits; its quality lasts more than {str(lasts)[1:]} rounds"
    return f"makes no edits; its quality halves in round {lasts}"


def sort_key(row: Mapping[str, Any], column: Column) -> str:
    """The number behind a cell; a half-life beyond the last round sorts after all others."""
    value = row.get(column.key)
    if is_missing(value):
        return ""
    if column.key.endswith("_text"):
        digits = "".join(sign for sign in str(value) if sign.isdigit() or sign in "., ").replace(",", " ").split()
        number = float(digits[0].strip(".") or 0) if digits else 0.0
        return str(number + 0.5 if str(value).startswith(">") else number)
    return str(value)


def rounds_bar(row: Mapping[str, Any]) -> Bar:
    value, last = row["rounds_kept"], row["last_round"]
    if is_missing(value) or not last:
        return Bar(NO_VALUE)
    low, high = row["rounds_kept_low"], row["rounds_kept_high"]

    def along(rounds: float) -> float:
        return 4 + (BAR - 8) * min(max(float(rounds), 0.0), last) / last

    if is_missing(low):
        return Bar(f"{value:.1f} of {last}", along(value))
    high = last if is_missing(high) else high
    words = f"{value:.1f} of {last}, 95% interval {low:.1f} to {high:.1f}"
    return Bar(words, along(value), along(low), along(high))


def comparisons_html(versus: Table, editors: Sequence[str]) -> str:
    """The chosen editors against each other, in sentences."""
    rows = [row for row in versus.rows if row["first"] in editors and row["second"] in editors]
    if not rows:
        return ""
    items = "".join(f"<li>{html.escape(row['sentence'])}</li>" for row in rows[:MOST_COMPARISONS])
    more = f"<p>and {len(rows) - MOST_COMPARISONS} more</p>" if len(rows) > MOST_COMPARISONS else ""
    return f'<div class="cb-versus"><h3>Head-to-head, on the tests they share</h3><ul>{items}</ul>{more}</div>'
