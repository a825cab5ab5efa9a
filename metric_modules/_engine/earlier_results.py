"""Results of earlier work: those in the dataset's files, and those in the shards of a run that was cut short.

A shard is one process's file: a line for each finished chain or floor task, durable before it counts. A crash at any
byte loses at most the line being written. What is in the files is not computed again, by however many processes the
work is taken up.
"""

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader

from ..scores import FLOORS, SCORES, Missing, Values, missing_values, signature_of
from ..specs import Spec
from .chains import DatasetChain
from .floors import FloorTask
from .score_chain import typed

FOLDER = ".scoring"
ENGINE_VERSION = 1
CHECKED = len('{"check": "0123456789abcdef", ')  # where the part of a line begins that its checksum is of
Part = dict[str, Any]  # one metric's part of a signature


class Shard:
    """A file that this process writes, a line for each finished chain or floor task."""

    def __init__(self, folder: Path, name: str):
        path = folder / name
        self.file = path.open("ab", buffering=0)
        self.file.truncate(path.read_bytes().rfind(b"\n") + 1)  # without the line that a crash cut short

    def __enter__(self) -> "Shard":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def add(self, line: dict[str, Any]) -> None:
        """Write one finished piece of work, durably."""
        self.file.write(with_checksum(line) + b"\n")
        os.fsync(self.file.fileno())


def with_checksum(line: Mapping[str, Any]) -> bytes:
    """A line of JSON that begins with the checksum of the rest."""
    rest = json.dumps(line).encode()[1:]
    return b'{"check": "%s", %s' % (sha256(rest).hexdigest()[:16].encode(), rest)


def is_as_written(line: bytes) -> bool:
    """Whether a line is the one that was written; one that is not is computed again."""
    return line == b'{"check": "%s", %s' % (sha256(line[CHECKED:]).hexdigest()[:16].encode(), line[CHECKED:])


class ShardLines:
    """The lines of all shards in a folder but those left out, each of them read once."""

    def __init__(self, folder: Path, left_out: Callable[[str], bool] = lambda name: False):
        self.folder, self.left_out = folder, left_out
        self.offsets: dict[Path, int] = {}

    def new(self) -> Iterator[dict[str, Any]]:
        """The lines that were not there the last time; a last line that a crash cut short is left out."""
        for path in sorted(self.folder.glob("*.jsonl")):
            if self.left_out(path.name):
                continue
            start = self.offsets.get(path, 0)
            with path.open("rb") as file:
                file.seek(start)
                data = file.read()
            whole = data.rfind(b"\n") + 1
            self.offsets[path] = start + whole
            for line in data[:whole].splitlines():
                if is_as_written(line):
                    yield json.loads(line)


@dataclass
class Results:
    """Values by chain and metric, each with the part of the signature under which they were computed."""

    scores: dict[tuple[str, str], tuple[Part, dict[int, Values]]] = field(default_factory=dict)
    floors: dict[tuple[str, str], tuple[Part, dict[str, Values]]] = field(default_factory=dict)  # by task and metric
    damaged: dict[str, dict[str, str]] = field(default_factory=dict)  # by task: sources that are damaged, and how

    def add_lines(
        self, lines: Iterable[Mapping[str, Any]], specs: Mapping[str, Spec], digests: Mapping[str, str]
    ) -> None:
        """Take in finished work from shards, if it is of the pictures that are there now."""
        for line in lines:
            if "task" in line:
                self.damaged.setdefault(line["task"], {}).update(line.get("damaged") or {})
                for name, part in line["parts"].items():
                    own = {other: select(values, specs[name].names) for other, values in line["values"].items()}
                    self.floors[line["task"], name] = part, own
            elif digests.get(line["chain"]) == line["digest"]:
                for name, part in line["parts"].items():
                    rows = {int(step): select(values, specs[name].names) for step, values in line["rows"].items()}
                    self.scores[line["chain"], name] = part, rows

    def forget_damage(self) -> None:
        """Drop what was damaged, so that it is tried again: it may have been repaired."""
        for key in [key for key in self.floors if self.damaged.get(key[0])]:
            del self.floors[key]
        self.damaged.clear()
        for key, (_, rows) in list(self.scores.items()):
            if any(
                isinstance(value, Missing) and value.reason.damage for row in rows.values() for value in row.values()
            ):
                del self.scores[key]


def select(values: Mapping[str, Any], columns: Iterable[str]) -> Values:
    return {column: typed(values[column]) for column in columns if column in values}


def engine_signature(chain: DatasetChain) -> Part:
    """What all metrics' values of a chain depend on: how pictures are decoded, and at which size they are compared."""
    from convergebench.generation.pictures import DECODING

    return {"version": ENGINE_VERSION, "size": chain.size, "resize": "lanczos", "pixels": DECODING}


def read_results(
    reader: Reader, chains: Sequence[DatasetChain], tasks: Sequence[FloorTask], specs: Mapping[str, Spec]
) -> Results:
    """The scores and floors that the dataset holds, of chains and sources whose pictures are still the same."""
    results = Results()
    add_scores(results, reader, chains, specs)
    add_floors(results, reader, {task.key for task in tasks}, specs)
    return results


def add_scores(results: Results, reader: Reader, chains: Sequence[DatasetChain], specs: Mapping[str, Spec]) -> None:
    of_id = {chain.chain.id: chain for chain in chains}
    # A chain's rows stand together; those of one that do not are not all of its steps, and it is computed again.
    for name, group in itertools.groupby(reader.rows(SCORES.name), key=lambda row: row["chain"]):
        chain, own = of_id.get(name), list(group)
        if chain is None:
            continue
        pictures = [(number, placed and placed.step.sha256) for number, placed in chain.steps.items()]
        if [(row["step"], row["sha256"]) for row in own] != pictures:
            continue
        signature = signature_of(own[0])
        if signature.get("engine") != engine_signature(chain) or len({row["signature"] for row in own}) > 1:
            continue
        scored = {placed.step.step for placed in chain.scored_steps}
        for name in signature.keys() & specs.keys():
            found = {row["step"]: recorded(row, specs[name].names) for row in own if row["step"] in scored}
            results.scores[chain.chain.id, name] = signature[name], found


def recorded(row: Mapping[str, Any], columns: Sequence[str]) -> Values:
    """A metric's values in a row of the scores, or why there are none."""
    missing = missing_values(row)
    return {
        column: read_back(row[column]) if row.get(column) is not None else missing.get(column, Missing("missing"))
        for column in columns
    }


def read_back(value: Any) -> Any:
    """A value of the scores as the metric gave it."""
    return json.loads(value) if isinstance(value, str) else value


def add_floors(results: Results, reader: Reader, keys: set[str], specs: Mapping[str, Spec]) -> None:
    metric_of = {column: name for name, spec in specs.items() for column in spec.names}
    for row in reader.rows(FLOORS.name):
        signature, name = signature_of(row), metric_of.get(row["metric"])
        key = signature.get("pictures")
        if key in keys and name in signature:
            _, values = results.floors.setdefault((str(key), name), (signature[name], {}))
            values.setdefault(row["other"], {})[row["metric"]] = row["value"]
