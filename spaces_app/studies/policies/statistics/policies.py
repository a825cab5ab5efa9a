import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.comparisons import compare_two
from ....analysis.groups import CaseGroup
from ....analysis.tables import Estimate, TableRow, column, estimate
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
            under = [editor for editor in group.cases if alone_of.get(editor) == alone]
            for by in (_ALL, "kind", "category"):
                values = {_ALL} if by == _ALL else {getattr(case, by) for case in group.cases[alone]}
                for value in sorted(values):
                    rows += _rows(analysis, group, alone, under, policy_of, by, value)
    return rows


def _rows(
    analysis: Analysis,
    group: CaseGroup,
    alone: str,
    under: Sequence[str],
    policy_of: Mapping[str, str],
    by: str,
    value: str,
) -> list[Row]:
    cases = {
        editor: {case.key: case for case in group.cases[editor] if by == _ALL or getattr(case, by) == value}
        for editor in (alone, *under)
    }
    stored = analysis.comparisons[group.name].outcomes
    outcomes = {editor: {key: stored[editor][key] for key in cases[editor]} for editor in cases}
    pairs = [compare_two(outcomes, editor, alone) for editor in under]
    judged = judge_together(pairs) if by == _ALL else pairs
    rows = []
    for editor, pair in zip(under, judged, strict=True):
        common = sorted(cases[editor].keys() & cases[alone].keys())
        if not common:
            continue
        sides = [[cases[name][key] for key in common] for name in (alone, editor)]
        kept = [mean(outcomes[name][key][0].kept for key in common) for name in (alone, editor)]
        before, after = (_mean(made for case in side for made in case.changed or []) for side in sides)
        rows.append(
            Row(
                group=group.name,
                by=f"by {by}: {value}" if by != _ALL else _ALL,
                editor=alone,
                policy=policy_of[editor],
                value=value,
                gained=estimate(pair.difference, pair.interval),
                alone=kept[0],
                under=kept[1],
                edits=None if before is None or after is None else after - before,
                seam=_mean(_seams(analysis, sides[1])) if by == _ALL else None,
                cost_alone=_mean(case.cost for case in sides[0]),
                cost=_mean(case.cost for case in sides[1]),
                seconds_alone=_mean(case.seconds for case in sides[0]),
                seconds=_mean(case.seconds for case in sides[1]),
                p_value=pair.p_corrected if by == _ALL else None,
                verdict=_VERDICTS.get(pair.verdict, pair.verdict) if by == _ALL else "",
                cases=len(common),
                sources=pair.sources,
            )
        )
    return rows


def _mean(values: Iterable[float | None]) -> float | None:
    measured = [float(value) for value in values if value is not None]
    return mean(measured) if measured else None


def _seams(analysis: Analysis, cases: Sequence[Case]) -> list[float]:
    """As the policies that paste noted them beside their answers."""
    calls = analysis.calls.select(("chain", "details")).of_chains({case.chain.id for case in cases})
    details = [json.loads(call.details or "{}") for steps in calls.values() for call in steps]
    return [
        note["seam"] for values in details for note in values.values() if isinstance(note, dict) and "seam" in note
    ]
