import json
from collections.abc import Iterator, Sequence
from statistics import fmean

from convergebench.metric_modules.halflife.comparison import judge_together

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.comparisons import compare_two, outcomes_by_case
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
    rows: list[Row] = []
    for group in analysis.groups.values():
        policy_of = {case.editor: case.chain.policy for case in group.all_cases}
        alone_of = {editor: editor.removesuffix(f"+{policy}") for editor, policy in policy_of.items() if policy}
        for alone in sorted({editor for editor in alone_of.values() if editor in group.cases}):
            editors = [alone, *(editor for editor in group.cases if alone_of.get(editor) == alone)]
            rows += _rows(analysis, group, editors, "", _ALL)
            for by in ("kind", "category"):
                for value in sorted({getattr(case, by) for case in group.cases[alone]}):
                    rows += _rows(analysis, group, editors, by, value)
    return rows


def _rows(analysis: Analysis, group: CaseGroup, editors: Sequence[str], by: str, value: str) -> Iterator[Row]:
    """Of an editor alone, the first one, and of those with a policy; `by` is empty for all tests."""
    cases = {
        editor: {case.key: case for case in group.cases[editor] if not by or getattr(case, by) == value}
        for editor in editors
    }
    stored = outcomes_by_case(group, analysis.outcomes[group.name])
    outcomes = {editor: {key: stored[editor][key] for key in cases[editor]} for editor in cases}
    pairs = [compare_two(outcomes, editor, editors[0]) for editor in editors[1:]]
    for pair in pairs if by else judge_together(pairs):
        policy, alone = cases[pair.first], cases[pair.second]
        if common := sorted(policy.keys() & alone.keys()):
            before, after = ([side[key] for key in common] for side in (alone, policy))
            yield Row(
                group=group.name,
                by=f"by {by}: {value}" if by else _ALL,
                editor=pair.second,
                policy=after[0].chain.policy,
                value=value,
                gained=estimate(pair.difference, pair.interval),
                alone=fmean(outcomes[pair.second][key][0].kept for key in common),
                under=fmean(outcomes[pair.first][key][0].kept for key in common),
                seam=None if by else mean_of(_seams(analysis, after)),
                **_changes(before, after),
                p_value=None if by else pair.p_corrected,
                verdict="" if by else _VERDICTS.get(pair.verdict, pair.verdict),
                cases=len(common),
                sources=pair.sources,
            )


def _changes(before: Sequence[Case], after: Sequence[Case]) -> dict[str, float | None]:
    """What the same cases cost without and with a policy, and how many more edits were made."""
    made = [mean_of(made for case in side for made in case.changed or []) for side in (before, after)]
    return {
        "edits": None if None in made else made[1] - made[0],  # type: ignore[operator]
        "cost_alone": mean_of(case.cost for case in before),
        "cost": mean_of(case.cost for case in after),
        "seconds_alone": mean_of(case.seconds for case in before),
        "seconds": mean_of(case.seconds for case in after),
    }


def _seams(analysis: Analysis, cases: Sequence[Case]) -> list[float]:
    """As the policies that paste noted them beside their answers."""
    calls = analysis.calls.select(("chain", "details")).of_chains({case.chain.id for case in cases})
    details = [json.loads(call.details or "{}") for steps in calls.values() for call in steps]
    return [
        note["seam"]
        for values in details
        for note in values.values()
        if isinstance(note, dict) and "seam" in note
    ]
