"""The first screen: the best and the worst editor on a typical case."""

import json
from collections.abc import Mapping
from typing import Any

from ...analysis.reasons import frames_of, typical_cases
from .. import page
from ..headline import Leaderboard, leaderboard
from ..served_dataset import ServedDataset
from ..tabs import SPACE

_TEMPLATE = SPACE / "leaderboard" / "story.html"
_Row = Mapping[str, Any]


def story(dataset: ServedDataset, place: int = 0) -> str:
    """The strips of a typical case; `place` 1 is the next most typical."""
    board = leaderboard(dataset)
    measured = [row for row in board.table.rows if row["rounds_kept"] is not None]
    rows = [row for row in measured if row["role"] == "editors"] or measured  # without editors, baselines
    if board.group is None or not rows:
        return page.render(_TEMPLATE, note=board.table.note or "No test could be measured.")
    best, worst = rows[0], rows[-1] if len(rows) > 1 else None
    shown = [best, *([worst] if worst else _perfect_row(board))]
    tested = [row["editor"] for row in rows]
    cases = typical_cases(board.group, board.outcomes, tested, [tested[0], tested[-1]])
    key = cases[place % len(cases)]
    strips = []
    for row in shown:
        for case in [case for case in board.group.cases[row["editor"]] if case.key == key]:
            end = dataset.ending(case, board.group)
            frames = frames_of(case, board.group.checks_of(case.editor), end["lost_step"])
            strips.append({**end, "case": case, "frames": frames, "outline": json.dumps(end["outline"])})
    lost = next((strip for strip in reversed(strips) if strip["lost_at"]), strips[-1])
    return page.render(
        _TEMPLATE,
        note="",
        best=best,
        worst=worst,
        names=dataset.display,
        strips=strips,
        case=strips[0]["case"],
        picture=dataset.title(strips[0]["case"].source),
        anchor=f"{lost['case'].chain.id} {lost['lost_step'] or lost['frames'][-1]['step']}",
        next=(place + 1) % len(cases),
        is_typical=place % len(cases) == 0,
    )


def _perfect_row(board: Leaderboard) -> list[_Row]:
    baselines = [row for row in board.table.rows if row["role"] != "editors" and row["rounds_kept"]]
    return sorted(baselines, key=lambda row: -row["rounds_kept"])[:1] if len(baselines) < len(board.table.rows) else []
