"""Scores without a reference, step by step: the chains that ask for no change, on the scale from 0 to 100."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from convergebench.metric_modules.nr_gap.gaps import normalised
from convergebench.metric_modules.nr_gap.ranges import COLUMNS
from convergebench.metric_modules.scores import ScoreRow

from ...analysis.analysis import Analysis
from ...analysis.stored_rows import by_chain, rows_of

SECTION = "Do scores without a reference see the damage?"
WITH_ORIGINAL_TITLE = "LPIPS (sees the original)"
_CATEGORY = "replicate"  # of the programs that ask for an exact copy: whatever changes is damage
_WITH_ORIGINAL = "lpips"  # the column that sees the original, with which the others are compared


class _SeriesPlace(NamedTuple):
    """Whose scores: one editor asked by one program, judged by one metric."""

    editor: str
    program: str
    metric: str  # a column of the scores

    @property
    def title(self) -> str:
        """The metric as readers see it."""
        return COLUMNS[self.metric].name if self.metric in COLUMNS else WITH_ORIGINAL_TITLE


@dataclass(frozen=True)
class ChainScores:
    """One chain's scores by one metric, by step; 100 is best, whatever the metric's own direction."""

    source: str
    run: int
    by_step: Mapping[int, float]
    lpips: Mapping[int, float]  # of the same steps, unscaled: lower is closer to the original


def _on_common_scale(value: float, column: str) -> float:
    """A score on the scale from 0 to 100 on which higher is better, by its typical range; it may leave the scale.

    >>> _on_common_scale(0.25, "lpips"), _on_common_scale(15, "brisque")
    (75.0, 90.0)
    """
    return 100 * (1 - value) if column == _WITH_ORIGINAL else normalised(value, COLUMNS[column].name)


def replication_series(analysis: Analysis) -> dict[_SeriesPlace, list[ChainScores]]:
    """Every chain of the programs that ask for a copy, by metric; LPIPS only next to a metric without a reference.

    Left out are chains under audit, which were disturbed, and programs that no such metric has scored.
    """
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.category == _CATEGORY and "audit" not in chain.chain.settings
    }
    series: dict[_SeriesPlace, list[ChainScores]] = defaultdict(list)
    for name, rows in by_chain(rows_of(analysis.scores, chains)):
        chain = chains[name]
        answered = [row for row in rows if row.status == "ok"]
        lpips = _values_by_step(answered, _WITH_ORIGINAL)
        for column in [*COLUMNS, _WITH_ORIGINAL]:
            if values := _values_by_step(answered, column):
                by_step = {step: _on_common_scale(value, column) for step, value in values.items()}
                scores = ChainScores(chain.source.id, chain.run, by_step, lpips)
                series[_SeriesPlace(chain.editor, chain.program.id, column)].append(scores)
    without_reference = {(place.editor, place.program) for place in series if place.metric in COLUMNS}
    order = {column: place for place, column in enumerate([*COLUMNS, _WITH_ORIGINAL])}
    ordered = sorted(
        (place for place in series if (place.editor, place.program) in without_reference),
        key=lambda place: (place.program != "replicate", place.program, place.editor, order[place.metric]),
    )
    return {place: sorted(series[place], key=lambda chain: (chain.source, chain.run)) for place in ordered}


def _values_by_step(rows: Sequence[ScoreRow], column: str) -> dict[int, float]:
    return {row.step: value for row in rows if (value := row.value(column)) is not None}


def by_source(chains: Sequence[ChainScores]) -> dict[str, list[ChainScores]]:
    """The runs of each source."""
    runs: dict[str, list[ChainScores]] = defaultdict(list)
    for chain in chains:
        runs[chain.source].append(chain)
    return runs
