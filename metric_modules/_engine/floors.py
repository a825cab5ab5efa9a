"""Floors: every metric between each reference and all unrelated sources of its suite, in float32."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from convergebench.dataset_builder.dataset.reader import Place, Reader
from convergebench.generation.pictures import resize_to

from ..retained.floors import floor
from ..scores import Value, Values
from ..specs import ScoreColumn
from .chains import DatasetChain, Unreadable, read_picture
from .metrics import MetricRun
from .score_chain import Reference, typed

HALF = 0.5  # the threshold of retained quality that headlines use
Medians = dict[str, float]  # by column
FloorPlace = tuple[str, str, int]  # suite, source and evaluation size


@dataclass(frozen=True)
class Original:
    """A source as it is compared with others: its own picture, or its reference where that is another."""

    source: str
    sha256: str
    place: Place
    column: str


@dataclass(frozen=True)
class FloorTask:
    """One reference at one evaluation size, and the sources that are unrelated to it."""

    reference: Original
    short_side: int
    unrelated: tuple[Original, ...]

    @property
    def key(self) -> str:
        """Names the task by all pictures in it."""
        words = [self.reference.sha256, self.short_side, *(f"{one.source}:{one.sha256}" for one in self.unrelated)]
        return sha256(repr(words).encode()).hexdigest()[:16]


def floor_short_side(chain: DatasetChain) -> int | None:
    """The evaluation size of a chain's floors: its suite's, or its reference's own."""
    if chain.short_side is None and chain.input and chain.input.step.width and chain.input.step.height:
        return min(chain.input.step.width, chain.input.step.height)
    return chain.short_side


def floor_place(chain: DatasetChain) -> FloorPlace:
    """Where a chain finds its floors."""
    return chain.chain.suite, chain.chain.source.id, floor_short_side(chain) or 0


def suite_sources(chains: Iterable[DatasetChain]) -> dict[str, set[str]]:
    """The sources of each suite."""
    found = defaultdict(set)
    for chain in chains:
        found[chain.chain.suite].add(chain.chain.source.id)
    return found


def plan_floors(reader: Reader, chains: Sequence[DatasetChain]) -> list[FloorTask]:
    """What has to be compared with what: each reference once for each evaluation size."""
    originals = {}
    rows = reader.table("sources", ["source", "sha256"]).to_pylist()
    for row, place in zip(rows, reader.places("sources"), strict=True):
        originals[row["source"]] = Original(row["source"], row["sha256"], place, "image")
    for chain in chains:
        if chain.own_reference is not None:
            source = chain.chain.source
            originals[source.id] = Original(source.id, source.reference or "None", chain.own_reference, "reference")
    suites = suite_sources(chains)
    wanted: dict[tuple[str, int], set[str]] = defaultdict(set)
    for chain in chains:
        side = floor_short_side(chain)
        if side is not None:
            wanted[chain.chain.source.id, side] |= suites[chain.chain.suite]
    tasks = []
    for (source_id, side), names in sorted(wanted.items()):
        own = originals.get(source_id)
        others = [originals[name] for name in sorted(names) if name in originals]
        # Several degradations of one clean picture have one reference: it counts once.
        unrelated = tuple({other.sha256: other for other in others if own and other.sha256 != own.sha256}.values())
        if own and unrelated:
            tasks.append(FloorTask(own, side, unrelated))
    return tasks


def read_original(reader: Reader, original: Original) -> np.ndarray:
    """A source's picture, or its reference, if it is still the one that was written."""
    if original.column == "reference":
        return read_picture(reader, original.place, reader.reference_hash(original.place), "reference")
    return read_picture(reader, original.place, original.sha256, of_pixels=True)


def compare_unrelated(
    reader: Reader, task: FloorTask, runs: Sequence[MetricRun]
) -> tuple[dict[str, Values], dict[str, str]]:
    """Each metric's values for every unrelated source, by the source's id; and which sources are damaged, and how."""
    try:
        picture = read_original(reader, task.reference)
    except Unreadable as error:
        return {}, {task.reference.source: str(error)}
    reference = Reference.at_evaluation_size(picture, task.short_side)
    found: dict[str, Values] = {}
    damaged: dict[str, str] = {}
    for other in task.unrelated:
        try:
            unrelated = resize_to(read_original(reader, other), *reference.size)
        except Unreadable as error:
            damaged[other.source] = str(error)
            continue
        row: Values = {}
        for run in runs:
            exact = run.exact or run
            [values] = exact.scorer.compare(reference.prepared_for(exact), [unrelated], [row])
            row |= {column: typed(value) for column, value in values.items() if column in run.spec.floors}
        found[other.source] = {column: value for column, value in row.items() if isinstance(value, float)}
    return found, damaged


def floor_medians(values: Mapping[str, Values], suite: set[str]) -> Medians:
    """The floor of each column, over the unrelated sources of one suite."""
    columns = defaultdict(list)
    for other, row in values.items():
        for column, value in row.items():
            if other in suite and isinstance(value, float):
                columns[column].append(value)
    return {column: floor(numbers) for column, numbers in columns.items()}


def is_near_threshold(columns: Mapping[str, ScoreColumn], floors: Medians, name: str, value: Value) -> bool:
    """Whether a value is so close to a threshold of the headline that its last digits decide."""
    column = columns[name]
    bottom = floors.get(column.floor_of or name)
    if not column.bfloat16_error or bottom is None or not isinstance(value, float):
        return False
    threshold = bottom if column.floor_of else ((column.ceiling or 0.0) + bottom) * HALF
    return abs(value - threshold) <= column.bfloat16_error
