from collections.abc import Callable, Iterator, Sequence

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, mean_of
from ....reporting.figures import Drawing, FigureContext, share_panels
from ....statistics import OnPage
from ..exact_steps import ExactStep, by, exact_steps, mean

TITLE = "Exact edits, by round, operation and difficulty"
SECTION = "Exact edits"
ON_PAGE = OnPage(line_where="what")
NOTE = (
    "Scenes are drawn from data, so every edit has one right answer. A step is as asked if its region agrees with that "
    "answer, nothing else changed, and the picture before was right there. From a right start counts only steps before "
    "which the edit's region was as the truth has it, so that an earlier failure is not counted again. The last shares "
    "are of the steps for which the rules for any picture say that something changed. The suite's name says the "
    "scenes' seed."
)
_RIGHT = 0.85  # of the region, as metric_modules/exact has it
_PARTS: dict[str, Callable[[ExactStep], object]] = {
    "all": lambda step: "all",
    "round": lambda step: step.row.round,
    "operation": lambda step: step.operation,
    "things and likeness": lambda step: step.difficulty[0],
    "ground": lambda step: step.difficulty[1],
}


class Row(TableRow):
    editor: str = column("Editor")
    what: str = column("By")
    part: str = column("Edits")
    forward: Estimate = column("Made as asked", "share")
    ready: Estimate = column("From a right start", "share")
    back: Estimate = column("Taken back exactly", "share")
    whole: float | None = column("Whole picture right after", "share")
    agreement: float | None = column("Agreement with the truth", "score")
    elsewhere: float | None = column("Changed elsewhere", "share")
    protected: float | None = column("Protected pixels changed", "share")
    said_of_right: float | None = column("Rule says changed, if as asked", "share")
    said_of_wrong: float | None = column("Rule says changed, if not", "share")
    steps: int = column("Steps", "count")
    scenes: int = column("Scenes", "count")
    suites: str = column("Suites", shown=False)


def rows(analysis: Analysis) -> Iterator[Row]:
    """Limits are over scenes."""
    steps = analysis.once(exact_steps)
    for what, part in _PARTS.items():
        for (editor, name), some in by(steps, part):
            there, back = ([step for step in some if step.is_forward is way] for way in (True, False))
            yield Row(
                editor=editor,
                what=what,
                part=str(name),
                forward=mean(there, "exact_as_asked"),
                ready=mean([step for step in there if step.value("exact_start") >= _RIGHT], "exact_as_asked"),
                back=mean(back, "exact_as_asked"),
                whole=mean(back, "exact_match").value,
                agreement=mean(some, "exact_iou").value,
                elsewhere=mean(some, "exact_elsewhere").value,
                protected=mean(some, "exact_protected").value,
                said_of_right=mean_of(step.row.edit_changed for step in there if step.value("exact_as_asked")),
                said_of_wrong=mean_of(step.row.edit_changed for step in there if not step.value("exact_as_asked")),
                steps=len(some),
                scenes=len({step.chain.source.id for step in some}),
                suites=", ".join(sorted({step.chain.suite for step in some})),
            )


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in rows:
        for title, share in (("made as asked", row.forward), ("taken back", row.back)):
            if row.what == "round" and share.value is not None:
                panels.setdefault(title, {}).setdefault(row.editor, []).append((int(row.part), share.value))
    title = "Edits of drawn scenes, by round"
    return [share_panels("exact_edits", title, panels, context, "round")] if panels else []
