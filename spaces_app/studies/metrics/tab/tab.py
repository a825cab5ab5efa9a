"""Metrics: one chain through all of them, and what each detects and misses.

A study adds lines with its `metric_lines.py`: `metric_lines(columns)` returns
the name and the worst and best value of each column that it knows.
"""

import math
from functools import lru_cache

import pyarrow as pa
from convergebench.metric_modules.specs import retained_columns, specs

from ....space.served_dataset import ServedDataset
from ... import study_modules

TITLE, ORDER = "Metrics", 60
_Line = tuple[str, float, float]  # name, worst and best value


@lru_cache(maxsize=4)
def _lines_of_studies(dataset: ServedDataset) -> dict[str, _Line]:
    fields = dataset.score_table.schema
    numeric = [
        field.name for field in fields if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
    ]
    lines: dict[str, _Line] = {}
    for module in study_modules("metric_lines"):
        lines |= module.metric_lines(numeric)
    return lines


def _share(value: float | None, worst: float, best: float) -> float | None:
    """A score from 0, the worst, to 1, the best.

    >>> _share(34.5, 150, 0)
    0.77
    """
    if value is None or math.isnan(value):
        return None
    return min(max((value - worst) / (best - worst), 0.0), 1.0)


def metrics(dataset: ServedDataset, chain: str) -> list[dict]:
    """All metrics of one chain on the scale from 0 to 1, one row per metric and return."""
    length = len(dataset.chain(chain).program.cycle)
    rows = []
    for score in dataset.scores_of(chain).values():
        if score.position == length:
            values = {column.title: score.value(column.retained) for column in retained_columns().values()}
            for name, (title, worst, best) in _lines_of_studies(dataset).items():
                values[f"{title} (no reference)"] = _share(score.value(name), worst, best)
            rows += [{"metric": title, "round": score.round, "value": value} for title, value in values.items()]
    measured = {row["metric"] for row in rows if row["value"] is not None}
    return [row for row in rows if row["metric"] in measured]


def words(dataset: ServedDataset) -> dict[str, list[tuple[str, str, str]]]:
    parts = [part for spec in specs().values() for part in (spec, *spec.columns) if part.sees]  # type: ignore[attr-defined]
    return {"metrics": [(part.title, part.sees, part.misses) for part in parts]}  # type: ignore[attr-defined]


PUBLIC = (metrics,)
