"""Scores without a reference, step by step, on a scale from 0 to 100."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.no_reference.ranges import COLUMNS, normalised
from convergebench.metric_modules.scores import ScoreRow

from ...analysis.analysis import Analysis

SECTION = "Do scores without a reference see the damage?"
WITH_ORIGINAL = "LPIPS (sees the original)"  # the others are compared with it
_NAMES = {column: row.name for column, row in COLUMNS.items()} | {"lpips": WITH_ORIGINAL}


# One chain's scores by step, 100 is best; then LPIPS of the same steps, unscaled.
Run = tuple[Mapping[int, float], Mapping[int, float]]


def replication_series(analysis: Analysis) -> dict[tuple[str, str, str], dict[str, list[Run]]]:
    """Each source's runs by editor, program and metric.

    Left out are chains under audit, and programs that no metric without a
    reference has scored. LPIPS is there only next to such a metric.
    """
    places: dict[tuple[str, str], dict[str, list[tuple[FinishedChain, Run]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for chain, metric, run in _scored_chains(analysis):
        places[chain.program.id, chain.editor][metric].append((chain, run))
    series: dict[tuple[str, str, str], dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for program, editor in sorted(places, key=lambda place: (place[0] != "replicate", place)):
        metrics = places[program, editor]
        for metric in [name for name in _NAMES.values() if name in metrics and {*metrics} != {WITH_ORIGINAL}]:
            for chain, run in sorted(metrics[metric], key=lambda pair: (pair[0].source.id, pair[0].run)):
                series[editor, program, metric][chain.source.id].append(run)
    return series


def _scored_chains(analysis: Analysis) -> Iterator[tuple[FinishedChain, str, Run]]:
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.category == "replicate" and "audit" not in chain.chain.settings
    }
    for name, rows in analysis.scores.of_chains(chains).items():
        answered = [row for row in rows if row.status == "ok"]
        lpips = _by_step(answered, "lpips")
        for column, metric in _NAMES.items():
            if values := lpips if metric == WITH_ORIGINAL else _by_step(answered, column):
                scaled = {step: _on_common_scale(value, metric) for step, value in values.items()}
                yield chains[name], metric, (scaled, lpips)


def _by_step(rows: Sequence[ScoreRow], column: str) -> dict[int, float]:
    return {row.step: value for row in rows if (value := row.value(column)) is not None}


def _on_common_scale(value: float, metric: str) -> float:
    """From 0 to 100, higher is better; a score may leave the scale.

    >>> _on_common_scale(0.25, WITH_ORIGINAL), _on_common_scale(15, "BRISQUE")
    (75.0, 90.0)
    """
    return 100 * (1 - value) if metric == WITH_ORIGINAL else normalised(value, metric)
