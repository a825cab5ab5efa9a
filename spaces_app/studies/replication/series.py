"""Scores without a reference, step by step: the chains that ask for no change, on the scale from 0 to 100."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from convergebench.metric_modules.nr_gap.gaps import normalised
from convergebench.metric_modules.nr_gap.ranges import COLUMNS

from ...analysis.analysis import Analysis
from ...analysis.stored_rows import rows_of

CATEGORY = "replicate"  # of the programs that ask for an exact copy: whatever changes is damage
WITH_ORIGINAL = "lpips"  # the column that sees the original: what the others are held against
WITH_ORIGINAL_TITLE = "LPIPS (sees the original)"


class SeriesPlace(NamedTuple):
    """Whose scores: one editor asked by one program, judged by one metric."""

    editor: str
    program: str
    metric: str  # a column of the scores


@dataclass(frozen=True)
class ChainScores:
    """One chain's scores by one metric, by step; 100 is best, whatever the metric's own direction."""

    source: str
    run: int
    by_step: Mapping[int, float]
    lpips: Mapping[int, float]  # of the same steps, as it is: lower is closer to the original


def title_of(column: str) -> str:
    """What a metric is called."""
    return COLUMNS[column].name if column in COLUMNS else WITH_ORIGINAL_TITLE


def on_common_scale(value: float, column: str) -> float:
    """A score on the scale from 0 to 100 on which higher is better, by its typical range; it may leave the scale.

    >>> on_common_scale(0.25, "lpips"), on_common_scale(15, "brisque")
    (75.0, 90.0)
    """
    return 100 * (1 - value) if column == WITH_ORIGINAL else normalised(value, COLUMNS[column].name)


def replication_series(analysis: Analysis) -> dict[SeriesPlace, list[ChainScores]]:
    """Every chain of the programs that ask for a copy, by metric; LPIPS only beside a metric without a reference.

    Chains under audit are left out: they were disturbed. So are programs of which no such metric was scored.
    """
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.category == CATEGORY and "audit" not in chain.chain.settings
    }
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows_of(analysis.scores, chains):
        if row["status"] == "ok":
            rows[row["chain"]].append(row)
    there = [column for column in COLUMNS if any(column in row for own in rows.values() for row in own[:1])]
    found: dict[SeriesPlace, list[ChainScores]] = defaultdict(list)
    judged: set[tuple[str, str]] = set()
    for id, own in rows.items():
        chain = chains[id]
        lpips = values_by_step(own, WITH_ORIGINAL)
        for column in [*there, WITH_ORIGINAL]:
            values = values_by_step(own, column)
            if values:
                place = SeriesPlace(chain.editor, chain.program.id, column)
                by_step = {step: on_common_scale(value, column) for step, value in values.items()}
                found[place].append(ChainScores(chain.source.id, chain.run, by_step, lpips))
                judged |= {(place.editor, place.program)} if column in COLUMNS else set()
    order = {column: place for place, column in enumerate([*COLUMNS, WITH_ORIGINAL])}
    kept = [place for place in found if (place.editor, place.program) in judged]
    kept.sort(key=lambda place: (place.program != "replicate", place.program, place.editor, order[place.metric]))
    return {place: sorted(found[place], key=lambda one: (one.source, one.run)) for place in kept}


def values_by_step(rows: Sequence[Mapping[str, Any]], column: str) -> dict[int, float]:
    return {row["step"]: row[column] for row in rows if row.get(column) is not None}


def by_source(chains: Sequence[ChainScores]) -> dict[str, list[ChainScores]]:
    """The runs of each source."""
    found: dict[str, list[ChainScores]] = defaultdict(list)
    for one in chains:
        found[one.source].append(one)
    return found
