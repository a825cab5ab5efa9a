"""Edits of drawn scenes, whose truth is known."""

from ...analysis.program_groups import ProgramGroup

GROUPS = (
    ProgramGroup(
        "exact edits",
        "edits of drawn scenes, each with one right answer",
        holds=lambda chain: chain.program.category.startswith("exact "),
        order=60,
        filter_name="exact edits",
        asks_edits=True,
    ),
)
