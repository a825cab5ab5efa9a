"""Scores one chain: each different picture is read once and shown to every metric."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy
import pyarrow as pa
from convergebench.dataset_builder.schema import Place, Reader

from . import edits
from .cases import Case, Shot
from .edit_applied.looks import look
from .measures import Measure, Value, Values
from .psnr.images import brought, target
from .reading import Unreadable, decode

UNREADABLE = "unreadable: "  # begins a reason that is nobody's answer but damage to the dataset
NOT_A_NUMBER = "not a number: "
Size = tuple[int, int]


@dataclass
class Known:
    """A reference at the evaluation size, with what each metric knows of it; each is worked out once."""

    picture: numpy.ndarray
    sides: dict[str, Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @property
    def size(self) -> Size:
        return self.picture.shape[1], self.picture.shape[0]

    def side(self, measure: Measure) -> Any:
        with self.lock:
            if measure.signature not in self.sides:
                self.sides[measure.signature] = measure.prepare(self.picture)
            return self.sides[measure.signature]


def read(reader: Reader, place: Place | None, column: str = "image") -> numpy.ndarray:
    """A picture of the dataset, decoded."""
    if place is None:
        raise Unreadable("its file is not in the dataset")
    try:
        data = reader.picture(place, column)
    except (OSError, pa.ArrowException) as error:
        raise Unreadable(f"{place.file} cannot be read ({str(error).splitlines()[0][:80]})") from error
    if data is None:
        raise Unreadable("the picture's bytes are not in the dataset")
    return decode(data)


def reference(reader: Reader, case: Case) -> Known:
    """What a chain is compared with, at its evaluation size."""
    if case.own_reference is not None:
        picture = read(reader, case.own_reference, "reference")
    else:
        picture = read(reader, case.input and case.input.place)
    height, width = picture.shape[:2]
    return Known(brought(picture, *target(width, height, case.chain["short_side"] or "reference")))


@dataclass(frozen=True)
class Seen:
    """A picture as the metrics see it, or why they cannot."""

    shot: Shot
    picture: numpy.ndarray | None
    look: numpy.ndarray | None
    reason: str | None = None


def see(reader: Reader, shot: Shot, size: Size, judging: bool) -> Seen:
    """Decode a picture and bring it to the evaluation size; edits are judged at a size of their own."""
    try:
        picture = read(reader, shot.place)
    except Unreadable as error:
        return Seen(shot, None, None, UNREADABLE + str(error))
    return Seen(shot, brought(picture, *size), look(picture) if judging else None)


def ahead(pool: Executor, work: Callable[[Shot], Seen], shots: Sequence[Shot], count: int) -> Iterator[list[Seen]]:
    """Pictures in batches; the next batch is being read while one is worked on."""
    batches = [shots[start : start + count] for start in range(0, len(shots), count)]
    reading: list[list[Future[Seen]]] = []
    for number in range(len(batches)):
        for batch in batches[number + len(reading) : number + 2]:
            reading.append([pool.submit(work, shot) for shot in batch])
        yield [future.result() for future in reading.pop(0)]


def score(
    case: Case,
    known: Known,
    measures: Sequence[Measure],
    judging: bool,
    near: Callable[[str, Value], bool],
    reader: Reader,
    pool: Executor,
    batch: int,
    clock: Callable[[str], Any],
) -> dict[int, Values]:
    """The values of every step that has a picture, by the step's number."""
    first: dict[str | None, Shot] = {}
    for shot in case.steps:
        if shot.scored:
            first.setdefault(shot.sha256, shot)
    values: dict[str | None, Values] = {}
    looks: dict[str | None, numpy.ndarray | None] = {}
    for seen in ahead(pool, lambda shot: see(reader, shot, known.size, judging), list(first.values()), batch):
        for one in seen:
            looks[one.shot.sha256] = one.look
            if one.reason:
                columns = [column for measure in measures for column in measure.columns]
                values[one.shot.sha256] = dict.fromkeys(columns, one.reason)
        whole = [one for one in seen if one.picture is not None]
        if whole:
            found = compare(known, [one.picture for one in whole], measures, near, clock)  # type: ignore[misc]
            values |= {one.shot.sha256: row for one, row in zip(whole, found, strict=True)}
    rows = {shot.step: dict(values[shot.sha256]) for shot in case.steps if shot.scored}
    if judging:
        with clock("edit_applied"):
            if case.input is not None:
                looks[case.input.sha256] = see(reader, case.input, known.size, True).look
            for step, judged in edits.judged(case, looks).items():
                rows[step] = judged | rows[step]  # what could not be read stays so
    return rows


def compare(
    known: Known,
    pictures: Sequence[numpy.ndarray],
    measures: Sequence[Measure],
    near: Callable[[str, Value], bool],
    clock: Callable[[str], Any],
) -> list[Values]:
    """Every metric's values for some pictures; near a threshold those of float32."""
    rows: list[Values] = [{} for _ in pictures]
    for measure in measures:
        with clock(measure.name):
            found = measure.compare(known.side(measure), pictures, rows)
            for number, row in enumerate(found):
                if measure.exact and any(near(column, value) for column, value in row.items()):
                    again = [pictures[number]], [rows[number]]
                    [found[number]] = measure.exact.compare(known.side(measure.exact), *again)
        for row, values in zip(rows, found, strict=True):
            row |= {column: sound(value) for column, value in values.items()}
    return rows


def sound(value: Value) -> Value:
    """A result that is no number is a reason."""
    return NOT_A_NUMBER + str(value) if isinstance(value, float) and not numpy.isfinite(value) else value


def unscored(shot: Shot) -> Mapping[str, str]:
    """Why a step has no numbers at all."""
    return {"*": f"{shot.status}: {shot.reason}" if shot.reason else shot.status}
