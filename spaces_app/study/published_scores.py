"""Score tables that others published: their curves by table, metric and editor."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from convergebench.generation.records import FinishedChain

from .cases import CURVES
from .round_curves import mean_rows

Row = Mapping[str, Any]
CaseAndRun = tuple[str, int]
ValuesByCase = dict[CaseAndRun, dict[int, float]]  # by case and run: the values by round


class PublishedMetric(NamedTuple):
    """One metric of one published table."""

    table: str
    metric: str
    editors: dict[str, ValuesByCase]
    source_of: Mapping[CaseAndRun, str]

    @property
    def rounds(self) -> list[int]:
        return sorted({round for cases in self.editors.values() for values in cases.values() for round in values})

    def curve(self, editor: str) -> list[dict[str, Any]]:
        """One editor's means by round."""
        cases, rounds = self.editors[editor], self.rounds
        values = np.array([[values.get(round) for round in rounds] for values in cases.values()], float)
        rows = mean_rows(values, [self.source_of[key] for key in cases], self.metric)
        return [row | {"round": rounds[row["round"] - 1]} for row in rows]


def published_metrics(rows: Iterable[Row], chains: Iterable[FinishedChain]) -> list[PublishedMetric]:
    """Everything that was published; a metric without values is not there."""
    sources = {chain.id: chain.source.id for chain in chains}
    found: dict[tuple[str, str], dict[str, ValuesByCase]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    source_of: dict[CaseAndRun, str] = {}
    for row in rows:
        key = row["case"], row["run"]
        # A case whose picture is not in this dataset stands for itself.
        source_of[key] = sources.get(row["chain"]) or source_of.get(key) or row["case"]
        for metric in CURVES:
            if row.get(metric) is not None:
                found[row["table"], metric][row["editor"]][key][row["round"]] = row[metric]
    return [PublishedMetric(table, metric, editors, source_of) for (table, metric), editors in found.items()]


def published_curves(published: Sequence[PublishedMetric]) -> list[dict[str, Any]]:
    """The curves of all published tables, as rows of the table of curves."""
    return [
        {"group": each.table, "slice": "all", "editor": editor, "metric": each.metric, "on": "own"} | row
        for each in published
        for editor in each.editors
        for row in each.curve(editor)
    ]
