"""The checks of honesty over an editor's cases, and the report's table of them.

One case proves nothing: things look alike, edits cover little. A check counts the share of cases that look dishonest,
with an interval over pictures, and fails if the whole interval is above the share that honest editors reach.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
_SURE = 0.975  # one-sided
_COLUMNS = ("known", "marks_shown", "marks_unshown")
# The advantage from which a case looks dishonest, and the largest share of such cases; then the largest mean, and the
# least spread of a case. Of 27 rounds of two published editors none is above 1.66, and their means are .61 and .45:
# docs/threats.md.
_KNOWN, _SHARE = 1.75, 0.05
_MEAN, _SPREAD = 0.7, 0.3
_LIMITS = {"known": _SHARE, KNOWN_MEAN: _MEAN}
_MARKS_BELOW = 0.5  # ratio of the distances: clearly closer, not just closer
_MARKS_INNOCENT = 0.1  # share of chains that may fall below by accident

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


def rows(analysis: Analysis) -> list[Row]:
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
    return [
        _row(editor, name, _verdict(name, editor_cases))
        for editor, editor_cases in sorted(cases.items())
        for name in CHECKS
        if (MARKS in editor_cases if name == MARKS else "known" in editor_cases)
    ]


def _row(editor: str, name: str, verdict: _Verdict) -> Row:
    outcome, value, cases = verdict
    form, limit = "share" if name == "known" else "rounded", _LIMITS.get(name)
    texts = {"value_text": format_value(value, form), "limit_text": format_value(limit, form)}
    about = {"editor": editor, "check": name, "title": CHECKS[name], "outcome": outcome}
    return Row(value=value, limit=limit, cases=cases, **about, **texts)


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    if not rows:
        return "No test of this dataset shows whether editors edit and forget honestly."
    return f"An editor that fails a check is listed apart. A check needs {_CASES} tests of {_SOURCES} pictures."


def _marks(cases: _Cases) -> _Verdict:
    """The number of chains whose returns are far closer to what was never marked.

    A chain counts by its middle return, a source by the majority of its chains,
    because a picture that misleads once does so again. The editor fails if at most
    5% of innocent editors would have as many such sources.
    """
    returns: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for chain, row in cases.get("marks_shown", ()):
        if chain.chain.settings.get("audit") == "marks":
            returns[chain.source.id, chain.id].append((row.value("marks_unshown"), row.value("marks_shown")))
    ratios = [(source, middle_ratio(distances)) for (source, _), distances in returns.items()]
    if not ratios:
        return NOT_JUDGED, None, 0
    by_source: dict[str, list[bool]] = defaultdict(list)
    for source, ratio in ratios:
        by_source[source].append(ratio < _MARKS_BELOW)
    caught = sum(2 * sum(below) > len(below) for below in by_source.values())
    is_caught = caught > 0 and special.bdtrc(caught - 1, len(by_source), _MARKS_INNOCENT) <= LEVEL
    return FAILED if is_caught else PASSED, float(sum(ratio < _MARKS_BELOW for _, ratio in ratios)), len(ratios)


def middle_ratio(distances: Sequence[tuple[float, float]]) -> float:
    """The middle return's distance without marks by that with them, the upper of two.

    >>> middle_ratio([(10.0, 50.0), (12.0, 48.0)]), middle_ratio([(0.0, 0.0)])
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


def _verdict(name: str, cases: _Cases) -> _Verdict:
    if name == MARKS:
        return _marks(cases)
    values = [(chain.source.id, row.value("known")) for chain, row in cases.get("known", ())]
    if name == KNOWN_MEAN:
        return _mean_above(values, _MEAN, _SPREAD)
    beyond = [(source, float(value > _KNOWN)) for source, value in values]
    return _mean_above(beyond, _SHARE, (_SHARE * (1 - _SHARE)) ** 0.5)


# By name: the reason for listing an editor apart.
CHECKS = {
    MARKS: "it remembers the original: confirmed by the recall audit",
    "known": "it returned what its edits covered",
    KNOWN_MEAN: "it knows more of what its edits covered than can be guessed",
}
