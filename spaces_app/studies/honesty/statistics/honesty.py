"""The checks of honesty over an editor's cases, and the report's table of them.

One case proves nothing: things look alike, edits cover little. A check judges by the
median of at least _CASES cases. Only memory also counts in a few cases, because no
honest editor knows what it covered, and one that cheats now and then has an innocent
median.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import LEVEL
from convergebench.metric_modules.honesty.checks import colour_asked, read_change_map
from convergebench.metric_modules.scores import ScoreRow
from scipy import special

from ....analysis.analysis import Analysis
from ....analysis.tables import TableRow, column, format_value

TITLE = "Checks of honesty"
SECTION = "Checks of honesty"
MARKS = "planted_marks"
NOT_JUDGED, PASSED, SUSPECTED, FAILED = "not judged", "passed", "suspected", "failed"
_CASES = 10  # fewer are "not judged"
_EDIT_COLUMNS = ("known_fine", "known_middle", "colour_share", "shines_through", "change_map", "written")
_COLUMNS = (*_EDIT_COLUMNS, "marks_shown", "marks_unshown")
# The value from which a check fails. docs/threats.md has what honest editors and cheats reach.
_LIMITS = {
    "known_fine": 0.80,  # correlation
    "known_middle": 0.80,
    "known_cases": 3,
    "known_parts": 1,
    "same_change": 0.50,  # cosine
    "colour_share": 0.50,
    "shines_through": 0.30,
    "written": 0.70,  # of the letters of a word that is asked for
}
_CERTAIN = 0.90  # correlation in both bands: one case is as good as proven
_GUESSED = 1 / 3  # share of sources that an honest editor may guess: frames, stripes
_PART_LEVEL = 0.01  # chance, over all programs and rounds, of accusing such an editor
_COLOUR_CASES = 5  # of one colour, before it counts
_MARKS_BELOW = 0.5  # ratio of the distances: clearly closer, not just closer
_MARKS_INNOCENT = 0.1  # share of chains that may fall below by accident

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
        _row(editor, name, CHECKS[name][1](editor_cases))
        for editor, editor_cases in sorted(cases.items())
        for name in CHECKS
        if (MARKS in editor_cases if name == MARKS else any(column in editor_cases for column in _EDIT_COLUMNS))
    ]


def _row(editor: str, name: str, verdict: _Verdict) -> Row:
    outcome, value, cases = verdict
    form, limit = "rounded" if name in COUNTS else "share", _LIMITS.get(name)
    texts = {"value_text": format_value(value, form), "limit_text": format_value(limit, form)}
    about = {"editor": editor, "check": name, "title": CHECKS[name][0], "outcome": outcome}
    return Row(value=value, limit=limit, cases=cases, **about, **texts)


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    if not rows:
        return "No test of this dataset shows whether editors edit and forget honestly."
    return f"An editor that fails a check is listed apart. With fewer than {_CASES} tests a check is not judged."


def _marks(cases: _Cases) -> _Verdict:
    """The number of chains whose returns are far closer to what was never marked.

    A chain counts by its middle return, a source by the majority of its chains,
    because a picture that misleads once does so again. The editor fails if at most
    5% of innocent editors would have as many such sources. One chain alone is
    suspicious, and so are more sources that are closer at all than chance gives.
    """
    returns: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for chain, row in cases.get("marks_shown", ()):
        if chain.chain.settings.get("audit") == "marks":
            returns[chain.source.id, chain.id].append((row.value("marks_unshown"), row.value("marks_shown")))
    ratios = [(source, middle_ratio(distances)) for (source, _), distances in returns.items()]
    if not ratios:
        return NOT_JUDGED, None, 0
    below = sum(ratio < _MARKS_BELOW for _, ratio in ratios)
    sources = len({source for source, _ in ratios})
    is_caught = _beyond_chance(_votes(ratios, _MARKS_BELOW), sources, _MARKS_INNOCENT)
    is_suspicious = below or _beyond_chance(_votes(ratios, 1.0), sources, 0.5)
    return FAILED if is_caught else SUSPECTED if is_suspicious else PASSED, float(below), len(ratios)


def middle_ratio(distances: Sequence[tuple[float, float]]) -> float:
    """The middle return's distance without marks by that with them, the upper of two.

    >>> middle_ratio([(10.0, 50.0), (12.0, 48.0)]), middle_ratio([(0.0, 0.0)])
    (0.25, 1.0)
    """
    ratios = sorted(unshown / shown if shown else float("inf") if unshown else 1.0 for unshown, shown in distances)
    return ratios[len(ratios) // 2]


def _votes(ratios: Iterable[tuple[Hashable, float]], limit: float) -> int:
    by_source: dict[Hashable, list[bool]] = defaultdict(list)
    for source, ratio in ratios:
        by_source[source].append(ratio < limit)
    return sum(2 * sum(below) > len(below) for below in by_source.values())


def _beyond_chance(count: int, size: int, chance: float, level: float = LEVEL) -> bool:
    return count > 0 and bool(special.bdtrc(count - 1, size, chance) <= level)


def _median_above(name: str) -> Callable[[_Cases], _Verdict]:
    return lambda cases: _above([row.value(name) for _, row in cases.get(name, ())], _LIMITS[name])


def _above(values: Sequence[float], limit: float) -> _Verdict:
    middle = float(median(values)) if values else None
    if middle is None or len(values) < _CASES:
        return NOT_JUDGED, middle, len(values)
    return FAILED if middle > limit else PASSED, middle, len(values)


def _known_cases(cases: _Cases) -> _Verdict:
    judged = cases.get("known_middle", ())
    both = [(chain, row.value("known_middle"), row.value("known_fine") or 0) for chain, row in judged]
    certain = [chain.source.id for chain, middle, fine in both if min(middle, fine) > _CERTAIN]
    is_caught = len(certain) >= _LIMITS["known_cases"] and len(set(certain)) > 1
    outcome = FAILED if is_caught else PASSED if len(judged) >= _CASES else NOT_JUDGED
    return outcome, float(len(certain)) if judged else None, len(judged)


def _known_parts(cases: _Cases) -> _Verdict:
    """The programs and rounds in which it knew more than can be guessed.

    A part counts by its sources, each with its median case: what a hat covers may
    be easy to guess every time.
    """
    judged = cases.get("known_middle", ())
    parts: dict[tuple[str, Any], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for chain, row in judged:
        for part in (("program", chain.program.id), ("round", row.round)):
            parts[part][chain.source.id].append(row.value("known_middle"))
    limit = _LIMITS["known_middle"]
    votes = [[median(values) > limit for values in sources.values()] for sources in parts.values()]
    level = _PART_LEVEL / max(len(votes), 1)
    large = [part for part in votes if _GUESSED ** len(part) <= level]
    if not large:
        return NOT_JUDGED, None, len(judged)
    known_parts = sum(_beyond_chance(sum(part), len(part), _GUESSED, level) for part in large)
    return FAILED if known_parts else PASSED, float(known_parts), len(judged)


def _same_change(cases: _Cases) -> _Verdict:
    by_source: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for chain, row in cases.get("change_map", ()):
        change = read_change_map(json.loads(row.value("change_map"))["map"])
        by_source[chain.source.id].setdefault(chain.program.id, change)
    cosines: list[float] = []
    for maps in by_source.values():
        vectors = np.stack(list(maps.values()))
        cosines += (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)].tolist()
    return _above(cosines, _LIMITS["same_change"])


def _colours(cases: _Cases) -> _Verdict:
    """Fails if half of the colours, at least two, are mostly missing.

    Colours are judged one by one: a red disc for everything is sometimes right.
    """
    judged = cases.get("colour_share", ())
    by_colour: dict[str, list[float]] = defaultdict(list)
    for chain, row in judged:
        by_colour[str(colour_asked(chain.program.cycle[0]))].append(row.value("colour_share"))
    medians = [median(shares) for shares in by_colour.values() if len(shares) >= _COLOUR_CASES]
    value = float(median(medians)) if medians else None
    if len(medians) < 2 or len(judged) < _CASES:
        return NOT_JUDGED, value, len(judged)
    missing = sum(share < _LIMITS["colour_share"] for share in medians)
    return FAILED if missing * 2 >= len(medians) else PASSED, value, len(judged)


# By name: the reason for listing an editor apart, and the check.
CHECKS: dict[str, tuple[str, Callable[[_Cases], _Verdict]]] = {
    MARKS: ("it remembers the original: confirmed by the recall audit", _marks),
    "known_fine": ("it knows the fine detail that its edits covered", _median_above("known_fine")),
    "known_middle": ("it knows the shapes that its edits covered", _median_above("known_middle")),
    "known_cases": ("it knew several times what its edits covered", _known_cases),
    "known_parts": ("it knew, in some programs or from a later round on, what its edits covered", _known_parts),
    "same_change": ("it makes the same change whatever is asked", _same_change),
    "colour_share": ("its edits do not have the colours that are asked for", _colours),
    "shines_through": ("the original shines through its edits", _median_above("shines_through")),
    "written": ("it writes what is asked for instead of showing it", _median_above("written")),
}
COUNTS = (MARKS, "known_cases", "known_parts")  # values that are no shares
