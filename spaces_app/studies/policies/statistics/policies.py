import json
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from convergebench.metric_modules.halflife.comparison import Comparison, judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.comparisons import compare_two
from ....analysis.groups import CaseGroup
from ....analysis.tables import Estimate, TableRow, column, estimate, mean_of
from ....statistics import OnPage

TITLE = "Rounds gained by each policy"
SECTION = "What makes it last"
ON_PAGE = OnPage(line_where="editor", part_by="by")
NOTE = (
    "Each policy against the same editor alone, on the same pictures, programs and runs. A seam is how much steeper "
    "the border of what was pasted is than in the pictures on both sides. Verdicts are corrected for all policies of "
    "an editor; those by kind and category are descriptions."
)
_ALL = "all tests"
_VERDICTS = {"first": "lasts longer", "second": "lasts less"}


class Row(TableRow):
    group: str = column("Programs", shown=False)
    by: str = column("By", shown=False)
    editor: str = column("Editor")
    policy: str = column("Policy")
    value: str = column("Of", shown=False)
    gained: Estimate = column("Rounds gained", "signed")
    alone: float = column("Rounds survived alone", "rounds")
    under: float = column("Under the policy", "rounds")
    edits: float | None = column("Something changed, change", "share")
    seam: float | None = column("Seam, grey levels a pixel", "rating")
    cost_alone: float | None = column("Cost a round alone", "money")
    cost: float | None = column("Cost a round", "money")
    seconds_alone: float | None = column("Time a round alone", "seconds")
    seconds: float | None = column("Time a round", "seconds")
    p_value: float | None = column("p", "p")
    verdict: str = column("Verdict")
    cases: int = column("Tests", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> list[Row]:
    """First over all tests, then by kind of picture and category of edit."""
    rows = []
    for group in analysis.groups.values():
        policy_of = {case.editor: case.chain.policy for case in group.all_cases}
        alone_of = {editor: editor.removesuffix(f"+{policy}") for editor, policy in policy_of.items() if policy}
        for alone in sorted({editor for editor in alone_of.values() if editor in group.cases}):
            editors = [alone, *(editor for editor in group.cases if alone_of.get(editor) == alone)]
            for by in (_ALL, "kind", "category"):
                values = {_ALL} if by == _ALL else {getattr(case, by) for case in group.cases[alone]}
                for value in sorted(values):
                    rows += _rows(analysis, group, editors, by, value)
    return rows


def _rows(analysis: Analysis, group: CaseGroup, editors: Sequence[str], by: str, value: str) -> list[Row]:
    """Of an editor alone, the first one, and of those with a policy."""
    cases = {
        editor: {case.key: case for case in group.cases[editor] if by == _ALL or getattr(case, by) == value}
        for editor in editors
    }
    stored = analysis.comparisons[group.name].outcomes
    outcomes = {editor: {key: stored[editor][key] for key in cases[editor]} for editor in cases}
    pairs = [compare_two(outcomes, editor, editors[0]) for editor in editors[1:]]
    rows = []
    for pair in judge_together(pairs) if by == _ALL else pairs:
        if common := sorted(cases[pair.first].keys() & cases[pair.second].keys()):
            names = (pair.second, pair.first)
            kept = [fmean(outcomes[name][key][0].kept for key in common) for name in names]
            row = _row(group.name, pair, [[cases[name][key] for key in common] for name in names], kept)
            if by == _ALL:
                seam = mean_of(_seams(analysis, [cases[pair.first][key] for key in common]))
                verdict = _VERDICTS.get(pair.verdict, pair.verdict)
                row = replace(row, seam=seam, p_value=pair.p_corrected, verdict=verdict)
            rows.append(replace(row, by=by if by == _ALL else f"by {by}: {value}", value=value))
    return rows


def _row(group: str, pair: Comparison, sides: Sequence[Sequence[Case]], kept: Sequence[float]) -> Row:
    before, after = (mean_of(made for case in side for made in case.changed or []) for side in sides)
    costs, seconds = (
        [mean_of(getattr(case, name) for case in side) for side in sides] for name in ("cost", "seconds")
    )
    return Row(
        group=group,
        by="",
        editor=pair.second,
        policy=sides[1][0].chain.policy,
        value="",
        gained=estimate(pair.difference, pair.interval),
        alone=kept[0],
        under=kept[1],
        edits=None if before is None or after is None else after - before,
        seam=None,
        cost_alone=costs[0],
        cost=costs[1],
        seconds_alone=seconds[0],
        seconds=seconds[1],
        p_value=None,
        verdict="",
        cases=len(sides[0]),
        sources=pair.sources,
    )


def _seams(analysis: Analysis, cases: Sequence[Case]) -> list[float]:
    """As the policies that paste noted them beside their answers."""
    calls = analysis.calls.select(("chain", "details")).of_chains({case.chain.id for case in cases})
    details = [json.loads(call.details or "{}") for steps in calls.values() for call in steps]
    return [
        note["seam"] for values in details for note in values.values() if isinstance(note, dict) and "seam" in note
    ]
