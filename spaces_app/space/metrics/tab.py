"""Metrics: what each detects and misses, and how far they agree.

A study adds lines with its `metric_lines.py`: `metric_lines(columns)` returns
the name and the worst and best value of each column that it knows.
"""

import math
from functools import lru_cache

import numpy as np
import pyarrow as pa
from convergebench.metric_modules.specs import checked_columns, retained_columns, specs

from ...studies import study_modules
from .. import page
from ..served_dataset import ServedDataset
from ..tabs import SPACE

TITLE, ORDER = "Metrics", 60
_Line = tuple[str, float, float]  # name, worst and best value


@lru_cache(maxsize=4)
def _lines_of_studies(dataset: ServedDataset) -> dict[str, _Line]:
    """The lines that studies add for numeric columns of the scores."""
    fields = dataset.score_table.schema
    numeric = [field.name for field in fields if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)]
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


@lru_cache(maxsize=4)
def agreement(dataset: ServedDataset) -> dict:
    """Rank correlations between the metrics over all returns, and how often each has fallen furthest."""
    returns = dataset.score_table.filter(pa.array(_is_return(dataset)))
    titles = {column.retained: (column.title, 1) for column in retained_columns().values()}
    for name, (title, worst, best) in _lines_of_studies(dataset).items():
        titles[name] = (title, 1 if best > worst else -1)
    columns = {
        title: sign * returns[name].to_numpy().astype(float)
        for name, (title, sign) in titles.items()
        if name in returns.column_names and returns[name].null_count < len(returns)
    }
    qualities = [
        title for title in (retained_columns()[name].title for name in checked_columns("quality")) if title in columns
    ]
    together = np.column_stack([columns[title] for title in qualities]) if qualities else np.empty((0, 1))
    together = together[np.isfinite(together).all(axis=1)]
    damaged = together[together.min(axis=1) < 1]  # an untouched picture has no lowest metric
    lowest = np.bincount(damaged.argmin(axis=1), minlength=len(qualities))
    return {
        "metrics": list(columns),
        "correlation": [
            [_rank_correlation(first, second) for second in columns.values()] for first in columns.values()
        ],
        "returns": len(together),
        "lowest": {title: float(count) / max(len(damaged), 1) for title, count in zip(qualities, lowest, strict=True)},
    }


def _is_return(dataset: ServedDataset) -> np.ndarray:
    """Which rows of the scores should equal the reference."""
    column = dataset.score_table["chain"].combine_chunks()
    lengths = {chain.id: len(chain.program.cycle) for chain in dataset.chains if chain.program.closes}
    of_rows = np.array([lengths.get(name, -1) for name in column.dictionary.to_pylist()])
    return of_rows[column.indices.to_numpy()] == dataset.score_table["position"].to_numpy()


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float | None:
    """Spearman's correlation; None if one of them never changes."""
    from scipy.stats import spearmanr

    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 3 or min(np.ptp(first[both]), np.ptp(second[both])) == 0:
        return None
    return float(spearmanr(first[both], second[both]).statistic)


def metrics_page(dataset: ServedDataset) -> str:
    """What each metric detects and misses, and how far they agree, as HTML."""
    rows = []
    for spec in specs().values():
        rows += [(part.title, part.sees, part.misses) for part in [spec, *spec.columns] if part.sees]  # type: ignore[attr-defined]
    return page.render(SPACE / "metrics" / "agreement.html", metrics=rows, agreement=agreement(dataset))


PUBLIC = (metrics, agreement)
FOR_THE_PAGE = (metrics_page,)
