from ...analysis.program_groups import ProgramGroup, asks_for_edit

GROUPS = (
    ProgramGroup(
        "replication",
        "programs that ask for no change",
        contains=lambda chain: (
            chain.program.closes
            and chain.program.category not in ("reconstruction", "restoration")
            and not asks_for_edit(chain)
        ),
        order=20,
        filter_name="copy, no change",
        done="copy",
    ),
    ProgramGroup(
        "reconstruction",
        "programs that take a picture apart and have it redrawn, which invents what was lost",
        contains=lambda chain: chain.program.closes and chain.program.category == "reconstruction",
        order=30,
        filter_name="take apart and redraw",
        done="redrawn",
    ),
)
