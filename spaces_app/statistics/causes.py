"""What ends convergence: the cumulative incidence of each cause."""

from collections.abc import Iterator, Mapping, Sequence

from convergebench.metric_modules.halflife.causes import CAUSES
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import cumulative_incidence

from ..analysis.analysis import Analysis
from ..analysis.reasons import TITLES
from ..analysis.tables import Column, TableRow, column, columns_by_key, format_value
from ..palette import GRID, PAPER, SERIES
from ..reporting.figures import Drawing, FigureContext, add_legend, figure_names, new_figure
from . import EACH_GROUP, OnPage

TITLE = "Why tests failed: the share of tests that failed for each reason by the last round"
SECTION = EACH_GROUP
# The page shows the last round.
ON_PAGE = OnPage(
    order=30, line_where="role", choose=lambda rows: list({row["editor"]: row for row in rows}.values())
)


class Row(TableRow):
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    group: str = column("Programs", shown=False)
    round: int = column("By round", "count")
    kept: float = column("Survived", "share")
    lost_to: Mapping[str, float] = columns_by_key(
        lambda cause: Column(cause, TITLES[cause], "share"), hide_zeros=True
    )
    cases: int = column("Tests", "count")


def rows(analysis: Analysis) -> list[Row]:
    rows: list[Row] = []
    for name, group in analysis.groups.items():
        for editor, cases in group.cases.items():
            place = {"editor": editor, "role": group.roles[editor], "group": name}
            rows += _incidence(analysis.outcomes[name][editor], max(case.rounds for case in cases), place)
    return rows


def _incidence(outcomes: Sequence[Outcome], rounds: int, columns: Mapping[str, str]) -> Iterator[Row]:
    watched = [outcome for outcome in outcomes if outcome.time]
    if not watched:
        return
    times, causes = [outcome.time for outcome in watched], [outcome.cause for outcome in watched]
    grid, shares = cumulative_incidence(times, causes)
    for round in range(1, rounds + 1):
        place = int((grid <= round).sum()) - 1
        lost = {cause: float(shares[cause][place]) if cause in shares and place >= 0 else 0.0 for cause in CAUSES}
        kept = max(0.0, 1 - sum(lost.values()))
        yield Row(**columns, round=round, kept=kept, lost_to=lost, cases=len(watched))


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    last = {row.editor: row for row in rows}
    editors = [editor for editor in context.looks if editor in last]
    causes = [cause for cause in CAUSES if any(last[editor].lost_to[cause] for editor in editors)]
    if not editors or not context.is_first_group:
        return []
    figure, grid = new_figure(height=1.5 + 0.36 * len(editors))
    axes, starts = grid[0, 0], [0.0] * len(editors)
    shares = {editor: {"kept": last[editor].kept, **last[editor].lost_to} for editor in editors}
    for place, cause in enumerate(["kept", *causes]):
        widths = [shares[editor][cause] for editor in editors]
        colour = GRID if cause == "kept" else SERIES[(place - 1) % len(SERIES)]
        label = "survived" if cause == "kept" else TITLES[cause].lower()
        axes.barh(editors, widths, left=starts, color=colour, label=label, height=0.66, edgecolor=PAPER, lw=1.2)
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    names = figure_names(editors)
    axes.set_yticks(range(len(editors)), [names[editor] for editor in editors])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("share of tests")
    add_legend(figure, axes)
    sentences = [
        f"{editor}: "
        + ", ".join(f"{cause} {format_value(shares[editor][cause], 'share')}" for cause in ["kept", *causes])
        for editor in editors
    ]
    return [Drawing("causes", TITLE, "; ".join(sentences) + ".", figure)]
