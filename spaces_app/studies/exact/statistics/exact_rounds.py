from collections.abc import Iterator, Sequence

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, mean_of
from ....reporting.figures import Drawing, FigureContext, share_panels
from ....statistics import OnPage
from ..exact_steps import by, exact_steps, mean

TITLE = "Exact edits, by round"
SECTION = "Exact edits"
ON_PAGE = OnPage(order=10, line_where="editor")
NOTE = (
    "From a right start counts only steps before which the edit's region was as the truth has it, so that an earlier "
    "failure is not counted again. The last columns are shares of these steps for which the rules for any picture say "
    "that something changed."
)
_RIGHT = 0.85  # of the region, as metric_modules/exact has it


class Row(TableRow):
    editor: str = column("Editor")
    round: int = column("Round", "count")
    forward: Estimate = column("Made as asked", "share")
    ready: Estimate = column("From a right start", "share")
    back: Estimate = column("Taken back exactly", "share")
    whole: float | None = column("Whole picture right after", "share")
    said_of_right: float | None = column("Rule says changed, if as asked", "share")
    said_of_wrong: float | None = column("Rule says changed, if not", "share")
    steps: int = column("Steps", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    """Limits are over scenes."""
    for (editor, round), steps in by(analysis.once(exact_steps), lambda step: step.row.round):
        there, back = ([step for step in steps if step.is_forward is way] for way in (True, False))
        yield Row(
            editor=editor,
            round=round,
            forward=mean(there, "exact_as_asked"),
            ready=mean([step for step in there if step.value("exact_start") >= _RIGHT], "exact_as_asked"),
            back=mean(back, "exact_as_asked"),
            whole=mean(back, "exact_match").value,
            said_of_right=mean_of(step.row.edit_changed for step in there if step.value("exact_as_asked")),
            said_of_wrong=mean_of(step.row.edit_changed for step in there if not step.value("exact_as_asked")),
            steps=len(steps),
        )


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {"made as asked": {}, "taken back": {}}
    for row in rows:
        for lines, share in zip(panels.values(), (row.forward, row.back), strict=True):
            if share.value is not None:
                lines.setdefault(row.editor, []).append((row.round, share.value))
    return (
        [share_panels("exact_rounds", "Edits of drawn scenes, by round", panels, context, "round")] if rows else []
    )
