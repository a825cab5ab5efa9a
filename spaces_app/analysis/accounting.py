"""What became of every chain: how it was counted, or why it was left out."""

from .analysis import Analysis
from .groups import is_missing_case
from .program_groups import NO_GROUP, program_groups

_CASES = ("cases kept", "cases lost", "cases missing")
LEFT_OUT = "left out: "
AUDITED = LEFT_OUT + "under recall audit"
_LOOK_ALIKE = LEFT_OUT + "a reference that unrelated pictures resemble"
_UNSCORED = LEFT_OUT + "count twice or have no scores"
UNKNOWN = LEFT_OUT + "a program of a study that is not installed"


def places() -> tuple[str, ...]:
    of_studies = (place for group in program_groups().values() for place in group.outcomes)
    return (*_CASES, *of_studies, AUDITED, _LOOK_ALIKE, _UNSCORED, UNKNOWN)


def account_for(analysis: Analysis) -> dict[str, str]:
    """The place of every chain by its id."""
    place_of = dict.fromkeys((chain.id for chain in analysis.chains), _UNSCORED)
    for case in analysis.cases:
        group = program_groups().get(case.group)
        if group and group.outcome:
            place_of[case.chain.id] = group.outcome(analysis, case)
        elif "audit" in case.chain.chain.settings:
            place_of[case.chain.id] = AUDITED
        else:
            place_of[case.chain.id] = UNKNOWN if case.group == NO_GROUP else _LOOK_ALIKE
    for group_cases in analysis.groups.values():
        for case, outcome in analysis.with_outcomes(group_cases):
            state = "missing" if is_missing_case(outcome) else "lost" if outcome.lost else "kept"
            place_of[case.chain.id] = f"cases {state}"
    return place_of
