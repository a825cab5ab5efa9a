"""The no-reference metrics of Banana100's Table 2: name, typical range, direction, and what computes each here."""

import tomllib
from pathlib import Path
from typing import NamedTuple

# The steps that Banana100 compares (its Table 2 and figures).
FIRST = 1
STEPS = (5, 10, 20)


class _NoReference(NamedTuple):
    name: str
    column: str  # of the scores, and the metric's name for `convergebench score --metrics`
    low: float
    high: float
    higher_is_better: bool
    computed_by: str  # "here": a folder of its own; or the library that has it: "pyiqa" or "transformers"
    library_name: str = ""  # what that library calls it: a metric of pyiqa, a repository of the Hub


_ROWS = tomllib.loads(Path(__file__).with_name("ranges.toml").read_text(encoding="utf-8"))["metrics"]
TABLE = tuple(_NoReference(*row) for row in _ROWS)
RANGES = {row.name: (row.low, row.high, row.higher_is_better) for row in TABLE}
COLUMNS = {row.column: row for row in TABLE}


def plain(name: str) -> str:
    """Names are compared by letters and digits alone: 'topiq_nr' is 'TOPIQ NR'."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


BY_PLAIN_NAME = {plain(name): name for name in RANGES}


def normalised(score: float, metric: str) -> float:
    """A score from 0 to 100, higher is better.

    >>> normalised(34.1, "BRISQUE")
    77.26666666666667
    """
    low, high, higher_is_better = RANGES[BY_PLAIN_NAME[plain(metric)]]
    share = (score - low) / (high - low)
    return 100 * (share if higher_is_better else 1 - share)
