"""Groups of cases: their checks and outcomes, and what became of every chain."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from convergebench.metric_modules.halflife.causes import CAUSES, FAILED, Limits
from convergebench.metric_modules.halflife.outcomes import Outcome, convergence, convergence_name, curve_outcome

from .cases import COLUMNS, MEANINGS, QUALITIES, RETAINED, SERIES, Case, Values
from .program_groups import NO_GROUP, program_groups

if TYPE_CHECKING:
    from .analysis import Analysis

CHECKS = ("edits", *QUALITIES, "part", *MEANINGS)
CHECK_TITLES = {
    "edits": "whether something changed and was undone",
    "part": "whether an area was lost",
    **{name: COLUMNS[name].title for name in QUALITIES},
    **{name: f"{COLUMNS[name].aspect} by {COLUMNS[name].title}" for name in MEANINGS},
}
_COVERED = 0.9  # of an editor's returns; a metric that reaches fewer is not checked
HALF = 0.5
# Under test, listed apart for a reason, or an end of the scale.
ROLES = {"editor": "editors", "apart": "editors listed apart", "baseline": "baselines"}

_CASES = ("cases kept", "cases lost", "cases missing")
LEFT_OUT = "left out: "
AUDITED = LEFT_OUT + "under recall audit"
_LOOK_ALIKE = LEFT_OUT + "a reference that unrelated pictures resemble"
_NO_QUALITY = LEFT_OUT + "quality was not checked: no weights for damage, and no other pictures for floors"
_UNSCORED = LEFT_OUT + "count twice or have no scores"
UNKNOWN = LEFT_OUT + "a program of a study that is not installed"

_Reasons = Mapping[str, Sequence[str]]  # by editor
OutcomesByEditor = Mapping[str, Sequence[Outcome]]  # in the order of the editor's cases


@dataclass(frozen=True)
class CaseGroup:
    name: str
    cases: dict[str, list[Case]]
    checks: tuple[str, ...]  # what is checked in the cases of all ranked editors alike
    partial: list[str]  # checks left out though some editors have them
    roles: dict[str, str]  # of each editor, a title of ROLES
    lacking: dict[str, tuple[str, ...]]  # of each editor, checks without scores
    apart: dict[str, tuple[str, ...]]  # editor -> why

    def headline_name(self, checks: Sequence[str]) -> str:
        name = convergence_name([check for check in checks if check != "edits"])
        if "edits" in checks or not program_groups()[self.name].asks_edits:
            return name
        return name.replace("(", "(no edit check, ") if "(" in name else f"{name} (no edit check)"

    def checks_of(self, editor: str) -> tuple[str, ...]:
        """Fewer than for others if its scores lack a metric."""
        return tuple(check for check in self.checks if check not in self.lacking[editor])

    @property
    def _checks_quality(self) -> bool:
        """Without it an editor that returns noise would keep every round; one that never answered needs none."""
        return not {*QUALITIES, "part"}.isdisjoint(self.checks) or not any(map(_measured_rounds, self.all_cases))

    @property
    def all_cases(self) -> list[Case]:
        return [case for cases in self.cases.values() for case in cases]

    @property
    def rounds(self) -> int:
        return max(case.rounds for case in self.all_cases)


def group_cases(
    cases: Iterable[Case],
    excluded: Container[str],
    apart: _Reasons,
    roles: Mapping[str, str],
    counted: bool = True,
) -> dict[str, CaseGroup]:
    """By name, those that a headline counts, or the others; `roles` are editor, baseline or transport."""
    by_group: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        if "audit" not in case.chain.chain.settings and case.source not in excluded:
            by_group[case.group][case.editor].append(case)
    groups = [
        _make_group(name, dict(sorted(by_group[name].items())), apart, roles)
        for name, group in program_groups().items()
        if group.counted == counted and name in by_group
    ]
    return {group.name: group for group in groups if group._checks_quality or not counted}


def merge_reasons(*findings: _Reasons) -> dict[str, tuple[str, ...]]:
    """An editor's reasons in the order of the findings, none twice.

    >>> merge_reasons({"a": ["no"]}, {"a": ["no", "never"]})
    {'a': ('no', 'never')}
    """
    merged: dict[str, list[str]] = defaultdict(list)
    for editor, reasons in [item for finding in findings for item in finding.items()]:
        merged[editor] += reasons
    return {editor: tuple(dict.fromkeys(reasons)) for editor, reasons in merged.items()}


def _make_group(name: str, cases: dict[str, list[Case]], apart: _Reasons, roles: Mapping[str, str]) -> CaseGroup:
    """A check counts if half of the editors have it; who lacks it is apart."""
    shares = {editor: coverage(editor_cases) for editor, editor_cases in cases.items()}
    having = {check: {editor for editor in cases if shares[editor][check] >= _COVERED} for check in CHECKS}
    # An editor that never answered lacks no metric: it has lost everything.
    measured = [editor for editor in cases if any(map(_measured_rounds, cases[editor]))] or list(cases)
    voters = {editor for editor in measured if role_in_tables(editor, roles, apart) == "editor"} or {*measured}
    checks = tuple(check for check in CHECKS if len(having[check] & voters) * 2 >= len(voters))
    partial = [check for check in CHECKS if having[check] & voters and check not in checks]
    lacking = dict.fromkeys(cases, ()) | {
        editor: tuple(check for check in checks if editor not in having[check]) for editor in measured
    }
    unchecked = {
        editor: [
            f"not checked, because its scores lack it: {', '.join(CHECK_TITLES[check] for check in missing)}"
        ]
        for editor, missing in lacking.items()
        if missing
    }
    reasons = merge_reasons(apart, unchecked)
    table_roles = {editor: ROLES[role_in_tables(editor, roles, reasons)] for editor in cases}
    return CaseGroup(name, cases, checks, partial, table_roles, lacking, reasons)


def role_in_tables(editor: str, roles: Mapping[str, str], apart: _Reasons) -> str:
    if roles.get(editor, "editor") != "editor":
        return "baseline"
    return "apart" if apart.get(editor) else "editor"


def coverage(cases: Sequence[Case]) -> dict[str, float]:
    returns = [(case, _measured_rounds(case)) for case in cases]
    size = max(sum(len(places) for _, places in returns), 1)

    def share(name: str) -> float:
        lists = ((case.values(name), places) for case, places in returns)
        return sum(values[place] is not None for values, places in lists for place in places) / size

    shares = {name: share(f"retained_{name}") for name in RETAINED} | {"part": share("damage")}
    with_edits = [(case.changed, places) for case, places in returns if case.changed is not None and places]
    # Edits that cannot be judged from the pictures are not unscored: one judgement, or one reason for
    # having none, shows that they were examined.
    judged = any(changed[place] is not None for changed, places in with_edits for place in places)
    judged = judged or any(case.not_judged for case in cases)
    return shares | {"edits": float(judged or not with_edits)}


def _measured_rounds(case: Case) -> list[int]:
    """The rounds, from 0, whose return was scored at all."""
    columns = zip(*(case.values(name) for name in ("psnr", "rmse", "ssim")), strict=True)
    return [place for place, values in enumerate(columns) if any(value is not None for value in values)]


def outcome_of_case(
    case: Case, checks: Sequence[str], threshold: float = HALF, framing: float | None = None, undecided: str = ""
) -> Outcome:
    """`framing` is the largest loss that does not end the case; `undecided` what rounds near a limit count as."""
    values = {
        cause.name: SERIES[column](case, checks) if column in SERIES else [case.values(column)]
        for cause in CAUSES.values()
        if (column := cause.decided_by)
    }
    rounds, limits = range(1, case.rounds + 1), Limits(threshold, framing, undecided)
    return _failed_if_unmeasured(
        convergence(rounds, values, case.end, case.end_round, limits, case.not_judged), case
    )


def outcome_of_curve(case: Case, values: Values, threshold: float = HALF) -> Outcome:
    outcome = curve_outcome(values, range(1, case.rounds + 1), threshold, end=case.end, end_round=case.end_round)
    return _failed_if_unmeasured(outcome, case)


def _failed_if_unmeasured(outcome: Outcome, case: Case) -> Outcome:
    return replace(outcome, failed=True) if not outcome.lost and outcome.kept < case.rounds else outcome


def count_failures(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """A technical failure is a loss in its round: failing never helps."""
    return [
        replace(outcome, failed=False, lost_at=max(case.end_round or 1, outcome.kept + 1), cause=FAILED)
        if outcome.failed and case.end == "failed"
        else outcome
        for case, outcome in zip(cases, outcomes, strict=True)
    ]


def is_missing_case(outcome: Outcome) -> bool:
    """Whether a call failed, which is a loss, or a return has no scores."""
    return outcome.failed or outcome.cause == FAILED


def places() -> tuple[str, ...]:
    """All that can become of a chain, in the order in which it is listed."""
    of_studies = (place for group in program_groups().values() for place in group.outcomes)
    return (*_CASES, *of_studies, AUDITED, _LOOK_ALIKE, _NO_QUALITY, _UNSCORED, UNKNOWN)


def account_for(analysis: "Analysis") -> dict[str, str]:
    """What became of each chain, by its id: one of `places`."""
    place_of = dict.fromkeys((chain.id for chain in analysis.chains), _UNSCORED)
    for case in analysis.cases:
        group = program_groups().get(case.group)
        if group and group.outcome:
            place_of[case.chain.id] = group.outcome(analysis, case)
        elif "audit" in case.chain.chain.settings:
            place_of[case.chain.id] = AUDITED
        elif case.group == NO_GROUP:
            place_of[case.chain.id] = UNKNOWN
        else:
            place_of[case.chain.id] = _LOOK_ALIKE if case.source in analysis.look_alikes else _NO_QUALITY
    for group_cases in analysis.groups.values():
        for case, outcome in analysis.with_outcomes(group_cases):
            state = "missing" if is_missing_case(outcome) else "lost" if outcome.lost else "kept"
            place_of[case.chain.id] = f"cases {state}"
    return place_of
