"""What became of every chain of a dataset: counted in which way, or left out for which reason. Each chain once."""

from .analysis import Analysis
from .groups import is_missing_case
from .restoration import is_disturbed

ADDED = "counted as additions"
COUNTED = (
    *("cases kept", "cases lost", "cases missing", "restorations with scores", "restorations without a picture"),
    ADDED,
)
LEFT_OUT = "left out: "
AUDITED = LEFT_OUT + "under recall audit"
LOOK_ALIKE = LEFT_OUT + "a reference that unrelated pictures resemble"
UNSCORED = LEFT_OUT + "count twice or have no scores"
PLACES = (*COUNTED, AUDITED, LOOK_ALIKE, UNSCORED)


def account_for(analysis: Analysis) -> dict[str, str]:
    """The place of every chain, one of PLACES, by the chain's id."""
    found = dict.fromkeys((chain.id for chain in analysis.chains), UNSCORED)
    for case in analysis.cases:
        if case.group == "restoration":
            without = AUDITED if is_disturbed(case.chain) else "restorations without a picture"
            found[case.chain.id] = "restorations with scores" if case.chain.id in analysis.restored_chains else without
        elif "audit" in case.chain.chain.settings:
            found[case.chain.id] = AUDITED
        else:
            found[case.chain.id] = ADDED if case.group == "additions" else LOOK_ALIKE
    for name, group in analysis.groups.items():
        for editor, cases in group.cases.items():
            for case, outcome in zip(cases, analysis.outcomes[name][editor], strict=True):
                lost = "cases lost" if outcome.lost else "cases kept"
                found[case.chain.id] = "cases missing" if is_missing_case(outcome) else lost
    return found
