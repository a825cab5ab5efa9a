from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from convergebench.metric_modules.halflife.intervals import mean_over_clusters

from ....analysis.analysis import Analysis
from ....analysis.cases import QUALITIES
from ....analysis.tables import Estimate, TableRow, column, estimate
from ....statistics import OnPage
from .. import series

TITLE = "Copies with and without the instruction to denoise"
SECTION = series.SECTION
ON_PAGE = OnPage(order=60, part_by="program", line_where="editor")
NOTE = "Below 0, the copy with the instruction to denoise is further from the original than the plain one."
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


def rows(analysis: Analysis) -> Iterator[Row]:
    """On the sources that have both; limits are over sources."""
    chains = {
        chain.id: chain
        for chain in analysis.chains
        if chain.program.id in (_PLAIN, _DENOISE) and "audit" not in chain.chain.settings
    }
    # The lowest retained quality, by editor, step, program and source, in each run.
    qualities: dict[tuple[str, int, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in [row for rows in analysis.scores.of_chains(chains).values() for row in rows]:
        chain = chains[row.chain]
        if values := [value for name in QUALITIES if (value := row.value(f"retained_{name}")) is not None]:
            qualities[chain.editor, row.step, chain.program.id][chain.source.id].append(min(values))
    for editor, step in sorted({(editor, step) for editor, step, _ in qualities if step in _STEPS}):
        plain, denoise = qualities[editor, step, _PLAIN], qualities[editor, step, _DENOISE]
        sources = sorted(plain.keys() & denoise.keys())
        before, after = ([fmean(side[source]) for source in sources] for side in (plain, denoise))
        if sources:
            gains = [second - first for first, second in zip(before, after, strict=True)]
            yield Row(
                program="plain and denoise",
                editor=editor,
                step=step,
                plain=fmean(before),
                denoise=fmean(after),
                difference=estimate(*mean_over_clusters(gains, sources)),
                sources=len(sources),
            )
