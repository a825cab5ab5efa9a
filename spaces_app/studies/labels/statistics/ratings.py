"""How people rate each editor's results from 0 to 5: the mean, its range, and how the ratings are spread."""

from collections import Counter
from statistics import fmean, pstdev
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import student_interval

from ....analysis.analysis import Analysis
from ....analysis.tables import Column, format_value
from ....palette import SERIES
from ....reporting.figures import Drawing, FigureContext, add_legend, figure_names, new_figure
from ....statistics import OnPage, Rows
from ..people import LabelledItem, of_question, people_of

TITLE = "Ratings by people"
SECTION = "What people saw"
ON_PAGE = OnPage(order=10)
SCALE = tuple(range(6))
COLUMNS = (
    Column("editor", "Method"),
    Column("rating", "Rating, mean of 0 to 5", "rating", interval=True),
    Column("spread", "Standard deviation", "rating"),
    *(Column(f"rated_{number}", f"Rated {number}", "share") for number in SCALE),
    Column("raters", "People", "count"),
    Column("labels", "Ratings", "count"),
    Column("pictures", "Pictures", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """A row for each editor, the best rated first; the mean is over items, whose ratings are averaged first."""
    by_editor: dict[str, list[LabelledItem]] = {}
    for item in of_question(analysis.once(people_of), "rating"):
        by_editor.setdefault(item.chain.editor, []).append(item)
    found = []
    for editor, own in by_editor.items():
        given = [int(answer) for item in own for answer in item.answers]
        counts = Counter(given)
        means = np.array([item.mean for item in own])
        limits = student_interval(means, [item.picture for item in own]) or (None, None)
        found.append(
            {
                "editor": editor,
                "rating": fmean(means),
                "rating_low": None if limits[0] is None else max(limits[0], 0.0),
                "rating_high": None if limits[1] is None else min(limits[1], 5.0),
                "spread": pstdev(given),
                **{f"rated_{number}": counts[number] / len(given) for number in SCALE},
                "raters": len({rater for item in own for rater in item.raters}),
                "labels": len(given),
                "pictures": len({item.picture for item in own}),
            }
        )
    return sorted(found, key=lambda row: -row["rating"])


def note(analysis: Analysis, rows: Rows) -> str:
    return "Ratings of one item are averaged first; ranges rest on pictures." if rows else ""


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """The distribution of each editor's ratings, and its mean."""
    if not rows:
        return []
    figure, grid = new_figure(height=1.2 + 0.45 * len(rows))
    axes, names = grid[0, 0], figure_names(row["editor"] for row in rows)
    places = list(range(len(rows)))[::-1]
    left = np.zeros(len(rows))
    for number in SCALE:
        share = np.array([row[f"rated_{number}"] for row in rows])
        # One colour, the darker the better: the scale has an order.
        shade = {"color": SERIES[0].light, "alpha": 0.12 + 0.17 * number, "edgecolor": "none"}
        axes.barh(places, share, left=left, height=0.6, label=str(number), **shade)
        left = left + share
    axes.set_yticks(places, [f"{names[row['editor']]}  {row['rating']:.2f}" for row in rows])
    axes.grid(visible=False)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "", "50%", "", "100%"])
    axes.set_xlabel("share of ratings")
    add_legend(figure, axes, columns=6)
    words = "; ".join(f"{row['editor']} {format_value(row['rating'], 'rating')}" for row in rows)
    return [Drawing("ratings", "How people rate each method, from 0 to 5", f"Mean ratings: {words}.", figure)]
