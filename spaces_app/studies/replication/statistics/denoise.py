"""Copies with the instruction to denoise against plain copies, step by step: does asking for clean pictures help?"""

from collections import defaultdict
from collections.abc import Sequence

from convergebench.metric_modules.halflife.intervals import mean_over_clusters

from ....analysis.analysis import Analysis
from ....analysis.cases import QUALITIES
from ....analysis.stored_rows import rows_of
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from .. import series

TITLE = "Copies with and without the instruction to denoise"
SECTION = series.SECTION
ON_PAGE = OnPage(order=60, part_by="program", line_where="editor")
NOTE = (
    "Below 0, the copy with the instruction to denoise is further from the original than the plain copy of that step."
)
_PLAIN, _DENOISE = "replicate", "replicate-denoise"
_STEPS = (1, 5, 10, 20, 50, 100)


class Row(TableRow):
    program: str = column("Program", shown=False)
    editor: str = column("Editor")
    step: int = column("Step", "count")
    plain: float = column("Retained quality, plain", "share")
    denoise: float = column("With denoising", "share")
    difference: Estimate = column("Difference", "number")
    sources: int = column("Pictures", "count")


_Qualities = dict[tuple[str, str], dict[tuple[str, int], list[float]]]  # editor, program: source, step: runs


def rows(analysis: Analysis) -> list[Row]:
    """One row for each editor and step, on the sources that have both; limits are over sources."""
    qualities = _qualities_by_step(analysis)
    rows = []
    for editor in sorted({editor for editor, program in qualities if program == _DENOISE}):
        plain, denoise = qualities[editor, _PLAIN], qualities[editor, _DENOISE]
        for step in _STEPS:
            both = sorted(source for source, at in plain.keys() & denoise.keys() if at == step)
            pairs = [(_mean(plain[source, step]), _mean(denoise[source, step])) for source in both]
            if pairs:
                difference, limits = mean_over_clusters([after - before for before, after in pairs], both, 0.95)
                rows.append(
                    Row(
                        program="plain and denoise",
                        editor=editor,
                        step=step,
                        plain=_mean([before for before, _ in pairs]),
                        denoise=_mean([after for _, after in pairs]),
                        difference=estimate(difference, limits),
                        sources=len(both),
                    )
                )
    return rows


def _qualities_by_step(analysis: Analysis) -> _Qualities:
    """The lowest retained quality of every step of both programs."""
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.id in (_PLAIN, _DENOISE) and "audit" not in chain.chain.settings
    }
    qualities: _Qualities = defaultdict(lambda: defaultdict(list))
    for row in rows_of(analysis.scores, chains):
        chain = chains[row.chain]
        values = [value for name in QUALITIES if (value := row.value(f"retained_{name}")) is not None]
        if values:
            qualities[chain.editor, chain.program.id][chain.source.id, row.step].append(min(values))
    return qualities


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
