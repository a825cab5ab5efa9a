"""Score tables that others published: their curves by table, metric and editor."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from convergebench.dataset_builder.studies.published.tables import PublishedRow

from ...analysis.analysis import Analysis
from ...analysis.cases import CURVES
from ...statistics.curves import CurveRow, mean_curve

_CaseAndRun = tuple[str, int]


@dataclass(frozen=True)
class PublishedMetric:
    table: str
    metric: str
    editors: Mapping[str, Mapping[_CaseAndRun, Mapping[int, float]]]  # values by round, by case and run
    source_of: Mapping[
        _CaseAndRun, str | None
    ]  # the picture that each case starts from; all None if one is unknown
    has_pictures: bool  # whether the pictures are known; without them there are no intervals and no verdicts

    @cached_property
    def rounds(self) -> list[int]:
        return sorted({round for cases in self.editors.values() for values in cases.values() for round in values})

    def sources(self, editor: str) -> list[str | None]:
        return [self.source_of[key] for key in self.editors[editor]]

    def curve(self, editor: str) -> list[CurveRow]:
        cases, rounds = self.editors[editor], self.rounds
        values = np.array([[values.get(round) for round in rounds] for values in cases.values()], float)
        place = {"group": self.table, "slice": "all", "editor": editor, "on": "own"}
        return [
            replace(row, round=rounds[row.round - 1], sources=row.sources if self.has_pictures else None)
            for row in mean_curve(values, self.sources(editor), self.metric, place)
        ]


def published_metrics(analysis: Analysis) -> list[PublishedMetric]:
    """Tables of restored pictures have no rounds and are left out."""
    rows = [row for row in analysis.rows(PublishedRow) if not row.category]
    sources = {chain.id: chain.source.id for chain in analysis.chains}
    unnamed = {row.table for row in rows if not row.image}
    values: dict[tuple[str, str], dict[str, dict[_CaseAndRun, dict[int, float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    pictures: dict[str, dict[_CaseAndRun, str | None]] = defaultdict(dict)
    for row in rows:
        key, of_table = (row.case, row.run), pictures[row.table]
        # The pictures' names come from the table or from the chains, never from both.
        of_table[key] = (sources.get(row.chain or "") or of_table.get(key)) if row.table in unnamed else row.image
        for metric in CURVES:
            if (value := row.values.get(metric)) is not None:
                values[row.table, metric][row.editor][key][row.round] = value
    metrics = []
    for (table, metric), editors in values.items():
        of_table = {key: pictures[table][key] for cases in editors.values() for key in cases}
        is_known = None not in of_table.values()
        source_of = of_table if is_known else dict.fromkeys(of_table)
        metrics.append(PublishedMetric(table, metric, editors, source_of, is_known))
    return metrics


def curves(analysis: Analysis) -> list[CurveRow]:
    metrics = analysis.once(published_metrics)
    return [row for metric in metrics for editor in metric.editors for row in metric.curve(editor)]
