from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from convergebench.generation.records import FinishedChain
from convergebench.metric_modules.halflife.intervals import mean_over_clusters
from convergebench.metric_modules.scores import ScoreRow

from ....analysis.analysis import Analysis
from ....analysis.tables import Estimate, TableRow, column, estimate, mean_of
from ....reporting.figures import Drawing, FigureContext
from ....statistics import OnPage
from ...share_panels import share_panels

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
_Step = tuple[FinishedChain, ScoreRow]
# A program's id is its scene's, such as scene-1-0, and the
# operation; a scene's name is the level and the ground.
_PARTS: dict[str, Callable[[FinishedChain, ScoreRow], int | str]] = {
    "all": lambda chain, row: "all",
    "round": lambda chain, row: row.round,
    "operation": lambda chain, row: chain.program.id.removeprefix(f"{chain.source.id}-"),
    "things and likeness": lambda chain, row: chain.source.scene.partition(", ")[0],
    "ground": lambda chain, row: chain.source.scene.partition(", ")[2],
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
    chains = {chain.id: chain for chain in analysis.chains if chain.program.category.startswith("exact ")}
    scored = analysis.scores.with_any(["exact_as_asked"]) if chains else ()
    steps = [(chains[row.chain], row) for row in scored if row.chain in chains]
    for what, part_of in _PARTS.items():
        parts: dict[tuple[str, int | str], list[_Step]] = defaultdict(list)
        for chain, row in steps:
            parts[chain.editor, part_of(chain, row)].append((chain, row))
        for (editor, part), some in sorted(parts.items(), key=lambda item: item[0]):
            yield _row({"editor": editor, "what": what, "part": str(part)}, some)


def _row(place: Mapping[str, str], steps: Sequence[_Step]) -> Row:
    there, back = ([step for step in steps if (step[1].position == 1) is way] for way in (True, False))
    right, wrong = ([row for _, row in there if bool(row.value("exact_as_asked")) is so] for so in (True, False))
    return Row(
        **place,
        forward=_mean(there, "exact_as_asked"),
        ready=_mean([step for step in there if step[1].value("exact_start") >= _RIGHT], "exact_as_asked"),
        back=_mean(back, "exact_as_asked"),
        whole=_mean(back, "exact_match").value,
        agreement=_mean(steps, "exact_iou").value,
        elsewhere=_mean(steps, "exact_elsewhere").value,
        protected=_mean(steps, "exact_protected").value,
        said_of_right=mean_of(row.edit_changed for row in right),
        said_of_wrong=mean_of(row.edit_changed for row in wrong),
        steps=len(steps),
        scenes=len({chain.source.id for chain, _ in steps}),
        suites=", ".join(sorted({chain.suite for chain, _ in steps})),
    )


def _mean(steps: Sequence[_Step], column: str) -> Estimate:
    values = [float(row.value(column)) for _, row in steps]
    return estimate(*mean_over_clusters(values, [chain.source.id for chain, _ in steps]), 0.0, 1.0)


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in rows:
        for title, share in (("made as asked", row.forward), ("taken back", row.back)):
            if row.what == "round" and share.value is not None:
                panels.setdefault(title, {}).setdefault(row.editor, []).append((int(row.part), share.value))
    title = "Edits of drawn scenes, by round"
    return [share_panels("exact_edits", title, panels, context, "round")] if panels else []
