"""What has been scored before, in the dataset or by a run that was cut short, and whether it still holds."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convergebench.dataset_builder.dataset.schema import FLOORS, SCORES, Reader

from .cases import Case
from .chain import NOT_A_NUMBER, UNREADABLE
from .floors import Task
from .measures import Values, part

SEPARATOR = " | "
Rows = dict[int, Values]


def damaged(values: Mapping[str, object]) -> bool:
    """Whether a row tells of damage; such a row is tried again, for the damage may have been repaired."""
    return any(isinstance(value, str) and value.startswith((UNREADABLE, NOT_A_NUMBER)) for value in values.values())


@dataclass
class Known:
    """Values by chain and metric, each with the signature under which they were found."""

    scores: dict[tuple[str, str], tuple[str, Rows]] = field(default_factory=dict)
    floors: dict[tuple[str, str], tuple[str, dict[str, Values]]] = field(default_factory=dict)

    def has(self, case: Case, name: str, signature: str) -> bool:
        found = self.scores.get((case.id, name))
        return found is not None and found[0] == signature

    def metrics(self, case: Case) -> list[str]:
        """The metrics that are known of a chain."""
        return [name for chain, name in self.scores if chain == case.id]

    def line(self, line: Mapping[str, Any], columns: Mapping[str, Sequence[str]], current: Mapping[str, str]) -> None:
        """Take in finished work from a shard, if it is of the pictures that are there now."""
        if "task" in line:
            for name, signature in line["parts"].items():
                own = {other: only(values, columns[name]) for other, values in line["values"].items()}
                self.floors[line["task"], name] = signature, own
        elif "chain" in line and current.get(line["chain"]) == line["digest"]:
            rows = {int(step): values for step, values in line["rows"].items()}
            for name, signature in line["parts"].items():
                own = {step: only(values, columns[name]) for step, values in rows.items()}
                self.scores[line["chain"], name] = signature, own

    def forget_damage(self) -> None:
        """What was damaged is tried again."""
        for key in [key for key, (_, rows) in self.scores.items() if any(map(damaged, rows.values()))]:
            del self.scores[key]


def only(values: Mapping[str, Any], columns: Iterable[str]) -> Values:
    return {column: values[column] for column in columns if column in values}


def from_dataset(
    reader: Reader, cases: Sequence[Case], head: Mapping[str, str], columns: Mapping[str, Sequence[str]]
) -> Known:
    """The scores that the dataset holds, of the chains whose pictures are still the same."""
    known = Known()
    if not reader.files(SCORES.name):
        return known
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in reader.rows(SCORES.name):
        rows[row["chain"]].append(row)
    for case in cases:
        own = rows.get(case.id, [])
        if [(row["step"], row["sha256"]) for row in own] != [(shot.step, shot.sha256) for shot in case.steps]:
            continue
        first, *parts = own[0]["signature"].split(SEPARATOR) if own else [""]
        if first != head.get(case.id) or len({row["signature"] for row in own}) > 1:
            continue
        for signature in parts:
            if part(signature) in columns:
                found = {row["step"]: recorded(row, columns[part(signature)]) for row in own}
                scored = {shot.step: found[shot.step] for shot in case.steps if shot.scored}
                known.scores[case.id, part(signature)] = signature, scored
    return known


def recorded(row: Mapping[str, Any], columns: Sequence[str]) -> Values:
    """A metric's values in a row of the scores, or the reasons why there are none."""
    reasons = json.loads(row["reasons"] or "{}")
    return {column: row[column] if row[column] is not None else reasons.get(column, "") for column in columns}


def add_floors(known: Known, reader: Reader, tasks: Sequence[Task], columns: Mapping[str, Sequence[str]]) -> None:
    """The floors that the dataset holds, of the references and sources that are still the same."""
    if not reader.files(FLOORS.name):
        return
    owner = {column: name for name, own in columns.items() for column in own}
    keys = {task.key for task in tasks}
    for row in reader.rows(FLOORS.name):
        signature, _, key = row["signature"].rpartition(f"{SEPARATOR}pictures=")
        if key in keys and row["metric"] in owner:
            _, values = known.floors.setdefault((key, owner[row["metric"]]), (signature, {}))
            values.setdefault(row["other"], {})[row["metric"]] = row["value"]
