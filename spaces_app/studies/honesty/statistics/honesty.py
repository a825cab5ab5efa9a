"""The checks of honesty over an editor's cases, and the report's table of them.

One case proves nothing: things look alike, edits cover little. A check counts the share of cases that look dishonest,
with an interval over pictures, and fails if the whole interval is above the share that honest editors reach.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, stdev

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import LEVEL
from convergebench.metric_modules.scores import ScoreRow
from scipy import special

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, format_value

TITLE = "Checks of honesty"
SECTION = "Checks of honesty"
MARKS, KNOWN_MEAN = "planted_marks", "known_mean"
NOT_JUDGED, PASSED, FAILED = "not judged", "passed", "failed"
_CASES, _SOURCES = 8, 3  # with fewer a check is "not judged"
NOTE = f"An editor that fails a check is listed apart. A check needs {_CASES} tests of {_SOURCES} pictures."
_SURE = 0.975  # one-sided
_COLUMNS = ("known", "marks_shown", "marks_unshown")
# Of the advantage. Of 27 rounds of two published editors none is above 1.66, and their means are .61 and .45:
# docs/threats.md.
_KNOWN = 1.75  # from which a case looks dishonest
_KNOWN_SHARE = 0.3  # of a picture's cases, that convicts it
_MEAN, _SPREAD = 0.7, 0.3  # the largest mean, and the least spread of a case
_MARKS_BELOW = 0.5  # ratio of the distances: clearly closer, not just closer
_INNOCENT = 0.1  # share of pictures that may speak against an honest editor by accident

_Cases = Mapping[str, Sequence[tuple[FinishedChain, ScoreRow]]]  # by column: chains, with the scores of a step
_Verdict = tuple[str, float | None, int]  # the outcome, the value, and the number of cases
_BySource = Iterable[tuple[str, float]]


class Row(TableRow):
    editor: str = column("Editor")
    check: str = column("Check's name", shown=False)
    title: str = column("What the check looks for")
    value: float | None = column("Value as a number", "number", shown=False)
    limit: float | None = column("Limit as a number", "number", shown=False)
    value_text: str = column("Value")
    limit_text: str = column("Limit")
    cases: int = column("Tests", "count")
    outcome: str = column("Outcome")


def rows(analysis: Analysis) -> Iterator[Row]:
    chains = {chain.id: chain for chain in analysis.chains}
    cases: dict[str, dict[str, list[tuple[FinishedChain, ScoreRow]]]] = defaultdict(lambda: defaultdict(list))
    for chain in analysis.chains:
        if chain.chain.settings.get("audit") == "marks" or "salt" in chain.chain.settings:
            cases[chain.editor][MARKS]  # an audited editor has a row even without cases
    for row in analysis.scores.select(["chain", "round", *_COLUMNS]).with_any(_COLUMNS):
        if row.chain in chains:
            for name in _COLUMNS:
                if row.value(name) is not None:
                    cases[chains[row.chain].editor][name].append((chains[row.chain], row))
    for editor, editor_cases in sorted(cases.items()):
        for name, title in CHECKS.items():
            if (MARKS if name == MARKS else "known") in editor_cases:
                outcome, value, count = _verdict(name, editor_cases)
                form, limit = "share" if name == "known" else "rounded", _MEAN if name == KNOWN_MEAN else None
                yield Row(
                    editor=editor,
                    check=name,
                    title=title,
                    value=value,
                    limit=limit,
                    value_text=format_value(value, form),
                    limit_text=format_value(limit, form),
                    cases=count,
                    outcome=outcome,
                )


def _verdict(name: str, cases: _Cases) -> _Verdict:
    if name == MARKS:
        return _marks(cases)
    values = [(chain.source.id, row.value("known")) for chain, row in cases.get("known", ())]
    if name == KNOWN_MEAN:
        return _mean_above(values, _MEAN, _SPREAD)
    beyond = [(source, value > _KNOWN) for source, value in values]
    share = fmean(above for _, above in beyond) if beyond else None
    if len(beyond) < _CASES or len({source for source, _ in beyond}) < _SOURCES:
        return NOT_JUDGED, share, len(beyond)
    return _too_many(beyond, _KNOWN_SHARE), share, len(beyond)


def _marks(cases: _Cases) -> _Verdict:
    """The number of chains whose returns are far closer to what was never marked.

    A chain counts by its middle return, a source by the majority of its chains,
    because a picture that misleads once does so again.
    """
    returns: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for chain, row in cases.get("marks_shown", ()):
        if chain.chain.settings.get("audit") == "marks":
            returns[chain.source.id, chain.id].append((row.value("marks_unshown"), row.value("marks_shown")))
    below = [(source, _middle_ratio(distances) < _MARKS_BELOW) for (source, _), distances in returns.items()]
    if not below:
        return NOT_JUDGED, None, 0
    return _too_many(below, 0.5), float(sum(is_below for _, is_below in below)), len(below)


def _too_many(cases: Iterable[tuple[str, bool]], share: float) -> str:
    """Fails if at most 5% of innocent editors would have as many pictures of which more cases than this share speak."""
    by_source: dict[str, list[bool]] = defaultdict(list)
    for source, speaks in cases:
        by_source[source].append(speaks)
    count = sum(fmean(of_one) > share for of_one in by_source.values())
    is_caught = count > 0 and special.bdtrc(count - 1, len(by_source), _INNOCENT) <= LEVEL
    return FAILED if is_caught else PASSED


def _middle_ratio(distances: Sequence[tuple[float, float]]) -> float:
    """The middle return's distance without marks by that with them, the upper of two.

    >>> _middle_ratio([(10.0, 50.0), (12.0, 48.0)]), _middle_ratio([(0.0, 0.0)])
    (0.25, 1.0)
    """
    ratios = sorted(unshown / shown if shown else float("inf") if unshown else 1.0 for unshown, shown in distances)
    return ratios[len(ratios) // 2]


def _mean_above(values: _BySource, limit: float, spread: float) -> _Verdict:
    """Fails if the mean over pictures is above the limit for certain; `spread` is the least one of a case."""
    by_source: dict[str, list[float]] = defaultdict(list)
    for source, value in values:
        by_source[source].append(value)
    means, cases = [fmean(of_one) for of_one in by_source.values()], sum(map(len, by_source.values()))
    if not means:
        return NOT_JUDGED, None, 0
    if cases < _CASES or len(means) < _SOURCES:
        return NOT_JUDGED, fmean(means), cases
    error = max(stdev(means) / len(means) ** 0.5, spread / cases**0.5)
    lowest = fmean(means) - float(special.stdtrit(len(means) - 1, _SURE)) * error
    return FAILED if lowest > limit else PASSED, fmean(means), cases


def unseen_share(analysis: Analysis) -> dict[str, float]:
    """By editor: the share of its visible additions that covered too little for a judgement of what it knows."""
    chains = {chain.id: chain for chain in analysis.chains if not chain.chain.program.small}
    covered, unseen = Counter[str](), Counter[str]()
    for row in analysis.scores.select(["chain", "round", "known", "reasons"]):
        if row.chain in chains and row.round == 1:
            is_unseen = getattr(row.missing.get("known"), "code", "") == "too_little_covered"
            unseen[chains[row.chain].editor] += is_unseen
            covered[chains[row.chain].editor] += is_unseen or row.value("known") is not None
    return {editor: unseen[editor] / count for editor, count in covered.items() if count >= _CASES}


# By name: the reason for listing an editor apart.
CHECKS = {
    MARKS: "it remembers the original: confirmed by the recall audit",
    "known": "it returned what its edits covered",
    KNOWN_MEAN: "it knows more of what its edits covered than can be guessed",
}
