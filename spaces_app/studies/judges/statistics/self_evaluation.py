"""When a reasoning summary first mentions noise, after section 4.3 of Banana100."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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


_Run = tuple[int | None, int, bool]  # the first step answered yes, the last one asked, an unclear answer before


def rows(analysis: Analysis) -> list[Row]:
    chains = {chain.id: chain for chain in analysis.chains}
    runs: dict[tuple[str, str, str, str], list[_Run]] = defaultdict(list)
    for (judge, question), by_step in analysis.once(judged_steps).items():
        values: dict[str, dict[int, float | None]] = defaultdict(dict)
        for (name, step), answer in by_step.items() if question == _QUESTION else ():
            values[name][step] = answer["value"]
        for name, by_number in values.items():
            chain = chains[name]
            for source in (chain.source.id, _ALL):
                runs[judge, chain.editor, chain.program.id, source].append(_run(by_number))
    ordered = sorted(runs, key=lambda key: (*key[:3], key[3] == _ALL, key[3]))
    return [_row(key, runs[key]) for key in ordered]


def _run(answers: Mapping[int, float | None]) -> _Run:
    """A chain by its answers, step by step.

    >>> _run({1: 0.0, 2: None, 3: 1.0, 4: 0.0}), _run({1: 0.0, 2: 0.0})
    ((3, 4, True), (None, 2, False))
    """
    first = min((step for step, value in answers.items() if value == 1.0), default=None)
    is_unclear = any(value is None and (first is None or step < first) for step, value in answers.items())
    return first, max(answers), is_unclear


def _row(key: tuple[str, str, str, str], runs: Sequence[_Run]) -> Row:
    firsts = [first for first, _, _ in runs if first is not None]
    return Row(
        **dict(zip(("judge", "editor", "program", "source"), key, strict=True)),
        first=mean(firsts) if firsts else None,
        deviation=stdev(firsts) if len(firsts) > 1 else None,
        runs=len(firsts),
        never=len(runs) - len(firsts),
        steps=max(last for _, last, _ in runs),
        unclear=sum(is_unclear for _, _, is_unclear in runs),
    )
