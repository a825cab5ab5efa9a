"""A program against one that asks for the same in another way."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from convergebench.metric_modules.halflife.comparison import compare, judge_together

from ....analysis.analysis import Analysis
from ....analysis.comparisons import verdict_name
from ....analysis.groups import CaseGroup
from ....analysis.tables import Estimate, TableRow, column, estimate, mean_of
from ....statistics import OnPage

TITLE = "Two ways to ask for the same thing"
SECTION = TITLE
ON_PAGE = OnPage(part_by="ways", line_where="role")
NOTE = (
    "Nested: of two edits the last one is undone first, as an undo button does. Crossed: the first one is undone "
    "while the second is still there. An undo of a language model was written by one that saw only the "
    "instruction for the change (`convergebench undos`). Denoised: a copy is asked for with an instruction to denoise. "
    "Compared on the same pictures, edits and runs."
)
_PLAIN, _DENOISED = "replicate", "replicate-denoise"
_WRITTEN = "~"  # between the suite's program and who wrote its undo
_Names = tuple[str, str]
_Kept = dict[tuple[str, str, int], float]  # by source, pair of programs, and run


class Row(TableRow):
    ways: str = column("Ways", shown=False)
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    first: float = column("Rounds survived, first way", "rounds")
    second: float = column("Rounds survived, second way", "rounds")
    difference: Estimate = column("Difference", "change")
    first_undone: float | None = column("Undone, first way", "share")
    second_undone: float | None = column("Undone, second way", "share")
    p_value: float | None = column("p", "p")
    verdict: str = column("Lasts longer")
    cases: int = column("Common cases", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    programs = {case.program for group in analysis.groups.values() for case in group.all_cases}
    for names, pairs in _pairs_by_ways(programs).items():
        for group in analysis.groups.values():
            yield from _group_rows(analysis, group, names, pairs)


def _pairs_by_ways(programs: Collection[str]) -> Mapping[_Names, Sequence[tuple[str, str]]]:
    """Pairs of programs, by the names of their ways.

    >>> dict(_pairs_by_ways(["a-nested", "a-crossed", "hat", "hat~gpt", "scarf~gpt"]))
    {('nested', 'crossed'): [('a-nested', 'a-crossed')], ('gpt', "the suite's"): [('hat~gpt', 'hat')]}
    """
    pairs: dict[_Names, list[tuple[str, str]]] = defaultdict(list)
    if {_PLAIN, _DENOISED} <= {*programs}:
        pairs["denoised", "plain"].append((_DENOISED, _PLAIN))
    for program in sorted(programs):
        suites_own, _, writer = program.partition(_WRITTEN)
        crossed = f"{program.removesuffix('-nested')}-crossed"
        if program.endswith("-nested") and crossed in programs:
            pairs["nested", "crossed"].append((program, crossed))
        if writer and suites_own in programs:
            pairs[writer, "the suite's"].append((program, suites_own))
    return pairs


def _group_rows(
    analysis: Analysis, group: CaseGroup, names: _Names, pairs: Sequence[tuple[str, str]]
) -> Iterator[Row]:
    sides = {editor: _both_sides(analysis, group, editor, pairs) for editor in group.cases}
    common = {editor: kept[0].keys() & kept[1].keys() for editor, (kept, _) in sides.items()}
    editors = [editor for editor, keys in common.items() if keys]
    compared = [compare(names, *sides[editor][0], {key: key[0] for key in common[editor]}) for editor in editors]
    for editor, pair in zip(editors, judge_together(compared), strict=True):
        kept, undone = sides[editor]
        first, second = (sum(side[key] for key in common[editor]) / len(common[editor]) for side in kept)
        yield Row(
            ways=" against ".join(names),
            editor=editor,
            role=group.roles[editor],
            first=first,
            second=second,
            difference=estimate(pair.difference, pair.interval),
            first_undone=mean_of(undone[0]),
            second_undone=mean_of(undone[1]),
            p_value=pair.p_value,
            verdict=verdict_name(pair),
            cases=pair.cases,
            sources=pair.sources,
        )


def _both_sides(
    analysis: Analysis, group: CaseGroup, editor: str, pairs: Sequence[tuple[str, str]]
) -> tuple[tuple[_Kept, _Kept], tuple[list[bool], list[bool]]]:
    """What was kept by each way, and which undos took their edit back."""
    place_of = {program: (pair[0], side) for pair in pairs for side, program in enumerate(pair)}
    kept: tuple[_Kept, _Kept] = ({}, {})
    undone: tuple[list[bool], list[bool]] = ([], [])
    for case, outcome in analysis.with_outcomes(group, editor):
        if case.program in place_of and not outcome.failed:
            pair, side = place_of[case.program]
            kept[side][case.source, pair, case.chain.run] = float(outcome.kept)
            undone[side].extend(value for value in case.undone or [] if value is not None)
    return kept, undone
