"""Half-life against depth: how many edits an editor can make, one upon the other, and still find the way back."""

from collections.abc import Sequence
from typing import Any

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.tables import Column, format_value
from ..reporting.figures import Drawing, FigureContext, add_legend, new_figure
from . import OnPage, Rows

CATEGORY = "out and back"  # of the programs that ask for several edits and take them back, the last one first
TITLE = "Out and back"
SECTION = "Out and back: half-life against depth"
DRAWN = {"kept": "found the way back", "quality": "retained quality"}
ON_PAGE = OnPage(line_where="editor")
COLUMNS = (
    Column("editor", "Editor"),
    Column("role", "Role", shown=False),
    Column("depth", "Edits out, and back", "count"),
    Column("kept", "Found the way back", "share"),
    Column("quality", "Retained quality at the end", "share"),
    Column("edits_made", "Made every edit", "share"),
    Column("half_depth", "Half-life in depth"),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """One row per editor and depth; the first return counts, whatever further rounds the chains have."""
    found: list[dict[str, Any]] = []
    for group in analysis.groups.values():
        for editor, cases in group.cases.items():
            outcomes = analysis.outcomes[group.name][editor]
            by_depth: dict[int, list[tuple[Case, bool]]] = {}
            for case, outcome in zip(cases, outcomes, strict=True):
                if case.category == CATEGORY and not outcome.failed:
                    depth = len(case.chain.program.cycle) // 2
                    by_depth.setdefault(depth, []).append((case, outcome.kept >= 1))
            shares = {depth: sum(kept for _, kept in own) / len(own) for depth, own in sorted(by_depth.items())}
            role, half = group.role_title(editor), half_depth(shares)
            about = {"editor": editor, "role": role, "half_depth": half}
            found += [about | depth_row(depth, by_depth[depth]) for depth in shares]
    return found


def half_depth(shares: dict[int, float]) -> str | None:
    """The first depth from which fewer than half of the cases came back; ">16" where all depths have half of theirs.

    >>> half_depth({1: 1.0, 2: 0.8, 4: 0.3}), half_depth({1: 1.0, 2: 0.5})
    ('4', '>2')
    """
    if not shares:
        return None
    return next((str(depth) for depth, share in shares.items() if share < 0.5), f">{max(shares)}")


def depth_row(depth: int, cases: Sequence[tuple[Case, bool]]) -> dict[str, Any]:
    """What became of one editor's cases of one depth."""
    ends = [case.quality[0] for case, _ in cases if case.quality]
    known = [value for value in ends if value is not None]
    made = [case.applied[0] for case, _ in cases if case.applied and case.applied[0] is not None]
    return {
        "depth": depth,
        "kept": sum(kept for _, kept in cases) / len(cases),
        "quality": sum(known) / len(known) if known else None,
        "edits_made": sum(bool(each) for each in made) / len(made) if made else None,
        "cases": len(cases),
        "sources": len({case.source for case, _ in cases}),
    }


def note(analysis: Analysis, rows: Rows) -> str:
    if not rows:
        return ""
    return (
        "So many edits are asked for, one upon the other, and then taken back, the last one first. A case found the "
        "way back where every edit was made and taken back and the end is the original. The half-life in depth is the "
        "first depth at which fewer than half of the cases did."
    )


def figures(rows: Rows, context: FigureContext) -> list[Drawing | None]:
    """The share of cases that came back, and the quality at the end, over the depth."""
    if not rows or not context.is_first_group:
        return []
    figure, grid = new_figure(1, 2, 3.0, sharey=True)
    words = []
    depths = sorted({row["depth"] for row in rows})
    for axes, (key, label) in zip(grid[0], DRAWN.items(), strict=True):
        for editor, look in context.looks.items():
            own = [(row["depth"], row[key]) for row in rows if row["editor"] == editor and row[key] is not None]
            if own:
                axes.plot(*zip(*own, strict=True), color=look.colour, ls=look.dash, marker=look.marker, label=editor)
                words.append(f"{editor}, {label} {format_value(own[-1][1], 'share')} at depth {own[-1][0]}")
        axes.set_xscale("log", base=2)
        axes.set_xticks(depths, list(map(str, depths)))
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("edits out, and as many back")
        axes.set_ylabel(label)
    add_legend(figure, grid[0, 0])
    return [Drawing("depth", "Half-life against depth", "; ".join(words) + ".", figure)]
