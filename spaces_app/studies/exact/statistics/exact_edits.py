from collections.abc import Callable, Iterator

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage
from ..exact_steps import ExactStep, by, exact_steps, mean

TITLE = "Exact edits, by operation and difficulty"
SECTION = "Exact edits"
ON_PAGE = OnPage(order=20, line_where="what")
NOTE = (
    "Scenes are drawn from data, so every edit has one right answer. A step is as asked if its region agrees with that "
    "answer, nothing else changed, and the picture before was right there. The suite's name says the scenes' seed."
)
_PARTS: dict[str, Callable[[ExactStep], str]] = {
    "all": lambda step: "all",
    "operation": lambda step: step.operation,
    "things and likeness": lambda step: step.difficulty[0],
    "ground": lambda step: step.difficulty[1],
}


class Row(TableRow):
    editor: str = column("Editor")
    what: str = column("By")
    part: str = column("Edits")
    forward: Estimate = column("Made as asked", "share")
    back: Estimate = column("Taken back exactly", "share")
    agreement: float | None = column("Agreement with the truth", "score")
    elsewhere: float | None = column("Changed elsewhere", "share")
    protected: float | None = column("Protected pixels changed", "share")
    steps: int = column("Steps", "count")
    scenes: int = column("Scenes", "count")
    suites: str = column("Suites", shown=False)


def rows(analysis: Analysis) -> Iterator[Row]:
    steps = analysis.once(exact_steps)
    for what, part in _PARTS.items():
        for (editor, name), some in by(steps, part):
            yield Row(
                editor=editor,
                what=what,
                part=name,
                forward=mean([step for step in some if step.is_forward], "exact_as_asked"),
                back=mean([step for step in some if not step.is_forward], "exact_as_asked"),
                agreement=mean(some, "exact_iou").value,
                elsewhere=mean(some, "exact_elsewhere").value,
                protected=mean(some, "exact_protected").value,
                steps=len(some),
                scenes=len({step.chain.source.id for step in some}),
                suites=", ".join(sorted({step.chain.suite for step in some})),
            )
