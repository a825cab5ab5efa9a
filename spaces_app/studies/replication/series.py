"""Scores without a reference, step by step: the chains that ask for no change, on the scale from 0 to 100."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from convergebench.metric_modules.nr_gap.gaps import normalised
from convergebench.metric_modules.nr_gap.ranges import COLUMNS

from ...analysis.analysis import Analysis
from ...analysis.stored_rows import by_chain, rows_of

SECTION = "Do scores without a reference see the damage?"
WITH_ORIGINAL = "LPIPS (sees the original)"  # the others are compared with it
_NAMES = {column: row.name for column, row in COLUMNS.items()} | {"lpips": WITH_ORIGINAL}


@dataclass(frozen=True)
class Series:
    """The scores of one editor asked by one program, by one metric."""

    editor: str
    program: str
    metric: str  # as readers see it
    sources: Mapping[str, "list[ChainScores]"]  # the runs of each source


@dataclass(frozen=True)
class ChainScores:
    """One chain's scores by one metric, by step; 100 is best, whatever the metric's own direction."""

    by_step: Mapping[int, float]
    lpips: Mapping[int, float]  # of the same steps, unscaled: lower is closer to the original


def replication_series(analysis: Analysis) -> list[Series]:
    """Every chain of the programs that ask for a copy, by metric; LPIPS only next to a metric without a reference.

    Left out are chains under audit, which were disturbed, and programs that no such metric has scored.
    """
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.category == "replicate" and "audit" not in chain.chain.settings
    }
    by_place: dict[tuple[str, str], dict[str, list[tuple[str, int, ChainScores]]]]
    by_place = defaultdict(lambda: defaultdict(list))
    for name, rows in by_chain(rows_of(analysis.scores, chains)):
        chain = chains[name]
        answered = [row for row in rows if row.status == "ok"]
        lpips = {row.step: value for row in answered if (value := row.value("lpips")) is not None}
        for column, metric in _NAMES.items():
            values = {row.step: value for row in answered if (value := row.value(column)) is not None}
            scaled = {
                step: 100 * (1 - value) if metric == WITH_ORIGINAL else normalised(value, metric)
                for step, value in values.items()
            }
            if scaled:
                runs = by_place[chain.editor, chain.program.id][metric]
                runs.append((chain.source.id, chain.run, ChainScores(scaled, lpips)))
    series = []
    for editor, program in sorted(by_place, key=lambda place: (place[1] != "replicate", place[1], place[0])):
        metrics = by_place[editor, program]
        for metric in [name for name in _NAMES.values() if name in metrics and {*metrics} != {WITH_ORIGINAL}]:
            sources: dict[str, list[ChainScores]] = defaultdict(list)
            for source, _, scores in sorted(metrics[metric], key=lambda run: run[:2]):
                sources[source].append(scores)
            series.append(Series(editor, program, metric, sources))
    return series
