"""Metric results: in the shards of unfinished runs, in the dataset's files, and as the rows that become these files.

A shard is one process's file: a line for each finished chain or floor task,
durable before it counts. A crash at any byte loses at most the line being written.
Finished work is not computed again, whatever number of processes resume it.
"""

import itertools
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Any, cast

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import FLOORS, place_columns
from convergebench.generation.pictures import DECODING
from convergebench.generation.records import Json, Step, UserError

from ..scores import CHANGED_SIZE, SCORES, Missing, Value, Values, missing_values, reasons_json, signature_of
from ..specs import ScoreColumn, Spec, scored_specs
from .chains import DatasetChain, Span, rows_at, spans_of
from .floors import FloorTask, Medians, retained_value
from .metrics import Part, typed

FOLDER = ".scoring"
_CHECKED = len('{"check": "0123456789abcdef", ')  # where in a line the text that its checksum covers begins
_ENGINE_VERSION = 1
Line = Json  # of a shard: a chain's values or a floor task's
Load = Callable[[], Line]
_Row = Mapping[str, Any]  # of the scores


def open_shard(folder: Path, name: str) -> FileIO:
    """This process's shard, without the line that a crash cut short."""
    shard = (folder / name).open("ab", buffering=0)
    shard.truncate((folder / name).read_bytes().rfind(b"\n") + 1)
    return shard


def add_line(shard: FileIO, line: Line) -> None:
    """Write a finished piece of work durably, after its checksum."""
    rest = json.dumps(line).encode()[1:]
    shard.write(_with_checksum(rest) + b"\n")
    os.fsync(shard.fileno())


def _with_checksum(rest: bytes) -> bytes:
    return b'{"check": "%s", %s' % (sha256(rest).hexdigest()[:16].encode(), rest)


def new_lines(shards: Iterable[Path], offsets: dict[Path, int]) -> Iterator[tuple[Line, Load]]:
    """Each intact line after its shard's offset, with a function that reads it again; advances the offsets."""
    for path in shards:
        with path.open("rb") as file:
            file.seek(offsets.get(path, 0))
            for text in file:
                if not text.endswith(b"\n"):
                    break
                start = offsets.get(path, 0)
                offsets[path] = start + len(text)
                if (line := _checked(text)) is not None:
                    yield line, partial(_read_line, path, start)


def _checked(text: bytes) -> Line | None:
    line = text.removesuffix(b"\n")
    return json.loads(line) if line == _with_checksum(line[_CHECKED:]) else None


def _read_line(path: Path, start: int) -> Line:
    with path.open("rb") as file:
        file.seek(start)
        line = _checked(file.readline())
    if line is None:
        raise UserError(f"{path} was changed while it was read; give the same command again")
    return line


class Results:
    """What was computed, and from what; a chain's values are read again when they are asked for."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, Part]] = {}  # by chain and metric, what its values depend on
        # By task and metric.
        self.floors: dict[tuple[str, str], tuple[Part, dict[str, Values]]] = {}
        self._lines: dict[str, tuple[Load, ...]] = {}  # by chain; a later one replaces metrics of an earlier one
        self._damaged: dict[str, set[str]] = {}  # by chain, the metrics with values of damaged pictures

    def add(self, line: Line, load: Load | None = None) -> None:
        """Take in a line; without `load` it stays in memory."""
        if "task" in line:
            for name, part in line["parts"].items():
                names = scored_specs()[name].names
                pairs = {other: _select(values, names) for other, values in line["values"].items()}
                self.floors[line["task"], name] = part, pairs
            return
        id, damaged = line["chain"], self._damaged.pop(line["chain"], set()) - line["parts"].keys()
        if damaged := damaged | {name for name, rows in _by_metric(line).items() if _has_damage(rows)}:
            self._damaged[id] = damaged
        self.parts[id] = _shared(json.dumps(self.parts.get(id, {}) | line["parts"]))
        self._lines[id] = (*self._lines.get(id, ()), load or (lambda: line))

    def values(self, chain: str) -> dict[str, dict[int, Values]]:
        """A chain's values, by metric and step."""
        values: dict[str, dict[int, Values]] = {}
        for load in self._lines.get(chain, ()):
            values |= _by_metric(load())
        return {name: rows for name, rows in values.items() if name in self.parts[chain]}

    def pairs(self, task: FloorTask) -> dict[str, Values]:
        """The values of all metrics for each unrelated source."""
        values: dict[str, Values] = defaultdict(dict)
        for name in scored_specs():
            for other, row in self.floors.get((task.key, name), ({}, {}))[1].items():
                values[other].update(row)
        return values

    def forget_damage(self) -> None:
        """Drop the results of damaged pictures: they may have been repaired."""
        for id, names in self._damaged.items():
            kept = {name: part for name, part in self.parts[id].items() if name not in names}
            self.parts[id] = _shared(json.dumps(kept))
        self._damaged.clear()


@lru_cache(1000)
def _shared(parts: str) -> dict[str, Part]:
    """One object for all chains with equal parts, so that many chains need little memory."""
    shared: dict[str, Part] = json.loads(parts)
    return shared


def _by_metric(line: Line) -> dict[str, dict[int, Values]]:
    names = {name: scored_specs()[name].names for name in line["parts"]}
    return {
        name: {int(step): _select(values, columns) for step, values in line["rows"].items()}
        for name, columns in names.items()
    }


def _has_damage(rows: Mapping[int, Values]) -> bool:
    values = itertools.chain.from_iterable(row.values() for row in rows.values())
    return any(isinstance(value, Missing) and value.is_damage for value in values)


def _select(values: Mapping[str, object], columns: Collection[str]) -> Values:
    return {column: typed(values[column]) for column in columns if column in values}


def _engine_signature(chain: DatasetChain) -> Part:
    return {"version": _ENGINE_VERSION, "size": chain.size, "resize": "lanczos", "pixels": DECODING}


def read_results(reader: Reader, chains: Sequence[DatasetChain], tasks: Sequence[FloorTask]) -> Results:
    """The results in the dataset's files that are of unchanged pictures."""
    results, specs = Results(), scored_specs()
    chain_of = {chain.chain.id: chain for chain in chains}
    placed = zip(reader.rows(SCORES.name), reader.places(SCORES.name), strict=True)
    # A chain's rows are consecutive; if some are elsewhere, the chain is computed again.
    for id, group in itertools.groupby(placed, key=lambda pair: pair[0]["chain"]):
        rows, places = zip(*group, strict=True)
        if id in chain_of and _are_of_pictures(rows, chain_of[id]):
            results.add(_line_of(rows), partial(_read_rows, reader, spans_of(places)))
    metric_of = {column: name for name, spec in specs.items() for column in spec.names}
    keys = {task.key for task in tasks}
    for row in reader.rows(FLOORS.name):
        signature, name = signature_of(row), metric_of.get(row["metric"])
        key = signature.get("pictures")
        if key in keys and name in signature:
            _, pairs = results.floors.setdefault((str(key), name), (signature[name], {}))
            pairs.setdefault(row["other"], {})[row["metric"]] = row["value"]
    return results


def _read_rows(reader: Reader, spans: Sequence[Span]) -> Line:
    return _line_of([row for _, row in rows_at(reader, spans)])


def _line_of(rows: Sequence[_Row]) -> Line:
    """A chain's rows of the scores, as a shard would hold them."""
    specs = scored_specs()
    parts = {name: part for name, part in signature_of(rows[0]).items() if name in specs}
    columns = [column for name in parts for column in specs[name].names]
    with_pictures = {row["step"]: _recorded(row, columns) for row in rows if row["sha256"]}
    return {"chain": rows[0]["chain"], "parts": parts, "rows": with_pictures}


def _are_of_pictures(rows: Sequence[_Row], chain: DatasetChain) -> bool:
    pictures = [(number, placed and placed.step.sha256) for number, placed in chain.steps.items()]
    return (
        [(row["step"], row["sha256"]) for row in rows] == pictures
        and signature_of(rows[0]).get("engine") == _engine_signature(chain)
        and len({row["signature"] for row in rows}) == 1
    )


def _recorded(row: _Row, columns: Sequence[str]) -> Values:
    missing, values = missing_values(row), Values()
    for column in columns:
        value = row.get(column)
        value = json.loads(value) if isinstance(value, str) else value
        values[column] = missing.get(column, Missing("missing")) if value is None else value
    return values


def chain_rows(
    chain: DatasetChain, results: Results, specs: Mapping[str, Spec], absent: Mapping[str, str], floors: Medians
) -> Iterator[tuple[Json, Values]]:
    done, program = chain.chain, chain.chain.program
    parts, computed = results.parts.get(done.id, {}), results.values(done.id)
    signature = {"engine": _engine_signature(chain), **{name: parts[name] for name in specs if name in parts}}
    before = chain.input and chain.input.step
    for number, placed in chain.steps.items():
        step, values = placed and placed.step, Values()
        unscored = _why_unscored(step)
        for name, spec in specs.items():
            if unscored or name not in computed:
                reason = Missing("absent", absent[name]) if name in absent else Missing("not_asked", name)
                values |= dict.fromkeys(spec.names, unscored or reason)
            else:
                values |= computed[name][number]
        values |= _derived(chain, values, specs, floors)
        size, size_before = _size(step), _size(before)
        is_known = size and size_before
        values[CHANGED_SIZE] = size != size_before if is_known else unscored or Missing("previous_missing")
        before = step if size else before
        row = {
            **place_columns(done),
            "step": number,
            "round": (number - 1) // len(program.cycle) + 1,
            "position": (number - 1) % len(program.cycle) + 1,
            "status": step.status if step else "missing",
            "sha256": step and step.sha256,
            **{name: _stored(value) for name, value in values.items()},
            "reasons": reasons_json(values),
            "signature": json.dumps(signature, ensure_ascii=False),
        }
        yield row, values


def _derived(chain: DatasetChain, values: Values, specs: Mapping[str, Spec], floors: Medians) -> Values:
    columns, derived = [column for spec in specs.values() for column in spec.columns], Values()
    # Without a clean picture, metrics that compare with the reference say nothing: those with a ceiling.
    if chain.chain.program.category == "restoration" and chain.own_reference is None:
        comparing = [column.name for column in columns if column.ceiling is not None]
        derived = {
            name: Missing("no_clean_picture") for name in comparing if not isinstance(values[name], Missing)
        }
    for column in [column for column in columns if column.floor]:
        derived[column.retained] = _retained(column, derived.get(column.name, values[column.name]), floors)
    return derived


def _size(step: Step | None) -> tuple[int, int | None] | None:
    return (step.width, step.height) if step and step.width is not None else None


def _why_unscored(step: Step | None) -> Missing | None:
    if step is None:
        return Missing("missing")
    return None if step.status == "ok" else Missing(step.status, step.reason or "")


def _retained(column: ScoreColumn, value: Value, floors: Medians) -> Value:
    """The value scaled so that 1 is an untouched picture and 0 an unrelated one."""
    ceiling = column.ceiling or 0.0
    if isinstance(value, Missing):
        return value
    if floors.get(column.name, ceiling) == ceiling:
        return Missing("no_floor")
    return retained_value(cast(float, value), floors[column.name], ceiling)


def _stored(value: Value) -> float | bool | str | None:
    if isinstance(value, Missing):
        return None
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


def floor_rows(tasks: Sequence[FloorTask], results: Results) -> Iterator[dict[str, object]]:
    for task in tasks:
        computed = [(name, *results.floors.get((task.key, name), ({}, {}))) for name in scored_specs()]
        for other in task.unrelated:
            pair = {"source": task.reference.source, "other": other.source, "short_side": task.short_side}
            for name, part, values in computed:
                signature = json.dumps({name: part, "pictures": task.key}, ensure_ascii=False)
                for column, value in values.get(other.source, {}).items():
                    yield pair | {"metric": column, "value": value, "signature": signature}
