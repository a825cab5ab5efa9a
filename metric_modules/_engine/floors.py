"""Floors: every metric between each reference and all unrelated sources of its suite, in float32."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from convergebench.dataset_builder.dataset.schema import Place, Reader

from ..psnr.images import brought, target
from ..retained.floors import floor
from .cases import Case
from .chain import Known, read
from .measures import Measure, Value, Values
from .reading import Unreadable

HALF = 0.5  # the threshold of retained quality that headlines use
Medians = dict[str, float]


@dataclass(frozen=True)
class Original:
    """A source as it is compared with others: its own picture, or its reference where that is another."""

    source: str
    sha256: str
    place: Place
    column: str

    def read(self, reader: Reader) -> Any:
        return read(reader, self.place, None, self.column)


@dataclass(frozen=True)
class Task:
    """One reference at one evaluation size, and the sources that are unrelated to it."""

    reference: Original
    short_side: int
    others: tuple[Original, ...]

    @property
    def key(self) -> str:
        """Names the task by all pictures in it."""
        words = [self.reference.sha256, self.short_side, *(f"{one.source}:{one.sha256}" for one in self.others)]
        return sha256(repr(words).encode()).hexdigest()[:16]


def short_side(case: Case) -> int | None:
    """The evaluation size of a chain: its suite's, or its reference's own."""
    given = case.chain["short_side"]
    if given is None and case.input and case.input.width and case.input.height:
        return min(case.input.width, case.input.height)
    return given


def originals(reader: Reader, cases: Iterable[Case]) -> dict[str, Original]:
    """Every source by its id."""
    found = {}
    rows = reader.table("sources", ["source", "sha256", "reference"]).to_pylist()
    for row, place in zip(rows, reader.places("sources"), strict=True):
        found[row["source"]] = Original(row["source"], row["sha256"], place, "image")
    for case in cases:
        if case.own_reference is not None:
            name = case.chain["source"]
            found[name] = Original(name, case.chain["reference_sha256"], case.own_reference, "reference")
    return found


def members(cases: Iterable[Case]) -> dict[str, set[str]]:
    """The sources of each suite."""
    found = defaultdict(set)
    for case in cases:
        found[case.chain["suite"] or ""].add(case.chain["source"])
    return found


def plan(reader: Reader, cases: Sequence[Case]) -> list[Task]:
    """What has to be compared with what: each reference once for each evaluation size."""
    known = originals(reader, cases)
    suites = members(cases)
    wanted: dict[tuple[str, int], set[str]] = defaultdict(set)
    for case in cases:
        side = short_side(case)
        if side is not None:
            wanted[case.chain["source"], side] |= suites[case.chain["suite"] or ""]
    tasks = []
    for (source, side), names in sorted(wanted.items()):
        own = known.get(source)
        others = [known[name] for name in sorted(names) if name in known]
        unrelated = tuple(other for other in others if own and other.sha256 != own.sha256)
        if own and unrelated:
            tasks.append(Task(own, side, unrelated))
    return tasks


def compare(reader: Reader, task: Task, measures: Sequence[Measure]) -> dict[str, Values]:
    """Each metric's values for every unrelated source, by the source's id."""
    try:
        picture = task.reference.read(reader)
    except Unreadable:
        return {}
    height, width = picture.shape[:2]
    known = Known(brought(picture, *target(width, height, task.short_side)))
    found: dict[str, Values] = {}
    for other in task.others:
        try:
            stranger = brought(other.read(reader), *known.size)
        except Unreadable:
            continue
        row: Values = {}
        for measure in measures:
            exact = measure.exact or measure
            [values] = exact.compare(known.side(exact), [stranger], [row])
            row |= {column: value for column, value in values.items() if column in measure.floors}
        found[other.source] = {column: value for column, value in row.items() if isinstance(value, float)}
    return found


def medians(values: Mapping[str, Values], suite: set[str]) -> dict[str, float]:
    """The floor of each metric, over the unrelated sources of one suite."""
    columns = defaultdict(list)
    for other, row in values.items():
        for column, value in row.items():
            if other in suite:
                columns[column].append(float(value))
    return {column: floor(numbers) for column, numbers in columns.items()}


def near(known: Medians, tolerances: Mapping[str, float], column: str, value: Value) -> bool:
    """Whether a value is so close to a threshold that its last digits decide."""
    if isinstance(value, str) or column not in tolerances:
        return False
    thresholds = {
        "lpips": known.get("lpips", float("inf")) * HALF,
        "lpips_worst_tile": known.get("lpips", float("inf")),
        "clip": (1 + known.get("clip", float("inf"))) * HALF,
    }
    return abs(value - thresholds[column]) <= tolerances[column]
