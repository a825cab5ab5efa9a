"""The table of results as HTML."""

import html
import re
from collections.abc import Sequence
from itertools import pairwise

from convergebench.metric_modules.halflife.causes import CAUSES

from ...analysis.groups import ROLES
from ...analysis.tables import format_value, is_missing
from ...words import COLUMNS
from .. import page
from ..headline import Leaderboard
from ..served_dataset import ServedDataset
from ..tabs import SPACE

MAIN = ("rank", "editor", "rounds_kept", "sources", "cost", "seconds", "cause")  # shown at first
_BASELINES = {
    "No edit": "returns its input unchanged",
    "Perfect undo": "the best possible score",
    "Random picture": "the worst possible score",
}
_VERDICTS = {"indicative": "; too few pictures to rank", "open": "; no difference shown"}
_MOST_COMPARISONS = 12


def leaderboard_html(board: Leaderboard, dataset: ServedDataset) -> str:
    """The whole table, with baselines below the editors."""
    rows = board.table.rows
    if not rows:
        reset = '<button type="button" data-reset>Reset filters</button>'
        return f'<p class="cb-note">{html.escape(board.table.note)} {reset}</p>'
    by_key = {column.key: column for column in board.table.columns}
    filled = {key for key in by_key if any(not is_missing(row[key]) and row[key] != 0 for row in rows)}
    titles = {ROLES["editor"]: "", ROLES["baseline"]: "Baselines, not ranked"}
    return page.render(
        SPACE / "leaderboard" / "table.html",
        columns=[by_key[key] for key in dict.fromkeys((*MAIN, *COLUMNS)) if key in filled],
        parts=[
            (titles.get(role, role.capitalize()), [row for row in rows if row["role"] == role])
            for role in dict.fromkeys(row["role"] for row in rows)
        ],
        last=max(row["last_round"] or 1 for row in rows),
        dataset=dataset,
        main=MAIN,
        words=COLUMNS,
        baselines=_BASELINES,
        baseline=ROLES["baseline"],
        causes=CAUSES,
        show=format_value,
        sort_key=_sort_key,
    )


def _sort_key(value: object, key: str) -> str:
    if is_missing(value):
        return ""
    if not key.endswith("_text"):
        return str(value)
    number = re.search(r"[\d.]+", str(value))
    return str(float(number[0].strip(".") or 0) + 0.5 * str(value).startswith(">") if number else 0.0)


def comparisons_html(board: Leaderboard, editors: Sequence[str], dataset: ServedDataset) -> str:
    """The chosen editors against each other; by default each against the one below it in the table."""
    order = [row.editor for row in board.typed_rows if row.role == ROLES["editor"]]
    beside = {*pairwise(order), *((second, first) for first, second in pairwise(order))}
    rows = [
        row
        for row in board.versus.rows
        if ({row["first"], row["second"]} <= {*editors} if editors else (row["first"], row["second"]) in beside)
    ]
    return page.render(
        SPACE / "leaderboard" / "versus.html",
        rows=rows[:_MOST_COMPARISONS],
        more=len(rows) - _MOST_COMPARISONS,
        names=dataset.display,
        verdicts=_VERDICTS,
        show=format_value,
    )
