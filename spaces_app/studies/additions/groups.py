from convergebench.generation.records import NEXT

from ...analysis.groups import AUDITED
from ...analysis.program_groups import ProgramGroup

_COUNTED = "counted as additions"

GROUPS = (
    ProgramGroup(
        "additions",
        "programs that only add, so that no round returns to its start",
        contains=lambda chain: not chain.program.closes and NEXT not in chain.program.cycle,
        order=50,
        filter_name="add only",
        done="added",
        counted=False,
        outcome=lambda analysis, case: AUDITED if "audit" in case.chain.chain.settings else _COUNTED,
        outcomes=(_COUNTED,),
    ),
)
