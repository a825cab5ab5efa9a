"""What ends convergence: the cumulative incidence of each cause."""

from collections.abc import Sequence
from typing import Any

from convergebench.metric_modules.halflife.outcomes import CAUSES, Outcome
from convergebench.metric_modules.halflife.survival import cumulative_incidence

from ..analysis.analysis import Analysis
from ..analysis.reasons import TITLES
from ..analysis.tables import Column, format_value
from ..palette import GRID, PAPER, SERIES
from ..reporting.figures import Drawing, FigureContext, add_legend, figure_names, new_figure
from . import EACH_GROUP, OnPage, Rows


def last_round(rows: Rows) -> Rows:
    """One row for each editor, in the order of the rows."""
    return list({row["editor"]: row for row in rows}.values())


TITLE = "Why tests failed"
SECTION = EACH_GROUP
ON_PAGE = OnPage(
    order=30,
    line_where="role",
    heading=TITLE,
    caption=lambda rows: "Share of tests that failed for each reason by the last round",
    choose=last_round,
)
COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("group", "Programs", shown=False),
    Column("round", "By round", "count"),
    Column("kept", "Survived", "share"),
    *(Column(cause, TITLES.get(cause, cause.capitalize()), "share") for cause in CAUSES),
    Column("cases", "Cases", "count"),
)


def columns(rows: Rows) -> tuple[Column, ...]:
    """Causes to which no case was lost are not shown."""
    met = {cause for row in rows for cause in CAUSES if row[cause]}
    return tuple(
        column._replace(shown=column.shown and (column.key not in CAUSES or column.key in met)) for column in COLUMNS
    )


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """The share of cases lost to each cause by each round; with the share that survived they add up to one."""
    found: list[dict[str, Any]] = []
    for name, group in analysis.groups.items():
        for editor, cases in group.cases.items():
            about = {"group": name, "editor": editor, "role": group.role_title(editor)}
            rounds = max(case.rounds for case in cases)
            found += [about | row for row in incidence(analysis.outcomes[name][editor], rounds)]
    return found


def incidence(outcomes: Sequence[Outcome], rounds: int) -> list[dict[str, Any]]:
    """One row per round: each cause's share so far, and who is left."""
    watched = [outcome for outcome in outcomes if outcome.time]
    if not watched:
        return []
    times, causes = [outcome.time for outcome in watched], [outcome.cause for outcome in watched]
    grid, shares = cumulative_incidence(times, causes)
    rows = []
    for round in range(1, rounds + 1):
        place = int((grid <= round).sum()) - 1
        known = {cause: float(values[place]) if place >= 0 else 0.0 for cause, values in shares.items()}
        every = {cause: known.get(cause, 0.0) for cause in CAUSES}
        rows.append({"round": round, "kept": max(0.0, 1 - sum(every.values())), **every, "cases": len(watched)})
    return rows


def figures(rows: Rows, context: FigureContext) -> list[Drawing]:
    """What cases were lost to by the last round, stacked to a whole."""
    last = {row["editor"]: row for row in rows}
    shown = [editor for editor in context.looks if editor in last]
    causes = [cause for cause in CAUSES if any(last[editor][cause] for editor in shown)]
    if not shown or not context.is_first_group:
        return []
    figure, grid = new_figure(height=1.5 + 0.36 * len(shown))
    axes, left = grid[0, 0], [0.0] * len(shown)
    for place, cause in enumerate(["kept", *causes]):
        widths = [last[editor][cause] for editor in shown]
        colour = GRID.light if cause == "kept" else SERIES[(place - 1) % len(SERIES)].light
        label = "survived" if cause == "kept" else TITLES.get(cause, cause).lower()
        axes.barh(shown, widths, left=left, color=colour, label=label, height=0.66, edgecolor=PAPER.light, lw=1.2)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    names = figure_names(shown)
    axes.set_yticks(range(len(shown)), [names[editor] for editor in shown])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("share of tests")
    add_legend(figure, axes)
    words = [
        f"{editor}: "
        + ", ".join(f"{cause} {format_value(last[editor][cause], 'share')}" for cause in ["kept", *causes])
        for editor in shown
    ]
    return [Drawing("causes", TITLE, "; ".join(words) + ".", figure)]
