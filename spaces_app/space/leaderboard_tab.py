"""The first tab: who lasts longest, said and seen, and the leaderboard with its filters."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..study.cases import Case, spread_rounds
from ..study.groups import HALF, outcome_of_case
from ..study.tables import NO_VALUE, Column, Table, format_value, is_missing
from . import page
from .errors import explain_errors
from .leaderboard import ALL, Choice, Leaderboard, leaderboard, metric_titles
from .served_dataset import ServedDataset

FRAMES = 4  # returns in a strip
OUTCOMES = {
    "not applied": "the edit was not made",
    "not undone": "the edit was not undone",
    "quality lost": f"fell below {HALF:.0%} retained quality",
    "part lost": "one area no longer matches the original",
    "meaning lost": "its meaning was lost",
}
NOTE = (
    "A test stops counting at the first failure: no edit, no undo, too much quality lost, one area destroyed, or a "
    "refusal; a technical failure counts as one. "
    "Baselines show the best and worst possible scores. Ranges are 95% confidence intervals across pictures; "
    "editors that share fewer than 12 pictures are not ranked. The range of a rank is what the comparisons leave open. "
    "Click a heading to sort, an editor to see its chains."
)
SHORT_TITLES = {
    "half_life_text": "Half-life",
    "rounds_kept": "Rounds kept",
    "rounds_kept_two_way": "Rounds kept, other programs too",
    "restricted_mean": "Restricted mean",
    "survival": "Still converging",
    "last_round": "of rounds",
    "quality_text": "Quality half-life",
    "meaning_text": "Meaning half-life",
    "cost": "Cost a round",
    "seconds": "Time a round",
    "cause": "Main cause of failure",
}
NEVER_SHOWN = ("restricted_mean", "rounds_kept_two_way", "last_round", "no_image")
SHOWN_IF_ANY = ("rank", "refused")  # a column of zeros says nothing
MOST_COMPARISONS = 12
BAR = 120  # units of the drawing
# Links in a table or a strip open the chain without loading the page again.
FOLLOW_LINKS = """
element.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-editor], a[data-open]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  trigger('click', {editor: link.dataset.editor ?? '', chain: link.dataset.open ?? '', step: link.dataset.at ?? ''});
});
"""


def first_screen(dataset: ServedDataset) -> str:
    """Headline, counts and two strips of pictures; without cases, one sentence."""
    found = leaderboard(dataset)
    if found.group is None or not found.table.rows:
        return f'<p class="cb-note">{html.escape(found.table.note)}</p>'
    rows = tested_editors(found)
    tested = sum(dataset.is_tested(name) for name in dataset.names["editor"])
    counts = {
        "editor": tested,
        "baseline": len(dataset.names["editor"]) - tested,
        "chain": len(dataset.chains),
        "picture": len(dataset.names["source"]),
        "step": dataset.scores.num_rows,
    }
    strips = [strip(dataset, found, case) for case in telling_cases(found)]
    worst = rows[-1] if len(rows) > 1 else None
    return page.render("first_screen.html", best=rows[0], worst=worst, counts=counts, strips=strips)


def tested_editors(found: Leaderboard) -> list[Mapping[str, Any]]:
    """The rows of editors; where there are only baselines, theirs."""
    return [row for row in found.table.rows if row["role"] == "editors"] or list(found.table.rows)


def telling_cases(found: Leaderboard) -> list[Case]:
    """The first and the last editor on one case; where there is one editor, its best case and its worst."""
    group = found.group
    assert group is not None  # noqa: S101 - ours: asked only where there is a table
    rows = tested_editors(found)
    first, last = (group.cases[row["editor"]] for row in (rows[0], rows[-1]))

    def mean(case: Case) -> float:
        values = [value for value in case.quality if value is not None]
        return sum(values) / len(values) if values else 0.0

    if len(rows) == 1:
        ordered = sorted(first, key=lambda case: (outcome_of_case(case, group.checks_of(case.editor)).kept, mean(case)))
        return [ordered[-1], ordered[0]] if len(ordered) > 1 else ordered
    of_last = {case.key: case for case in last}
    both = [(case, of_last[case.key]) for case in first if case.key in of_last]
    better, worse = max(both, key=lambda pair: mean(pair[0]) - mean(pair[1])) if both else (first[0], last[0])
    return [better, worse]


def strip(dataset: ServedDataset, found: Leaderboard, case: Case) -> dict[str, Any]:
    """One case: the original and a few of its returns; each opens the chain at that step."""
    assert found.group is not None  # noqa: S101 - ours
    outcome = outcome_of_case(case, found.group.checks_of(case.editor))
    length = len(case.chain.program.cycle)
    last = case.rounds if case.end_round is None else max(case.end_round - 1, 1)
    words = OUTCOMES.get(str(outcome.cause), outcome.cause)
    return {
        "case": case,
        "survived": not outcome.lost,
        "outcome": f"round {outcome.lost_at}: {words}" if outcome.lost else "survived",
        "frames": [(0, "original"), *((round * length, f"round {round}") for round in spread_rounds(last, FRAMES))],
    }


class Heading(NamedTuple):
    short: str
    title: str
    numeric: bool
    bars: bool = False


class Bar(NamedTuple):
    """Mean and limits on the scale of all rounds, in the units of the drawing."""

    words: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    width: int = BAR


class Cell(NamedTuple):
    text: str
    sort: str  # the number, or the name, by which the browser sorts
    numeric: bool = False
    limits: str = ""
    editor: bool = False
    bar: Bar | None = None


def leaderboard_html(found: Leaderboard) -> str:
    """The whole table; baselines stand apart below the editors."""
    rows = found.table.rows
    if not rows:
        return f'<p class="cb-note">{html.escape(found.table.note)}</p>'
    columns = [
        column
        for column in found.table.columns
        if column.shown
        and column.key not in NEVER_SHOWN
        and (column.key not in SHOWN_IF_ANY or any(row.get(column.key) for row in rows))
    ]
    parts = [
        (name, [[cell(row, column) for column in columns] for row in rows if row["role"] == name])
        for name in dict.fromkeys(row["role"] for row in rows)
    ]
    return table_html(
        [heading(column) for column in columns], parts, "Leaderboard", max(row["last_round"] or 1 for row in rows)
    )


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
    short = SHORT_TITLES.get(column.key, column.title).replace("-", "\u2011")  # breaks between words only
    return Heading(short, column.title, is_numeric(column), column.key == "rounds_kept")


def is_numeric(column: Column) -> bool:
    return column.form != "text" or column.key.endswith("_text")


def cell(row: Mapping[str, Any], column: Column) -> Cell:
    value = row.get(column.key)
    text = format_value(value, column.form)
    if column.key == "editor":
        return Cell(text, str(value), editor=True)
    limits = ""
    low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
    if (column.key.endswith("_text") or column.key == "rank") and not is_missing(low) and low != high:
        form = "count" if column.form == "text" else column.form
        limits = f"{format_value(low, form)} to {'…' if is_missing(high) else format_value(high, form)}"
    bar = rounds_bar(row) if column.key == "rounds_kept" else None
    return Cell(text, sort_key(row, column), is_numeric(column), limits, bar=bar)


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
    return f'<div class="cb-versus"><h3>Head-to-head, on the cases they share</h3><ul>{items}</ul>{more}</div>'


def filters(dataset: ServedDataset) -> tuple[Any, Any, Any]:
    """Programs, kind of picture, category: the choices that leaderboard and curves have in common."""
    import gradio as gr

    groups = list(dataset.counted)
    group = gr.Dropdown(
        groups, value=groups[0] if groups else None, label="Programs", visible=len(groups) > 1, min_width=150
    )
    kind = gr.Dropdown([ALL, *dataset.names["kind"]], value=ALL, label="Pictures", min_width=140)
    category = gr.Dropdown([ALL, *dataset.names["category"]], value=ALL, label="Edits", min_width=140)
    return group, kind, category


def leaderboard_tab(dataset: ServedDataset) -> list[Any]:
    """Headline, strips and table with its filters; gives the two components whose links open chains."""
    import gradio as gr

    strips = gr.HTML(first_screen(dataset), js_on_load=FOLLOW_LINKS, apply_default_css=False)
    with gr.Row(elem_classes="cb-filters"):
        group, kind, category = filters(dataset)
        metric = gr.Dropdown([(title, name) for name, title in metric_titles(dataset).items()], value="convergence",
                             label="Fails on", min_width=220)  # fmt: skip
        threshold = gr.Slider(0.05, 0.95, HALF, step=0.05, label="Failure threshold", min_width=230)
        editors = gr.Dropdown(
            dataset.names["editor"], value=[], multiselect=True, label="Compare editors", min_width=180
        )
    table = gr.HTML(
        leaderboard_html(leaderboard(dataset)), elem_id="board", js_on_load=FOLLOW_LINKS, apply_default_css=False
    )
    versus = gr.HTML(apply_default_css=False)
    page.note(NOTE)

    @explain_errors
    def show(group: str, kind: str, category: str, metric: str, threshold: float, editors: list[str]) -> list[str]:
        found = leaderboard(dataset, Choice(group or "", kind, category, metric, threshold, tuple(editors)))
        return [leaderboard_html(found), comparisons_html(found.versus, editors)]

    inputs = [group, kind, category, metric, threshold, editors]
    gr.on(
        [each.input for each in inputs],
        show,
        inputs,
        [table, versus],
        api_visibility="private",
        show_progress="hidden",
        trigger_mode="always_last",
        concurrency_limit=4,
    )
    return [strips, table]
