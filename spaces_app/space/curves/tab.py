"""Curves: a metric over rounds, a line for each editor."""

from functools import lru_cache

from ...analysis.cases import COLUMNS, CURVES, QUALITIES, RETAINED
from ...analysis.groups import HALF
from ...analysis.tables import capitalised
from ...reporting.figures import Drawing, one_panel
from ...reporting.page import slug
from ...statistics.curves import CurveRow, slice_curves
from ..headline import ALL, WORST_OF, Choice, leaderboard, measured
from ..served_dataset import Answer, ServedDataset, check_allowed, number

TITLE, ORDER = "Curves", 40
NOTE = (
    "Each line is a mean over pictures: 100% is identical to the original, 0% is an unrelated picture. Point at a line "
    "for its 95% range; click it for its editor's failures."
)


@lru_cache(maxsize=4)
def metric_titles(dataset: ServedDataset) -> dict[str, str]:
    titles = {f"retained {name}": f"retained {COLUMNS[name].title}" for name in RETAINED}
    titles |= {name: COLUMNS[name].title for name in CURVES}
    there = {name: title for name, title in titles.items() if name in measured(dataset)}
    has_quality = any(f"retained {name}" in measured(dataset) for name in QUALITIES)
    quality = {"quality": f"retained quality ({WORST_OF})"} if has_quality else {}
    return {"kept": "share of tests that survive"} | quality | there


def _curve_rows(dataset: ServedDataset, metric: str, choice: Choice) -> list[CurveRow]:
    check_allowed("metric", [metric], metric_titles(dataset))
    board = leaderboard(dataset, choice)
    return slice_curves(board.group, board.outcomes, ALL, metrics=(metric,)) if board.group else []


def curves(
    dataset: ServedDataset,
    metric: str = "quality",
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    fails_on: str = "convergence",
    threshold: float = HALF,
) -> dict:
    """A metric over rounds: a line with limits for each editor. What ends a test moves only the share that survives."""
    choice = Choice(group, kind, category, fails_on, threshold)
    by_editor: dict[str, list[CurveRow]] = {}
    for row in _curve_rows(dataset, metric, choice):
        by_editor.setdefault(row.editor, []).append(row)
    column, board = COLUMNS.get(metric), leaderboard(dataset, choice)
    rounds_kept = {row["editor"]: row["rounds_kept"] for row in board.table.rows}
    start = [[0, 1.0, 1.0, 1.0]] if column is None else []  # a share begins at the untouched original
    return {
        "metric": metric,
        "title": metric_titles(dataset)[metric],
        "unit": column.unit if column else "",
        "share": column is None,
        "steps": metric == "kept",
        "curves": [
            {
                "editor": editor,
                "points": start + [[row.round, row.mean.value, row.mean.low, row.mean.high] for row in rows],
                "cases": rows[0].cases,
                "kept": rounds_kept.get(editor) or 0,
            }
            for editor, rows in by_editor.items()
        ],
    }


def _curves_figure(
    dataset: ServedDataset,
    metric: str = "quality",
    group: str = "",
    kind: str = ALL,
    category: str = ALL,
    fails_on: str = "convergence",
    threshold: str = "",
    editors: list[str] = [],  # noqa: B006 - read only
) -> Drawing | None:
    dataset.check_editors(editors)
    choice = Choice(group, kind, category, fails_on, number(threshold, HALF))
    rows = [row for row in _curve_rows(dataset, metric, choice) if not editors or row.editor in editors]
    title = capitalised(metric_titles(dataset)[metric])
    order = [row.editor for row in leaderboard(dataset, choice).typed_rows] or dataset.looks
    looks, is_raw = {editor: dataset.looks[editor] for editor in order}, metric in COLUMNS
    return one_panel(slug(f"curves {metric}"), rows, looks, title, title, metric == "kept", is_raw)


def page_data(dataset: ServedDataset) -> Answer:
    """Titles without what is in brackets, short enough for a phone."""
    titles = metric_titles(dataset) if dataset.groups | dataset.uncounted else {}
    return {"curves": [[name, title.partition(" (")[0].capitalize()] for name, title in titles.items()]}


PUBLIC = (curves,)
FIGURES = {"curves": _curves_figure}
