from convergebench.generation.records import FinishedChain

from ...analysis.program_groups import ProgramGroup, asks_for_edit


def _is_replication(chain: FinishedChain) -> bool:
    if chain.program.category in ("reconstruction", "restoration"):
        return False
    return chain.program.closes and not asks_for_edit(chain)


GROUPS = (
    ProgramGroup(
        "replication",
        "programs that ask for no change",
        holds=_is_replication,
        order=20,
        filter_name="copy, no change",
        done="copy",
    ),
    ProgramGroup(
        "reconstruction",
        "programs that take a picture apart and have it redrawn, which invents what was lost",
        holds=lambda chain: chain.program.closes and chain.program.category == "reconstruction",
        order=30,
        filter_name="take apart and redraw",
        done="redrawn",
    ),
)
