"""The small charts beside the strips: survival with its bands, and what the rounds cost."""

from collections.abc import Sequence

from ...analysis.groups import ROLES
from ...statistics.curves import slice_curves
from ...statistics.leaderboard import Row
from ..headline import ALL, Leaderboard
from ..served_dataset import Answer, ServedDataset

_WIDE, _HIGH = 420, 158  # units of the drawing
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 156, 20, 30
_LETTER = 6.4  # units a letter is wide
_LINE = 15  # units between two names


def _scale(low: float, high: float, start: float, end: float, value: float) -> float:
    return start + (end - start) * (value - low) / ((high - low) or 1)


def survival(dataset: ServedDataset, board: Leaderboard, editors: Sequence[str]) -> Answer | None:
    """The share of tests that survive, in steps, with 95% bands."""
    if board.group is None:
        return None
    rows = slice_curves(board.group, board.outcomes, ALL, metrics=("kept",))
    last = max((row.round for row in rows), default=1)
    x = [round(_scale(0, last, _LEFT, _WIDE - _RIGHT, number), 1) for number in range(last + 1)]
    lines = []
    for editor in editors:
        values = [(1.0, 1.0, 1.0), *(tuple(row.mean) for row in rows if row.editor == editor)]
        mean, low, high = (
            _steps(x, [_y(point[place] if point[place] is not None else point[0], 1) for point in values])
            for place in range(3)
        )
        lines.append(
            {
                "name": _short(dataset.display[editor]),
                "place": dataset.looks[editor].place,
                "line": _path(mean),
                "band": _path([*high, *reversed(low)]),
                "y": mean[-1][1] + 4,
            }
        )
    _push_apart(lines)
    rounds = [number for number in range(last + 1) if last < 12 or number % 5 == 0]
    return {
        "title": "Share of tests that survive, with 95% bands",
        "x": "rounds",
        "lines": lines,
        "points": [],
        "ticks": [(x[number], str(number)) for number in rounds],
        "grid": [(_y(share, 1), f"{share:.0%}") for share in (0, 0.5, 1)],
    }


def prices(dataset: ServedDataset, rows: Sequence[Row]) -> Answer | None:
    """Rounds survived against the cost of all rounds; those that nobody beats at their price are named."""
    rows = [row for row in rows if row.cost and row.role == ROLES["editor"] and row.last_round]
    if not rows:
        return None
    last = max(row.last_round or 1 for row in rows)
    dearest = max(row.cost or 0 for row in rows) * last * 1.05
    points: list[Answer] = []
    labels: list[Answer] = []
    most = -1.0
    for row in sorted(rows, key=lambda row: (row.cost or 0, -(row.rounds_kept.value or 0))):
        mean, low, high = row.rounds_kept
        at = _scale(0, dearest, _LEFT, _WIDE - _RIGHT, (row.cost or 0) * last)
        limits = [] if low is None else [_y(min(value, last), last) for value in (low, high or last)]
        name, place = dataset.display[row.editor], dataset.looks[row.editor].place
        words = f"{name}: {mean:.1f} rounds, ${row.cost:.3f} a round"
        points.append({"x": at, "y": _y(mean, last), "limits": limits, "place": place, "words": words})
        if mean > most:
            most = mean
            labels.append({"name": _short(name), "place": place, "y": _y(mean, last) + 4})
    _push_apart(labels)
    ticks = [
        (_scale(0, dearest, _LEFT, _WIDE - _RIGHT, share * dearest), f"${share * dearest:.2f}")
        for share in (0, 0.5, 1)
    ]
    return {
        "title": f"Rounds survived against the price of {last} rounds",
        "x": f"for {last} rounds",
        "points": points,
        "lines": [label | {"line": "", "band": ""} for label in labels],
        "ticks": ticks,
        "grid": [(_y(number, last), str(number)) for number in (0, last // 2, last)],
    }


def _y(value: float, most: float) -> float:
    return round(_scale(0, most, _HIGH - _BOTTOM, _TOP, value), 1)


def _steps(x: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """A share stays until the round in which it falls."""
    points = [(x[0], values[0])]
    for place in range(1, len(values)):
        points += [(x[place], values[place - 1]), (x[place], values[place])]
    return points


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _short(name: str) -> str:
    most = int((_RIGHT - 16) / _LETTER)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _push_apart(labels: list[Answer]) -> None:
    below = _HIGH - _BOTTOM + 6.0
    for label in sorted(labels, key=lambda label: -label["y"]):
        label["y"] = min(label["y"], below)
        below = label["y"] - _LINE
