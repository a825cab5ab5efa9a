from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from ....analysis.analysis import Analysis
from ....analysis.cases import Case
from ....analysis.tables import TableRow, column, mean_of
from ....reporting.figures import Drawing, FigureContext
from ....statistics import OnPage
from ...share_panels import share_panels

CATEGORY = "out and back"  # of programs that ask for several edits and undo them in reverse order
TITLE = "Out and back"
SECTION = "Out and back: half-life against depth"
ON_PAGE = OnPage(line_where="editor")
NOTE = (
    "Several edits are requested on top of each other and then undone in reverse order. A test returned to the "
    "original if every edit was made and undone and the last picture is the original again. The half-life in depth "
    "is the first depth at which fewer than half of the tests returned."
)


class Row(TableRow):
    editor: str = column("Editor")
    role: str = column("Role", shown=False)
    depth: int = column("Edits out, and back", "count")
    kept: float = column("Returned to the original", "share")
    quality: float | None = column("Retained quality at the end", "share")
    changed: float | None = column("Something changed", "share")
    half_depth: str | None = column("Half-life in depth")
    cases: int = column("Tests", "count")
    sources: int = column("Pictures", "count")


def rows(analysis: Analysis) -> Iterator[Row]:
    """One row per editor and depth; the first return counts, whatever further rounds the chains have."""
    for group in analysis.groups.values():
        for editor in group.cases:
            by_depth: dict[int, list[tuple[Case, bool]]] = defaultdict(list)
            for case, outcome in analysis.with_outcomes(group, editor):
                if case.category == CATEGORY and not outcome.failed:
                    by_depth[len(case.chain.program.cycle) // 2].append((case, outcome.kept >= 1))
            shares = {depth: fmean(kept for _, kept in pairs) for depth, pairs in sorted(by_depth.items())}
            for depth, share in shares.items():
                cases = [case for case, _ in by_depth[depth]]
                yield Row(
                    editor=editor,
                    role=group.roles[editor],
                    depth=depth,
                    kept=share,
                    quality=mean_of(quality[0] for case in cases if (quality := case.quality())),
                    changed=mean_of(case.changed[0] for case in cases if case.changed),
                    half_depth=_half_depth(shares),
                    cases=len(cases),
                    sources=len({case.source for case in cases}),
                )


def _half_depth(shares: Mapping[int, float]) -> str | None:
    """The first depth at which fewer than half of the cases came back; ">16" if every depth has half of its cases.

    >>> _half_depth({1: 1.0, 2: 0.8, 4: 0.3}), _half_depth({1: 1.0, 2: 0.5})
    ('4', '>2')
    """
    if not shares:
        return None
    return next((str(depth) for depth, share in shares.items() if share < 0.5), f">{max(shares)}")


def figures(rows: Sequence[Row], context: FigureContext) -> list[Drawing]:
    if not rows or not context.is_first_group:
        return []
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in rows:
        for title, share in (("returned to the original", row.kept), ("retained quality", row.quality)):
            if share is not None:
                panels.setdefault(title, {}).setdefault(row.editor, []).append((row.depth, share))
    drawing = share_panels("depth", "Half-life against depth", panels, context, "edits out, and as many back")
    depths = sorted({row.depth for row in rows})
    for axes in drawing.figure.axes:
        axes.set_xscale("log", base=2)
        axes.set_xticks(depths, list(map(str, depths)))
    return [drawing]
