"""The tab of curves: a metric over rounds, a line for each editor, and the numbers behind it."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from convergebench.generation.records import UserError
from convergebench.metric_modules.specs import curve_columns, quality_columns, retained_columns, score_columns

from ..analysis.cases import Case
from ..analysis.round_curves import slice_curves
from .chains_tab import telling_chain
from .leaderboard import ALL, Choice, leaderboard
from .served_dataset import ServedDataset

MOST_SINGLE_CHAINS = 40  # chains of one editor that are drawn one by one
NOTE = (
    "Each line is a mean over pictures: 100% is identical to the original, 0% is an unrelated picture. Point at a line "
    "for its 95% range; click it for its editor's failures, or for the test where single tests are drawn."
)


@lru_cache(maxsize=4)
def metric_titles(dataset: ServedDataset) -> dict[str, str]:
    """The metrics that can be drawn, with their titles."""
    retained, columns = retained_columns(), score_columns()
    worst_of = ", ".join(columns[name].title for name in quality_columns())
    titles = {"kept": "share of tests that survive", "quality": f"retained quality (worst of {worst_of})"}
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


def editor_curves(dataset: ServedDataset, choice: Choice, metric: str) -> dict[str, Any]:
    """What the page draws: a curve for each editor from the untouched original on, with the chain its line leads to."""
    rows = curve_rows(dataset, choice, metric)
    column = score_columns().get(metric)
    is_share = column is None
    board = leaderboard(dataset, choice).table.rows
    kept = {row["editor"]: row["rounds_kept"] for row in board}
    curves = []
    for editor in dict.fromkeys(row["editor"] for row in rows):
        own = [row for row in rows if row["editor"] == editor]
        points = [[row["round"], row["mean"], row["mean_low"], row["mean_high"]] for row in own]
        curves.append(
            {
                "editor": editor,
                "points": [[0, 1.0, 1.0, 1.0], *points] if is_share else points,
                "cases": own[0]["cases"],
                "kept": kept.get(editor) or 0,
                "chain": telling_chain(dataset, editor),
            }
        )
    return {
        "metric": metric,
        "title": metric_titles(dataset)[metric],
        "unit": column.unit if column else "",
        "share": is_share,
        "steps": metric == "kept",
        "curves": curves,
    }


def chain_curves(dataset: ServedDataset, choice: Choice, metric: str, editor: str) -> list[dict[str, Any]]:
    """The curves of single chains of one editor, at most 40, each with its chain."""
    found = leaderboard(dataset, choice)
    if found.group is None or editor not in found.group.cases:
        return []
    return [
        {
            "chain": case.chain.id,
            "name": f"{dataset.title(case.source)}, {case.program}",
            "values": case_values(case, metric),
        }
        for case in found.group.cases[editor][:MOST_SINGLE_CHAINS]
    ]


def case_values(case: Case, metric: str) -> list[float | None]:
    if metric == "quality":
        return case.quality
    if metric.startswith("retained "):
        return case.retained[metric.removeprefix("retained ")]
    return case.raw.get(metric, [])


def without_brackets(title: str) -> str:
    """Short enough for a phone, without what stands in brackets.

    >>> without_brackets("retained quality (worst of RMSE, SSIM, LPIPS)")
    'retained quality'
    """
    return title.partition(" (")[0]
