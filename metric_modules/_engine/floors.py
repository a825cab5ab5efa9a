"""Floors: every metric between unrelated pictures of a suite, in float32, and the scale that they set."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import median

import numpy as np
from convergebench.dataset_builder.dataset.reader import Place, Reader
from convergebench.generation.pictures import Undecodable, resize_to
from convergebench.generation.records import UserError

from ..scores import Value, Values
from ..specs import ScoreColumn
from .chains import DatasetChain, read_picture
from .metrics import MetricRun, typed
from .score_chain import Reference

_HALF = 0.5  # the threshold of retained quality that headlines use
Medians = dict[str, float]  # by column
FloorPlace = tuple[str, str, int]  # suite, source and evaluation size


@dataclass(frozen=True)
class Original:
    """The picture that a source is compared by."""

    source: str
    sha256: str
    place: Place
    column: str

    def read(self, reader: Reader) -> np.ndarray:
        """The picture, if it is still the one that was written."""
        digest = self.sha256 if self.column == "image" else None
        try:
            return read_picture(reader.picture_at, self.place, digest, self.column, of_pixels=True)
        except Undecodable as error:
            advice = "let `convergebench verify --repair` set its file aside and build again"
            raise UserError(f"source {self.source}: {error}; {advice}") from error


@dataclass(frozen=True)
class FloorTask:
    """A reference at one size, and the sources unrelated to it."""

    reference: Original
    short_side: int
    unrelated: tuple[Original, ...]

    @property
    def place(self) -> tuple[str, int]:
        return self.reference.source, self.short_side

    @property
    def key(self) -> str:
        """A key that changes with any picture of the task."""
        others = [f"{other.source}:{other.sha256}" for other in self.unrelated]
        content = [self.reference.sha256, self.short_side, *others]
        return sha256(repr(content).encode()).hexdigest()[:16]


def floor_place(chain: DatasetChain) -> FloorPlace:
    """The key of a chain's floors: suite, source and evaluation size."""
    side = chain.chain.short_side
    if side is None and chain.input_size:
        side = min(chain.input_size)
    return chain.chain.suite, chain.chain.source.id, side or 0


def suite_sources(chains: Iterable[DatasetChain]) -> dict[str, set[str]]:
    sources = defaultdict(set)
    for chain in chains:
        sources[chain.chain.suite].add(chain.chain.source.id)
    return sources


def originals_of(reader: Reader) -> dict[str, Original]:
    rows = reader.table("sources", ["source", "sha256"]).to_pylist()
    places = zip(rows, reader.places("sources"), strict=True)
    return {row["source"]: Original(row["source"], row["sha256"], place, "image") for row, place in places}


def plan_floors(reader: Reader, chains: Sequence[DatasetChain]) -> list[FloorTask]:
    """The comparisons to make: each reference once for each evaluation size."""
    originals = originals_of(reader)
    for chain in chains:
        if chain.own_reference is not None:
            source = chain.chain.source
            originals[source.id] = Original(
                source.id, source.reference or "None", chain.own_reference, "reference"
            )
    suites = suite_sources(chains)
    source_names: dict[tuple[str, int], set[str]] = defaultdict(set)
    for suite, source_id, side in map(floor_place, chains):
        if side:
            source_names[source_id, side] |= suites[suite]
    tasks = [
        floor_task(originals[source_id], side, [originals[name] for name in sorted(names) if name in originals])
        for (source_id, side), names in sorted(source_names.items())
        if source_id in originals
    ]
    return [task for task in tasks if task.unrelated]


def floor_task(reference: Original, short_side: int, others: Iterable[Original]) -> FloorTask:
    """Several degradations of one clean picture count once."""
    unrelated = {other.sha256: other for other in others if other.sha256 != reference.sha256}
    return FloorTask(reference, short_side, tuple(unrelated.values()))


def compare_unrelated(reader: Reader, task: FloorTask, runs: Sequence[MetricRun]) -> dict[str, Values]:
    """Each metric's values for every unrelated source, by the source's id."""
    reference = Reference(task.reference.read(reader), task.short_side)
    pairs: dict[str, Values] = {}
    for other in task.unrelated:
        unrelated = resize_to(other.read(reader), *reference.size)
        row: Values = {}
        for run in runs:
            exact = run.exact or run
            [values] = exact.scorer.compare(reference.prepared_for(exact), [unrelated], [row])
            row |= {column: typed(value) for column, value in values.items() if column in run.spec.floors}
        pairs[other.source] = {column: value for column, value in row.items() if isinstance(value, float)}
    return pairs


def floor_medians(values: Mapping[str, Values], suite: set[str]) -> Medians:
    columns = defaultdict(list)
    for other in values.keys() & suite:
        for column, value in values[other].items():
            if isinstance(value, float):
                columns[column].append(value)
    return {column: floor(numbers) for column, numbers in columns.items()}


def floor(unrelated: Sequence[float]) -> float:
    """A reference's floor: the median of a metric over all unrelated sources of the suite."""
    return float(median(unrelated))


def retained_value(value: float, floor: float, ceiling: float) -> float:
    """r = (value - floor) / (ceiling - floor), clipped to 0..1: 1 = untouched, 0 = another picture altogether."""
    return min(max((value - floor) / (ceiling - floor), 0.0), 1.0)


def is_near_threshold(columns: Mapping[str, ScoreColumn], floors: Medians, name: str, value: Value) -> bool:
    """Whether the last digits of a value decide a headline."""
    column = columns[name]
    own_floor = floors.get(name)
    if not column.bfloat16_error or own_floor is None or not isinstance(value, float):
        return False
    return abs(value - ((column.ceiling or 0.0) + own_floor) * _HALF) <= column.bfloat16_error
