"""Earlier results: in the dataset, and in shards of unfinished runs.

A shard is one process's file: a line for each finished chain or floor task, durable before it counts. A crash at any
byte loses at most the line being written. Finished work is not computed again, whatever number of processes resume it.
"""

import itertools
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import FLOORS
from convergebench.generation.pictures import DECODING

from ..scores import SCORES, Missing, Values, missing_values, signature_of
from ..specs import Spec
from .chains import DatasetChain
from .floors import FloorTask
from .metrics import Part, typed

FOLDER = ".scoring"
CHECKED = len('{"check": "0123456789abcdef", ')  # offset in a line of the text that its checksum covers
_ENGINE_VERSION = 1
Line = dict[str, Any]  # of a shard, as JSON


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


class ShardLines:
    """The lines of the shards, each read once, without the `skipped` files."""

    def __init__(self, folder: Path, skipped: Callable[[str], bool] = lambda name: False):
        self.folder, self.skipped = folder, skipped
        self.offsets: dict[Path, int] = {}

    def new(self) -> Iterator[Line]:
        """The intact lines since the last call; half a line waits."""
        for path in sorted(self.folder.glob("*.jsonl")):
            if self.skipped(path.name):
                continue
            start = self.offsets.get(path, 0)
            with path.open("rb") as file:
                file.seek(start)
                data = file.read()
            end = data.rfind(b"\n") + 1
            self.offsets[path] = start + end
            for line in data[:end].splitlines():
                if line == _with_checksum(line[CHECKED:]):
                    yield json.loads(line)


@dataclass
class Results:
    """Values by chain and metric, with their part of the signature."""

    scores: dict[tuple[str, str], tuple[Part, dict[int, Values]]] = field(default_factory=dict)
    floors: dict[tuple[str, str], tuple[Part, dict[str, Values]]] = field(default_factory=dict)  # by task and metric

    def add_lines(self, lines: Iterable[Line], specs: Mapping[str, Spec], digests: Mapping[str, str]) -> None:
        """Add finished work from shards if it belongs to the present pictures."""
        for line in lines:
            if "task" in line:
                for name, part in line["parts"].items():
                    pairs = {other: _select(values, specs[name]) for other, values in line["values"].items()}
                    self.floors[line["task"], name] = part, pairs
            elif digests.get(line["chain"]) == line["digest"]:
                for name, part in line["parts"].items():
                    rows = {int(step): _select(values, specs[name]) for step, values in line["rows"].items()}
                    self.scores[line["chain"], name] = part, rows

    def pairs(self, task: FloorTask, metrics: Iterable[str]) -> dict[str, Values]:
        """The values of all these metrics for each unrelated source."""
        values: dict[str, Values] = defaultdict(dict)
        for name in metrics:
            for other, row in self.floors.get((task.key, name), ({}, {}))[1].items():
                values[other].update(row)
        return values

    def forget_damage(self) -> None:
        """Drop the results of damaged pictures: they may have been repaired."""
        for key, (_, rows) in list(self.scores.items()):
            values = itertools.chain.from_iterable(row.values() for row in rows.values())
            if any(isinstance(value, Missing) and value.reason.damage for value in values):
                del self.scores[key]


def _select(values: Mapping[str, object], spec: Spec) -> Values:
    return {column: typed(values[column]) for column in spec.names if column in values}


def engine_signature(chain: DatasetChain) -> Part:
    """How a chain's pictures are decoded, and their size."""
    return {"version": _ENGINE_VERSION, "size": chain.size, "resize": "lanczos", "pixels": DECODING}


def read_results(
    reader: Reader, chains: Sequence[DatasetChain], tasks: Sequence[FloorTask], specs: Mapping[str, Spec]
) -> Results:
    """What the files hold of pictures that are still the same."""
    results = Results()
    _add_scores(results, reader, {chain.chain.id: chain for chain in chains}, specs)
    metric_of = {column: name for name, spec in specs.items() for column in spec.names}
    keys = {task.key for task in tasks}
    for row in reader.rows(FLOORS.name):
        signature, name = signature_of(row), metric_of.get(row["metric"])
        key = signature.get("pictures")
        if key in keys and name in signature:
            _, values = results.floors.setdefault((str(key), name), (signature[name], {}))
            values.setdefault(row["other"], {})[row["metric"]] = row["value"]
    return results


def _add_scores(
    results: Results, reader: Reader, chains: Mapping[str, DatasetChain], specs: Mapping[str, Spec]
) -> None:
    # A chain's rows are consecutive; if some are elsewhere, the chain is computed again.
    for name, group in itertools.groupby(reader.rows(SCORES.name), key=lambda row: row["chain"]):
        chain, rows = chains.get(name), list(group)
        if chain is None:
            continue
        pictures = [(number, placed and placed.step.sha256) for number, placed in chain.steps.items()]
        if [(row["step"], row["sha256"]) for row in rows] != pictures:
            continue
        signature = signature_of(rows[0])
        if signature.get("engine") != engine_signature(chain) or len({row["signature"] for row in rows}) > 1:
            continue
        scored = {placed.step.step for placed in chain.scored_steps}
        for metric in signature.keys() & specs.keys():
            values = {row["step"]: _recorded(row, specs[metric].names) for row in rows if row["step"] in scored}
            results.scores[chain.chain.id, metric] = signature[metric], values


def _recorded(row: Mapping[str, Any], columns: Sequence[str]) -> Values:
    missing, values = missing_values(row), Values()
    for column in columns:
        value = row.get(column)
        value = json.loads(value) if isinstance(value, str) else value
        values[column] = missing.get(column, Missing("missing")) if value is None else value
    return values
