"""Scores one chain: each different picture is read once and shown to every metric."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy
import pyarrow as pa
from convergebench.dataset_builder.dataset.schema import Place, Reader

from ..psnr.images import brought, target
from . import edits, recall
from .cases import Case, Shot
from .measures import Measure, Value, Values, part
from .reading import Unreadable, decode

UNREADABLE = "unreadable: "  # begins a reason that is nobody's answer but damage to the dataset
NOT_A_NUMBER = "not a number: "
LARGE = 3 * 2048 * 2048  # values of a picture
Clock = Callable[[str], AbstractContextManager[None]]
Near = Callable[[str, Value], bool]


@dataclass
class Known:
    """A reference at the evaluation size, with what each metric knows of it; each is worked out once."""

    picture: numpy.ndarray
    sides: dict[str, Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @property
    def size(self) -> tuple[int, int]:
        return self.picture.shape[1], self.picture.shape[0]

    def side(self, measure: Measure) -> Any:
        with self.lock:
            if measure.signature not in self.sides:
                if self.picture.size > LARGE:  # not bfloat16 and float32 at once
                    self.sides = {key: side for key, side in self.sides.items() if part(key) != measure.name}
                self.sides[measure.signature] = measure.prepare(self.picture)
            return self.sides[measure.signature]


def read(reader: Reader, place: Place | None, sha256: str | None, column: str = "image") -> numpy.ndarray:
    """A picture of the dataset, decoded; where its hash is known, only the bytes that have it count."""
    if place is None:
        raise Unreadable("its file is not in the dataset")
    try:
        data = reader.picture_at(place, column)
    except (OSError, pa.ArrowException) as error:
        raise Unreadable(f"{place.file} cannot be read ({str(error).splitlines()[0][:80]})") from error
    if data is None:
        raise Unreadable("the picture's bytes are not in the dataset")
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise Unreadable(f"{len(data)} bytes that are not those received")
    return decode(data)


def read_input(reader: Reader, case: Case, copies: Sequence[Place]) -> numpy.ndarray:
    """A chain's input, from the first of its copies in the dataset that is whole: many chains start alike."""
    reason = Unreadable("its file is not in the dataset")
    for place in copies:
        try:
            return read(reader, place, case.input.sha256 if case.input else None)
        except Unreadable as error:
            reason = error
    raise reason


def reference(reader: Reader, case: Case, copies: Sequence[Place]) -> Known:
    """What a chain is compared with, at its evaluation size."""
    if case.own_reference is not None:
        picture = read(reader, case.own_reference, None, "reference")
    else:
        picture = read_input(reader, case, copies)
    height, width = picture.shape[:2]
    return Known(brought(picture, *target(width, height, case.chain["short_side"] or "reference")))


@dataclass(frozen=True)
class Seen:
    """A picture at the evaluation size and as edits are judged, or why it cannot be seen."""

    shot: Shot
    picture: numpy.ndarray | None = None
    look: numpy.ndarray | None = None
    reason: str = ""


def see(reader: Reader, shot: Shot, size: tuple[int, int], judging: bool) -> Seen:
    """Decode a picture and bring it to the evaluation size; what the recall audit mirrored is turned back."""
    try:
        picture = read(reader, shot.place, shot.sha256)
    except Unreadable as error:
        return Seen(shot, reason=UNREADABLE + str(error))
    if shot.mirrored:
        picture = numpy.ascontiguousarray(picture[:, ::-1])
    return Seen(shot, brought(picture, *size), edits.look(picture) if judging else None)


def ahead(pool: Executor, work: Callable[[Shot], Seen], shots: Sequence[Shot], count: int) -> Iterator[list[Seen]]:
    """Pictures in batches; the next batch is being read while one is worked on."""
    batches = [shots[start : start + count] for start in range(0, len(shots), count)]
    reading: list[list[Future[Seen]]] = []
    for number in range(len(batches)):
        for batch in batches[number + len(reading) : number + 2]:
            reading.append([pool.submit(work, shot) for shot in batch])
        yield [future.result() for future in reading.pop(0)]


@dataclass(frozen=True)
class Album:
    """Where a chain's pictures come from: read ahead of the work on them, in batches."""

    reader: Reader
    copies: Callable[[Case], Sequence[Place]]  # of a chain's input
    pool: Executor
    batch: int

    def of(self, case: Case, size: tuple[int, int], judging: bool) -> Iterator[list[Seen]]:
        """Every different picture of the scored steps, once."""
        first: dict[object, Shot] = {}
        for shot in case.steps:
            if shot.scored:
                first.setdefault(shot.key, shot)
        return ahead(self.pool, lambda shot: see(self.reader, shot, size, judging), list(first.values()), self.batch)

    def input(self, case: Case) -> numpy.ndarray | None:
        """The picture that the first call was given, where there is a whole copy of it."""
        try:
            return read_input(self.reader, case, self.copies(case))
        except Unreadable:
            return None


def score(
    case: Case,
    known: Known,
    measures: Sequence[Measure],
    judge: edits.Edits | None,
    near: Near,
    album: Album,
    clock: Clock,
) -> dict[int, Values]:
    """The values of every scored step, by its number; steps with equal pictures share them."""
    values: dict[object, Values] = {}
    views: dict[object, edits.View] = {}
    for batch in album.of(case, known.size, judge is not None):
        whole = [(seen.shot.key, seen.picture, seen.look) for seen in batch if seen.picture is not None]
        for seen in batch:
            if seen.reason:
                values[seen.shot.key] = {column: seen.reason for measure in measures for column in measure.columns}
        if not whole:
            continue
        keys, pictures, looks = zip(*whole, strict=True)
        values |= zip(keys, compare(known, pictures, measures, near, clock), strict=True)
        if judge:
            views |= zip(keys, judge.views(looks, pictures), strict=True)
    rows = {shot.step: dict(values[shot.key]) for shot in case.steps if shot.scored}
    if judge:
        with clock(edits.NAME):
            start = album.input(case)
            if start is not None and case.input:
                [views[case.input.key]] = judge.views([edits.look(start)], [brought(start, *known.size)])
            for step, judged in judge.judged(case, views).items():
                rows[step] = judged | rows[step]  # what could not be read stays so
    for shot in case.steps:
        if shot.scored and not shot.mirrored and recall.COLUMN in rows[shot.step]:
            rows[shot.step][recall.COLUMN] = recall.NOT_AUDITED
    return rows


def compare(
    known: Known, pictures: Sequence[numpy.ndarray], measures: Sequence[Measure], near: Near, clock: Clock
) -> list[Values]:
    """Every metric's values for some pictures; near a threshold those of float32."""
    rows: list[Values] = [{} for _ in pictures]
    for measure in measures:
        with clock(measure.name):
            found = measure.compare(known.side(measure), pictures, rows)
            for number, row in enumerate(found):
                if measure.exact and any(near(column, value) for column, value in row.items()):
                    again = [pictures[number]], [rows[number]]
                    with alone(known, measure, measure.exact):
                        [found[number]] = measure.exact.compare(known.side(measure.exact), *again)
        for row, values in zip(rows, found, strict=True):
            row |= {column: sound(value) for column, value in values.items()}
    return rows


@contextmanager
def alone(known: Known, measure: Measure, exact: Measure) -> Iterator[None]:
    """Beside a large picture there is room for one network's weights."""
    large = known.picture.size > LARGE
    if large and measure.release:
        measure.release()
    yield
    if large and exact.release:
        exact.release()


def sound(value: Value) -> Value:
    """A result that is no number is a reason."""
    return NOT_A_NUMBER + str(value) if isinstance(value, float) and not numpy.isfinite(value) else value
