"""When a reasoning summary first mentions noise, after section 4.3 of Banana100."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, stdev

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column
from ....statistics import OnPage
from ..answers import judged_steps

TITLE = "First step whose reasoning summary mentions noise or artifacts"
SECTION = "Self-evaluation"
ON_PAGE = OnPage(part_by="judge", line_where="program")
NOTE = (
    "A judge read each step's reasoning summary. Runs that never mention noise do not count "
    "for the mean, which is then a lower bound."
)
_QUESTION = "self_evaluation"
_ALL = "all sources"


class Row(TableRow):
    judge: str = column("Judge", shown=False)
    editor: str = column("Editor")
    program: str = column("Program")
    source: str = column("Source")
    first: float | None = column("First step, mean over runs", "rounds")
    deviation: float | None = column("Standard deviation", "rounds")
    runs: int = column("Runs that mention it", "count")
    never: int = column("Runs that never do", "count")
    steps: int = column("Steps followed, at most", "count")
    unclear: int = column("Runs with an unclear answer before", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    chains = {chain.id: chain for chain in analysis.chains}
    # Each run's answers by step, under its source and again under all sources.
    runs: dict[tuple[str, str, str, str], dict[str, dict[int, float | None]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for (judge, question), by_step in analysis.once(judged_steps).items():
        for (name, step), answer in by_step.items() if question == _QUESTION else ():
            chain = chains[name]
            for source in (chain.source.id, _ALL):
                runs[judge, chain.editor, chain.program.id, source][name][step] = answer["value"]
    for key in sorted(runs, key=lambda key: (*key[:3], key[3] == _ALL, key[3])):
        place = dict(zip(("judge", "editor", "program", "source"), key, strict=True))
        yield _row(place, list(runs[key].values()))


def _row(place: Mapping[str, str], runs: Sequence[Mapping[int, float | None]]) -> Row:
    firsts = [min((step for step, value in run.items() if value == 1.0), default=None) for run in runs]
    named = [first for first in firsts if first is not None]
    unclear = [
        any(value is None and (first is None or step < first) for step, value in run.items())
        for run, first in zip(runs, firsts, strict=True)
    ]
    return Row(
        **place,
        first=mean(named) if named else None,
        deviation=stdev(named) if len(named) > 1 else None,
        runs=len(named),
        never=len(firsts) - len(named),
        steps=max(map(max, runs)),
        unclear=sum(unclear),
    )
