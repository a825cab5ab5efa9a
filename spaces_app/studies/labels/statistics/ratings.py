from collections.abc import Mapping
from statistics import fmean, pstdev

import numpy as np
from convergebench.dataset_builder.studies.labels.labels import numbers_of
from convergebench.metric_modules.halflife.intervals import student_interval

from ....analysis.analysis import Analysis
from ....analysis.tables import Column, Estimate, TableRow, column, columns_by_key, estimate
from ....statistics import OnPage
from ..answers import by_editor

TITLE = "Ratings by people"
SECTION = "What people saw"
ON_PAGE = OnPage(order=10)
NOTE = "Ratings of one item are averaged first; ranges are across pictures."


class Row(TableRow):
    editor: str = column("Method")
    rating: Estimate = column("Rating, mean of 0 to 5", "rating")
    spread: float = column("Standard deviation", "rating")
    shares: Mapping[str, float] = columns_by_key(
        lambda key: Column(key, key.replace("_", " ").capitalize(), "share")  # rated_0 to rated_5
    )
    raters: int = column("People", "count")
    labels: int = column("Ratings", "count")
    pictures: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    rows = []
    for editor, items in by_editor(analysis, "rating").items():
        of_items = [numbers_of(item.answers) for item in items]
        means, pictures = [fmean(numbers) for numbers in of_items], [item.picture for item in items]
        ratings = [number for numbers in of_items for number in numbers]
        row = Row(
            editor=editor,
            rating=estimate(fmean(means), student_interval(np.array(means), pictures), 0.0, 5.0),
            spread=pstdev(ratings),
            shares={f"rated_{number}": ratings.count(number) / len(ratings) for number in range(6)},
            raters=len({rater for item in items for rater in item.raters}),
            labels=len(ratings),
            pictures=len(set(pictures)),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: -row.rating.value)
