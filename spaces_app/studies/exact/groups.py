from ...analysis.program_groups import ProgramGroup

GROUPS = (
    ProgramGroup(
        "exact edits",
        "edits of drawn scenes, each with one right answer",
        contains=lambda chain: chain.program.category.startswith("exact "),
        order=60,
        filter_name="exact edits",
        asks_edits=True,
    ),
    ProgramGroup(
        "steering",
        "dialogues of corrections that lead to a goal, so that no round returns to its start",
        contains=lambda chain: chain.program.category == "steering",
        order=70,
        filter_name="steering",
        counted=False,
        done="correction",
        outcome=lambda analysis, case: "counted as steering",
        outcomes=("counted as steering",),
    ),
)
