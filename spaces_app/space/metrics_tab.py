"""The tab on the metrics: one chain through all of them, what each detects and misses, and how far they agree."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from convergebench.metric_modules.nr_gap.ranges import BY_PLAIN_NAME, RANGES, plain
from convergebench.metric_modules.specs import quality_columns, retained_columns, specs

from . import page
from .served_dataset import ServedDataset

NOTE = "Retained: 1 = identical, 0 = an unrelated picture."
NO_REFERENCE = (
    " Broken lines: scores without a reference, from the worst (0) to the best (1) of their range. Each picture is "
    "seen on its own, so they stay high where an editor returns a clean picture of something else."
)


def detects_and_misses() -> list[tuple[str, str, str]]:
    """Of each metric, and of those of its columns that differ from it, what it detects and what it misses."""
    found = []
    for spec in specs().values():
        described = [(spec.title, spec.sees, spec.misses)]
        described += [(column.title, column.sees, column.misses) for column in spec.columns]
        found += [(title, sees, misses) for title, sees, misses in described if sees]
    return found


def retained_titles() -> dict[str, str]:
    """Titles by the column of the scores that holds the retained value."""
    return {column.retained: column.title for column in retained_columns().values()}


def no_reference(dataset: ServedDataset) -> dict[str, str]:
    """Columns of the scores that hold a no-reference metric, with its name in the table of ranges."""
    numeric = [
        field.name
        for field in dataset.scores.schema
        if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
    ]
    return {column: BY_PLAIN_NAME[plain(column)] for column in numeric if plain(column) in BY_PLAIN_NAME}


def on_typical_range(value: float | None, name: str) -> float | None:
    """A no-reference score on 0 to 1, higher is better, by its typical range.

    >>> on_typical_range(34.1, "BRISQUE")
    0.7726666666666667
    """
    if value is None or math.isnan(value):
        return None
    low, high, higher_is_better = RANGES[name]
    share = (value - low) / (high - low)
    return min(max(share if higher_is_better else 1 - share, 0.0), 1.0)


def metric_curves(dataset: ServedDataset, chain: str) -> list[dict[str, Any]]:
    """Every metric of one chain on the scale from 0 to 1, one row per metric and return."""
    length = len(dataset.chain(chain).program.cycle)
    found = []
    for score in dataset.scores_of(chain).values():
        if score["position"] != length:
            continue
        for name, title in retained_titles().items():
            found.append({"metric": title, "round": score["round"], "value": score.get(name)})
        for column, name in no_reference(dataset).items():
            about = {"metric": f"{name} (no reference)", "round": score["round"]}
            found.append(about | {"value": on_typical_range(score[column], name)})
    known = {each["metric"] for each in found if each["value"] is not None}
    return [each for each in found if each["metric"] in known]


@lru_cache(maxsize=4)
def agreement(dataset: ServedDataset) -> dict[str, Any]:
    """Rank correlations over all returns, and how often each metric is the one that has fallen furthest."""
    names = retained_titles() | no_reference(dataset)
    returns = dataset.scores.filter(pa.array(is_return(dataset)))
    there = {title: returns[name] for name, title in names.items() if name in returns.column_names}
    columns = {
        title: values.to_numpy().astype(float) for title, values in there.items() if values.null_count < len(values)
    }
    for title in columns.keys() & set(RANGES):
        columns[title] = columns[title] if RANGES[title][2] else -columns[title]
    qualities = [retained_columns()[name].title for name in quality_columns()]
    own = [title for title in columns if title in qualities]
    together = np.column_stack([columns[title] for title in own]) if own else np.empty((0, 1))
    together = together[np.isfinite(together).all(axis=1)]
    damaged = together[together.min(axis=1) < 1]  # of equals, none is the lowest
    lowest = np.bincount(damaged.argmin(axis=1), minlength=len(own))
    return {
        "metrics": list(columns),
        "correlation": [[spearman(one, other) for other in columns.values()] for one in columns.values()],
        "returns": len(together),
        "lowest": {title: float(count) / max(len(damaged), 1) for title, count in zip(own, lowest, strict=True)},
    }


def is_return(dataset: ServedDataset) -> np.ndarray:
    """Which rows of the scores are returns: the last step of a round that should end where it began."""
    column = dataset.scores["chain"].combine_chunks()
    programs = [
        chain.program if (chain := dataset.chains.get(each)) else None for each in column.dictionary.to_pylist()
    ]
    lengths = [len(program.cycle) if program and program.closes else -1 for program in programs]
    return np.array(lengths)[column.indices.to_numpy()] == dataset.scores["position"].to_numpy()


def spearman(first: np.ndarray, second: np.ndarray) -> float | None:
    """Rank correlation over the returns that have both; None where one of them never changes."""
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 3:
        return None
    one, other = mean_ranks(first[both]), mean_ranks(second[both])
    return float(np.corrcoef(one, other)[0, 1]) if min(one.std(), other.std()) > 0 else None


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks, ties sharing their mean.

    >>> mean_ranks(np.array([3.0, 1.0, 3.0]))
    array([1.5, 0. , 1.5])
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[places]


def metrics_html(dataset: ServedDataset) -> str:
    """What each metric detects and misses, and how far they agree."""
    note = NOTE + (NO_REFERENCE if no_reference(dataset) else "")
    return page.render("metrics.html", metrics=detects_and_misses(), agreement=agreement(dataset), note=note)
