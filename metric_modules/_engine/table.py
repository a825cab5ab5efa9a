"""The dataset's scores and floors, from what is known of every chain."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.schema import FLOORS, SCORES, Column, Written, write

from ..retained.floors import CEILINGS, retained_value
from .cases import Case, Shot
from .floors import Task
from .known import SEPARATOR, Known
from .measures import Value, Values

PLACE = ("chain", "editor", "source", "program", "run")
OWN = ("step", "round", "position", "status", "sha256")
NO_FLOOR = "there is no floor: the suite has no unrelated source"
NOT_ASKED = "not asked for; `convergebench score --metrics {}` adds it"


def columns(added: Sequence[str]) -> list[Column]:
    """The columns of the scores, those of further metrics before the reasons."""
    fixed = list(SCORES.columns)
    return fixed[:-2] + [Column(name, "float64", "") for name in added] + fixed[-2:]


def retained(values: Mapping[str, Value], floors: Mapping[str, float]) -> Values:
    """Each metric on the scale from 1, untouched, to 0, another picture altogether."""
    row: Values = {}
    for name, ceiling in CEILINGS.items():
        value = values.get(name, "")
        if isinstance(value, str):
            row[f"retained_{name}"] = value
        elif floors.get(name, ceiling) == ceiling:
            row[f"retained_{name}"] = NO_FLOOR
        else:
            row[f"retained_{name}"] = retained_value(float(value), floors[name], ceiling)
    return row


def changed_size(case: Case) -> dict[int, Value]:
    """Whether the answer of each step has another size than the picture it was made from."""
    found: dict[int, Value] = {}
    before = case.input
    for shot in case.steps:
        if shot.width is None or before is None or before.width is None:
            found[shot.step] = unscored(shot) if not shot.scored else "the picture before is missing"
        else:
            found[shot.step] = (shot.width, shot.height) != (before.width, before.height)
        before = shot if shot.width is not None else before
    return found


def unscored(shot: Shot) -> str:
    """Why a step has no numbers at all."""
    return f"{shot.status}: {shot.reason}" if shot.reason else shot.status


def rows(
    case: Case,
    known: Known,
    head: str,
    every: Mapping[str, Sequence[str]],
    absent: Mapping[str, str],
    floors: Mapping[str, float],
) -> Iterator[dict[str, Any]]:
    """A chain's rows, every value a number or null with its reason."""
    parts = {name: known.scores[case.id, name] for name in every if (case.id, name) in known.scores}
    signature = SEPARATOR.join([head, *(part for part, _ in parts.values())])
    sizes = changed_size(case)
    for shot in case.steps:
        values: Values = {}
        for name, own in every.items():
            if not shot.scored:
                values |= dict.fromkeys(own, unscored(shot))
            elif name in parts:
                values |= parts[name][1][shot.step]
            else:
                values |= dict.fromkeys(own, absent.get(name, NOT_ASKED.format(name)))
        values |= retained(values, floors)
        values["changed_size"] = sizes[shot.step]
        reasons = {name: value for name, value in values.items() if isinstance(value, str)}
        yield {
            **{name: case.chain[name] for name in PLACE},
            **{name: getattr(shot, name) for name in OWN},
            **{name: None if isinstance(value, str) else value for name, value in values.items()},
            "reasons": reasons,
            "signature": signature,
        }


def write_scores(folder: Path, added: Sequence[str], every: Iterator[dict[str, Any]]) -> Written:
    """Write all scores as one file, the same to the byte for the same numbers."""
    return replace(folder, SCORES.name, columns(added), every)


def write_floors(folder: Path, tasks: Sequence[Task], known: Known, every: Mapping[str, Sequence[str]]) -> Written:
    """Write every unrelated pair's values."""

    def pairs() -> Iterator[dict[str, Any]]:
        for task in tasks:
            for other in task.others:
                for name in every:
                    signature, values = known.floors.get((task.key, name), ("", {}))
                    for column, value in values.get(other.source, {}).items():
                        yield {
                            "source": task.reference.source,
                            "other": other.source,
                            "short_side": task.short_side,
                            "metric": column,
                            "value": value,
                            "signature": SEPARATOR.join([signature, f"pictures={task.key}"]),
                        }

    return replace(folder, FLOORS.name, FLOORS.columns, pairs())


def replace(folder: Path, config: str, columns: Sequence[Column], rows: Iterator[dict[str, Any]]) -> Written:
    """One file in the place of all that were there before."""
    written = write(folder / "data" / config / "0000.parquet", columns, rows)
    for path in sorted((folder / "data" / config).rglob("*.parquet")):
        if path != written.path:
            path.unlink()
    return written
