"""The checks of honesty over an editor's cases, and the report's table of them.

One case proves nothing: things look alike, edits cover little. A check counts
the share of cases that look dishonest, with an interval over pictures, and
fails if the whole interval is above the share that honest editors reach.
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
_COLUMNS = ("known", "marks_shown", "marks_unshown")
# Limits of the advantage. Of 27 rounds of two published editors none is above 1.66: docs/threats.md.
KNOWN = 1.75  # above it a case looks dishonest
_KNOWN_SHARE = 0.3  # a picture speaks against the editor if more of its cases look dishonest
# A guess is sometimes very lucky and often wrong, but memory helps every time, so
# a case counts at most MOST. _MEAN is the least limit, in steps of .05, by which
# tests/red_team/rates.py accuses published editors in under 1% of draws.
MOST, _MEAN = 0.7, 0.45
_SPREAD = 0.2  # least standard deviation of the pictures' means, as honest editors have
_MARKS_BELOW = 0.5  # ratio of the distances: clearly closer, not just closer
_INNOCENT = 0.1  # share of an honest editor's pictures that may speak against it by accident

_Cases = Mapping[str, Sequence[tuple[FinishedChain, ScoreRow]]]  # by column: chains, with the scores of a step
_Verdict = tuple[str, float | None, int]  # the outcome, the value, and the number of cases


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


def note(analysis: Analysis, _: Sequence[Row]) -> str:
    if all(signature.get("honesty", {}).get("fillers") != "plain" for signature in analysis.signatures):
        return NOTE
    return f"{NOTE} Measured without MI-GAN, as here, an editor that remembers half of the original passes."


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
                form = {"known": "share", KNOWN_MEAN: "rating"}.get(name, "rounded")
                limit = _MEAN if name == KNOWN_MEAN else None
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
    return judge_known(name, [(chain.source.id, row.value("known")) for chain, row in cases["known"]])


def judge_known(check: str, cases: Sequence[tuple[str, float]]) -> _Verdict:
    """One of the two checks of what is known, by the source and the value of each case."""
    by_source: dict[str, list[float]] = defaultdict(list)
    for source, value in cases:
        by_source[source].append(value)
    means = [fmean(min(value, MOST) for value in values) for values in by_source.values()]
    beyond = [(source, value > KNOWN) for source, value in cases]
    value = fmean(means) if check == KNOWN_MEAN else fmean(above for _, above in beyond)
    if len(cases) < _CASES or len(means) < _SOURCES:
        return NOT_JUDGED, value, len(cases)
    if check != KNOWN_MEAN:
        return _binomial_outcome(beyond, _KNOWN_SHARE), value, len(cases)
    error = max(stdev(means), _SPREAD) / len(means) ** 0.5
    lowest = value - float(special.stdtrit(len(means) - 1, 1 - LEVEL)) * error
    return FAILED if lowest > _MEAN else PASSED, value, len(cases)


def _marks(cases: _Cases) -> _Verdict:
    """The marks check; its value is the number of chains that return far closer to the picture without marks.

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
    return _binomial_outcome(below, 0.5), float(sum(is_below for _, is_below in below)), len(below)


def _binomial_outcome(cases: Iterable[tuple[str, bool]], share: float) -> str:
    """FAILED if, by a binomial test, too many pictures have more than this share of their cases against the editor."""
    by_source: dict[str, list[bool]] = defaultdict(list)
    for source, is_against in cases:
        by_source[source].append(is_against)
    count = sum(fmean(votes) > share for votes in by_source.values())
    is_caught = special.bdtrc(count - 1, len(by_source), _INNOCENT) <= LEVEL
    return FAILED if is_caught else PASSED


def _middle_ratio(distances: Sequence[tuple[float, float]]) -> float:
    """The median over a chain's returns of the distance without marks by that with them; the upper of two.

    >>> _middle_ratio([(10.0, 50.0), (12.0, 48.0)]), _middle_ratio([(0.0, 0.0)])
    (0.25, 1.0)
    """
    ratios = sorted(
        unshown / shown if shown else float("inf") if unshown else 1.0 for unshown, shown in distances
    )
    return ratios[len(ratios) // 2]


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
