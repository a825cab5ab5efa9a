"""Programs that only add: no round returns to its start, so no headline counts them."""

from ...analysis.accounting import AUDITED
from ...analysis.analysis import Analysis
from ...analysis.cases import Case
from ...analysis.program_groups import ProgramGroup

_COUNTED = "counted as additions"


def _outcome(analysis: Analysis, case: Case) -> str:
    return AUDITED if "audit" in case.chain.chain.settings else _COUNTED


GROUPS = (
    ProgramGroup(
        "additions",
        "programs that only add, so that no round returns to its start",
        holds=lambda chain: not chain.program.closes,
        order=50,
        filter_name="add only",
        counted=False,
        outcome=_outcome,
        outcomes=(_COUNTED,),
    ),
)
