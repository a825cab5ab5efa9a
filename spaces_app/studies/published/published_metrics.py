"""Score tables that others published: their curves by table, metric and editor."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from convergebench.generation.records import FinishedChain

from ...analysis.cases import CURVES
from ...analysis.round_curves import CurveRow, mean_curve

if TYPE_CHECKING:
    from ...analysis.analysis import Analysis

Row = Mapping[str, Any]
CaseAndRun = tuple[str, int]
ValuesByCase = dict[CaseAndRun, dict[int, float]]  # by case and run: the values by round


class PublishedMetric(NamedTuple):
    """One metric of one published table."""

    table: str
    metric: str
    editors: dict[str, ValuesByCase]
    source_of: Mapping[CaseAndRun, str | None]  # the picture that a case starts from; None where nobody says it

    @property
    def rounds(self) -> list[int]:
        return sorted({round for cases in self.editors.values() for values in cases.values() for round in values})

    @property
    def knows_pictures(self) -> bool:
        """Whether the picture of every case is known; if not, there are neither limits nor verdicts."""
        return all(self.source_of[key] is not None for cases in self.editors.values() for key in cases)

    def sources(self, editor: str) -> list[str | None]:
        """The picture of each of an editor's cases; one and the same where they are not all known."""
        return [self.source_of[key] if self.knows_pictures else None for key in self.editors[editor]]

    def curve(self, editor: str) -> list[CurveRow]:
        """One editor's means by round, as rows of the table of curves."""
        cases, rounds = self.editors[editor], self.rounds
        values = np.array([[values.get(round) for round in rounds] for values in cases.values()], float)
        return [
            CurveRow(
                group=self.table,
                slice="all",
                editor=editor,
                metric=self.metric,
                round=rounds[point.round - 1],
                mean=point.mean,
                median=point.median,
                cases=point.cases,
                sources=point.sources if self.knows_pictures else None,
                on="own",
            )
            for point in mean_curve(values, self.sources(editor), self.metric)
        ]


def published_of(analysis: "Analysis") -> list[PublishedMetric]:
    return published_metrics(analysis.table("published"), analysis.chains)


def published_metrics(rows: Iterable[Row], chains: Iterable[FinishedChain]) -> list[PublishedMetric]:
    """Everything that was published of chains; a metric without values is not there.

    Tables of restored pictures have no rounds to follow: see `restoration`.
    """
    rows = [row for row in rows if not row.get("category")]
    sources = {chain.id: chain.source.id for chain in chains}
    tables = {row["table"] for row in rows}
    named = {table: all(row.get("image") for row in rows if row["table"] == table) for table in tables}
    found: dict[tuple[str, str], dict[str, ValuesByCase]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    source_of: dict[str, dict[CaseAndRun, str | None]] = defaultdict(dict)
    for row in rows:
        key, own = (row["case"], row["run"]), source_of[row["table"]]
        # The table's own names for its pictures, or else those of the chains; one table never mixes the two.
        own[key] = row["image"] if named[row["table"]] else sources.get(row["chain"]) or own.get(key)
        for metric in CURVES:
            if row.get(metric) is not None:
                found[row["table"], metric][row["editor"]][key][row["round"]] = row[metric]
    return [PublishedMetric(table, metric, editors, source_of[table]) for (table, metric), editors in found.items()]


def published_curves(published: Sequence[PublishedMetric]) -> list[CurveRow]:
    """The curves of all published tables, as rows of the table of curves."""
    return [row for metric in published for editor in metric.editors for row in metric.curve(editor)]
