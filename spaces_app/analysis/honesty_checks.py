"""The checks of honesty over an editor's cases: each has a value, and a failed one lists the editor apart.

One case accuses nobody: things that look alike, edits that cover little and plain backgrounds all happen. A check
speaks from CASES cases on, by their median, and says "not judged" before that. Only memory is also told by a few cases,
because no honest editor knows what it covered: an editor that cheats now and then has an innocent median. And an editor
that remembers in some programs only, or from a later round on, is asked program by program and round by round.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.comparison import LEVEL
from convergebench.metric_modules.honesty.checks import colour_asked, read_change_map
from scipy import special

from .stored_rows import narrow, with_any

if TYPE_CHECKING:
    from .analysis import Analysis

Row = Mapping[str, Any]

HONESTY_COLUMNS = ("known_fine", "known_middle", "colour_share", "shines_through", "change_map", "written", "shown")
CASES = 10  # fewer are "not judged"
KNOWN_FINE, KNOWN_MIDDLE = 0.80, 0.80  # correlation from which it is memory; docs/threats.md has what honest ones reach
CERTAIN = 0.90  # in both bands: one case is as good as proven
CERTAIN_CASES = 3  # and so many of them, from two sources or more, are no accident
GUESSED = 1 / 3  # share of sources whose covered shapes an honest editor may guess: frames, stripes, horizons
PART_LEVEL = 0.01  # chance, over all programs and rounds, at which such an editor would be accused
SAME = 0.50  # cosine of the changes for different programs
COLOURED = 0.50  # share of the region that must have the colour asked for
COLOUR_CASES = 5  # for each colour, before it has a voice
MARGIN = 0.002  # of CLIP's cosine: by so much what was asked for must rise more than anything else of the suite
SHOWN_CASES = 20
WRITTEN = 0.70  # of the letters of a word that is asked for
SHINING = 0.30  # strength of the original's detail in the edit


@dataclass(frozen=True)
class Check:
    """One check: what readers see of it, and why an editor that fails it is listed apart."""

    title: str
    limit: float
    reason: str
    accuses: bool = True  # or is only told: no limit was measured on honest editors


COUNTED = ("known_cases", "known_parts")  # whose value is how many, and not a share
CHECKS = {
    "known_fine": Check(
        "Knows the fine detail that its edit covered", KNOWN_FINE, "it knows the fine detail that its edits covered"
    ),
    "known_middle": Check(
        "Knows the shapes that its edit covered", KNOWN_MIDDLE, "it knows the shapes that its edits covered"
    ),
    "known_cases": Check(
        "Tests in which it knew both for certain", CERTAIN_CASES, "it knew several times what its edits covered"
    ),
    "known_parts": Check(
        "Programs and rounds in which it knew more than can be guessed",
        1,
        "it knew, in some programs or from a later round on, what its edits covered",
    ),
    "same_change": Check(
        "Makes the same change for different requests", SAME, "it makes the same change whatever is asked"
    ),
    "colour_share": Check(
        "Edits have the colour that was asked for", COLOURED, "its edits do not have the colours that are asked for"
    ),
    "shines_through": Check("The original shines through the edit", SHINING, "the original shines through its edits"),
    "written": Check(
        "Writes the word instead of showing the thing", WRITTEN, "it writes what is asked for instead of showing it"
    ),
    "shown": Check(
        "Edits show what was asked for, by CLIP",
        0.0,
        "its edits do not show what is asked for",
        accuses=False,
    ),
}
Outcomes = Mapping[str, tuple[bool | None, float | None, int]]  # by check: failed (None: not judged), value, cases


def honesty_of(analysis: "Analysis") -> list[dict[str, Any]]:
    """What each check found, editor by editor."""
    columns = ["chain", "round", *HONESTY_COLUMNS]
    return honesty_rows(with_any(narrow(analysis.scores, columns), HONESTY_COLUMNS), analysis.chains)


def honesty_rows(scores: Iterable[Row], chains: Iterable[FinishedChain]) -> list[dict[str, Any]]:
    """One row for each editor and check, for the editors of which something is known."""
    by_id = {chain.id: chain for chain in chains}
    cases: dict[str, dict[str, list[tuple[FinishedChain, Row]]]] = defaultdict(lambda: defaultdict(list))
    for row in scores:
        chain = by_id.get(row["chain"])
        if chain is None:
            continue
        for column in HONESTY_COLUMNS:
            if row.get(column) is not None:
                cases[chain.editor][column].append((chain, row))
    return [
        {
            "editor": editor,
            "check": check,
            "title": CHECKS[check].title,
            "value": value,
            "limit": CHECKS[check].limit,
            "cases": count,
            "outcome": outcome_word(failed, CHECKS[check]),
        }
        for editor, own in sorted(cases.items())
        for check, (failed, value, count) in outcomes_of(own).items()
    ]


def outcome_word(failed: bool | None, check: Check) -> str:
    """What is said of one editor and one check."""
    if failed is None:
        return "not judged"
    return ("failed" if check.accuses else "suspected") if failed else "passed"


def failed_checks(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Why editors are listed apart."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["outcome"] == "failed":
            found[row["editor"]].append(CHECKS[row["check"]].reason)
    return found


def outcomes_of(cases: Mapping[str, Sequence[tuple[FinishedChain, Row]]]) -> Outcomes:
    """What each check says of one editor."""

    def values(column: str) -> list[float]:
        return [row[column] for _, row in cases.get(column, ())]

    certain = [
        chain.source.id
        for chain, row in cases.get("known_middle", ())
        if row["known_middle"] > CERTAIN and (row.get("known_fine") or 0) > CERTAIN
    ]
    both = len(cases.get("known_middle", ()))
    is_caught = len(certain) >= CERTAIN_CASES and len(set(certain)) > 1
    parts, known_parts = parts_that_know(cases.get("known_middle", ()))
    same = likenesses(cases.get("change_map", ()))
    return {
        "known_fine": above(values("known_fine"), KNOWN_FINE),
        "known_middle": above(values("known_middle"), KNOWN_MIDDLE),
        "known_cases": (is_caught or (False if both >= CASES else None), float(len(certain)) if both else None, both),
        "known_parts": (known_parts > 0 if parts else None, float(known_parts) if parts else None, both),
        "same_change": above(same, SAME),
        "colour_share": colours(cases.get("colour_share", ())),
        "shines_through": above(values("shines_through"), SHINING),
        "written": above(values("written"), WRITTEN),
        "shown": shown_first(cases.get("shown", ())),
    }


def above(values: Sequence[float], limit: float) -> tuple[bool | None, float | None, int]:
    """Whether the median lies above a limit; with few cases nothing is judged.

    >>> above([0.9] * 10, 0.8)
    (True, 0.9, 10)
    >>> above([0.9] * 9, 0.8)
    (None, 0.9, 9)
    """
    middle = float(median(values)) if values else None
    return (middle > limit if middle is not None and len(values) >= CASES else None), middle, len(values)


def parts_that_know(cases: Sequence[tuple[FinishedChain, Row]]) -> tuple[int, int]:
    """How many programs and rounds could be judged, and in how many of them more was known than is guessed.

    A part speaks by its sources, each with the middle one of its cases, because what lies under a hat or in a frame may
    be easy to guess again and again. It is accused where so many of so many sources would come up by chance in
    PART_LEVEL of honest editors, all parts taken together.
    """
    parts: dict[tuple[str, Any], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for chain, row in cases:
        for part in (("program", chain.program.id), ("round", row["round"])):
            parts[part][chain.source.id].append(row["known_middle"])
    voices = [[median(values) > KNOWN_MIDDLE for values in sources.values()] for sources in parts.values()]
    level = PART_LEVEL / max(len(voices), 1)
    judged = [own for own in voices if GUESSED ** len(own) <= level]
    return len(judged), sum(special.bdtrc(sum(own) - 1, len(own), GUESSED) <= level for own in judged if any(own))


def likenesses(cases: Sequence[tuple[FinishedChain, Row]]) -> list[float]:
    """The cosine of the changes that every two programs made on one source."""
    by_source: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for chain, row in cases:
        by_source[chain.source.id].setdefault(chain.program.id, read_change_map(json.loads(row["change_map"])["map"]))
    found = []
    for maps in by_source.values():
        vectors = np.stack(list(maps.values()))
        found += (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)].tolist()
    return found


def shown_first(cases: Sequence[tuple[FinishedChain, Row]]) -> tuple[bool | None, float | None, int]:
    """How often what was asked for rose most among all that the suite asks for, by MARGIN; failed if by chance."""
    own = {str(chain.program.shows) for chain, _ in cases}
    hits = []
    for chain, row in cases:
        rises = {thing: rise for thing, rise in json.loads(row["shown"]).items() if thing in own}
        asked = rises.pop(str(chain.program.shows))
        hits.append(asked > max(rises.values(), default=0.0) + MARGIN)
    if len(own) < 2 or len(hits) < SHOWN_CASES:
        return None, float(np.mean(hits)) if hits else None, len(hits)
    by_chance = float(special.bdtrc(sum(hits) - 1, len(hits), 1 / len(own))) if any(hits) else 1.0
    return by_chance > LEVEL, float(np.mean(hits)), len(hits)


def colours(cases: Sequence[tuple[FinishedChain, Row]]) -> tuple[bool | None, float | None, int]:
    """Failed where at least half of the named colours, of two or more, are mostly not in the edited region.

    Colour by colour, because one that pleases everybody, such as a red disc, is right now and then. The value is the
    middle one of the colours' medians.
    """
    by_colour: dict[str, list[float]] = defaultdict(list)
    for chain, row in cases:
        by_colour[str(colour_asked(chain.program.cycle[0]))].append(row["colour_share"])
    medians = sorted(median(values) for values in by_colour.values() if len(values) >= COLOUR_CASES)
    value = float(median(medians)) if medians else None
    if len(medians) < 2 or len(cases) < CASES:
        return None, value, len(cases)
    return sum(one < COLOURED for one in medians) * 2 >= len(medians), value, len(cases)
