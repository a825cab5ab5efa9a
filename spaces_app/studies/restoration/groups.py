from ...analysis.analysis import Analysis
from ...analysis.cases import Case
from ...analysis.groups import AUDITED
from ...analysis.program_groups import ProgramGroup
from .restored import CATEGORY, is_disturbed, own_restorations

_SCORED, _WITHOUT = "restorations with scores", "restorations without a picture"


def _scored_chains(analysis: Analysis) -> set[str]:
    return {restored.chain for restored in analysis.once(own_restorations) if restored.values}


def _outcome(analysis: Analysis, case: Case) -> str:
    if case.chain.id in analysis.once(_scored_chains):
        return _SCORED
    return AUDITED if is_disturbed(case.chain) else _WITHOUT


GROUPS = (
    ProgramGroup(
        "restoration",
        "programs that restore a degraded picture, against the undegraded one",
        contains=lambda chain: chain.program.closes and chain.program.category == CATEGORY,
        order=40,
        filter_name="restore",
        done="restored",
        start="degraded",
        reference="clean picture",
        counted=False,
        outcome=_outcome,
        outcomes=(_SCORED, _WITHOUT),
    ),
)
