"""Scores one chain: each different picture is read once and handed to every metric."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from convergebench.dataset_builder.dataset.reader import Place, PlacedStep, Reader
from convergebench.generation.pictures import evaluation_size, resize_to

from ..scores import Missing, Value, Values
from .chains import DatasetChain, PictureKey, Unreadable, picture_key, read_input, read_picture, was_mirrored
from .metrics import MetricRun

LARGE = 3 * 2048 * 2048  # values of a picture
Clock = Callable[[str], AbstractContextManager[None]]
IsNear = Callable[[str, Value], bool]  # whether a column's value is near a threshold


@dataclass
class Reference:
    """A reference at the evaluation size, with what each metric prepared of it; each is prepared once."""

    picture: np.ndarray
    prepared: dict[tuple[str, MetricRun], Any] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def at_evaluation_size(cls, picture: np.ndarray, short_side: int | None) -> "Reference":
        height, width = picture.shape[:2]
        return cls(resize_to(picture, *evaluation_size(width, height, short_side)))

    @property
    def size(self) -> tuple[int, int]:
        return self.picture.shape[1], self.picture.shape[0]

    @property
    def is_large(self) -> bool:
        """Whether there is room for the weights of one network only beside it."""
        return self.picture.size > LARGE

    def prepared_for(self, run: MetricRun) -> Any:
        """What the metric prepared of it."""
        key = run.name, run
        with self.lock:
            if key not in self.prepared:
                if self.is_large:  # not bfloat16 and float32 at once
                    self.prepared = {other: side for other, side in self.prepared.items() if other[0] != run.name}
                self.prepared[key] = run.scorer.prepare(self.picture)
            return self.prepared[key]


@dataclass(frozen=True)
class ReadPicture:
    """A step's picture at the evaluation size and what the round metrics need of it; or why it cannot be read."""

    key: PictureKey
    picture: np.ndarray | None = None
    reduced: Mapping[str, Any] = field(default_factory=dict)  # by round metric
    missing: Missing | None = None


@dataclass(frozen=True)
class PictureReader:
    """Reads a chain's pictures ahead of the work on them, in batches."""

    reader: Reader
    copies: Callable[[DatasetChain], Sequence[Place]]  # of a chain's input
    pool: Executor
    batch: int

    def batches(
        self, chain: DatasetChain, size: tuple[int, int], rounds: Sequence[MetricRun]
    ) -> Iterator[list[ReadPicture]]:
        """Every different picture of the scored steps, once; the next batch is being read while one is worked on."""
        first: dict[PictureKey, PlacedStep] = {}
        for placed in chain.scored_steps:
            first.setdefault(picture_key(placed.step), placed)
        steps = list(first.values())
        batches = [steps[start : start + self.batch] for start in range(0, len(steps), self.batch)]
        reading: list[list[Future[ReadPicture]]] = []
        for number in range(len(batches)):
            for batch in batches[number + len(reading) : number + 2]:
                reading.append([self.pool.submit(self.read, placed, size, rounds) for placed in batch])
            yield [future.result() for future in reading.pop(0)]

    def read(self, placed: PlacedStep, size: tuple[int, int], rounds: Sequence[MetricRun]) -> ReadPicture:
        """Decode a picture and resize it; what the recall audit mirrored is turned back."""
        key = picture_key(placed.step)
        try:
            picture = read_picture(self.reader, placed.place, placed.step.sha256)
        except Unreadable as error:
            return ReadPicture(key, missing=Missing("unreadable", str(error)))
        if was_mirrored(placed.step):
            picture = np.ascontiguousarray(picture[:, ::-1])
        return self.reduce(key, picture, size, [run for run in rounds if looks_at(run, placed.step.round)])

    def read_input(self, chain: DatasetChain, size: tuple[int, int], rounds: Sequence[MetricRun]) -> ReadPicture | None:
        """The picture that the first call was given, where there is a whole copy of it."""
        if chain.input is None:
            return None
        try:
            picture = read_input(self.reader, chain, self.copies(chain))
        except Unreadable:
            return None
        return self.reduce(picture_key(chain.input.step), picture, size, rounds)

    @staticmethod
    def reduce(key: PictureKey, picture: np.ndarray, size: tuple[int, int], rounds: Sequence[MetricRun]) -> ReadPicture:
        reduced = {run.name: run.scorer.reduce(picture) for run in rounds}
        return ReadPicture(key, resize_to(picture, *size), reduced)


def score_chain(
    chain: DatasetChain,
    reference: Reference,
    runs: Sequence[MetricRun],
    is_near: IsNear,
    pictures: PictureReader,
    clock: Clock,
) -> dict[int, Values]:
    """The values of every scored step, by its number; steps with equal pictures share them."""
    rounds = [run for run in runs if run.spec.kind == "round"]
    columns = [column for run in runs for column in run.spec.names]
    values: dict[PictureKey, Values] = {}
    kept: dict[str, dict[PictureKey, Any]] = {run.name: {} for run in rounds}  # for the round metrics
    returns = ReturnPairs(chain, [run for run in runs if hasattr(run.scorer, "compare_previous")])
    start = pictures.read_input(chain, reference.size, rounds) if rounds or returns.runs else None
    if start is not None:
        returns.add([start], clock)
    for batch in pictures.batches(chain, reference.size, rounds):
        values |= {one.key: dict.fromkeys(columns, one.missing) for one in batch if one.missing}
        whole = [one for one in batch if one.picture is not None]
        if whole:
            values |= zip((one.key for one in whole), compare(reference, whole, runs, is_near, clock), strict=True)
            for run in rounds:
                keep(kept[run.name], run, whole, clock)
            returns.add(whole, clock)
    rows = {placed.step.step: dict(values[picture_key(placed.step)]) for placed in chain.scored_steps}
    for number, found in returns.values().items():
        rows[number] = found | rows[number]
    if rounds:
        for run in rounds:
            if start is not None:
                keep(kept[run.name], run, [start], clock)
            with clock(run.name):
                for step, judged in judge_rounds(chain, reference, run, kept[run.name], rows).items():
                    rows[step] = judged | rows[step]  # what could not be read stays so
    for run in runs:
        if run.spec.steps == "mirrored":
            for placed in chain.scored_steps:
                if not was_mirrored(placed.step):
                    rows[placed.step.step] |= dict.fromkeys(run.spec.names, Missing("not_audited"))
    return rows


class ReturnPairs:
    """Each return beside the return before it, for the metrics that compare the two; no picture stays for longer."""

    def __init__(self, chain: DatasetChain, runs: Sequence[MetricRun]):
        self.runs = runs
        self.scored = [placed.step.step for placed in chain.scored_steps]
        self.pairs: dict[int, tuple[PictureKey, PictureKey] | None] = {}  # by step; None: there is no return before
        program, keys = (
            chain.chain.program,
            {placed.step.step: picture_key(placed.step) for placed in chain.scored_steps},
        )
        if chain.input is not None:
            keys[0] = picture_key(chain.input.step)
        length = len(program.cycle)
        for number in self.scored if program.closes else ():
            if number % length == 0:
                before = keys.get(number - length)
                self.pairs[number] = before and (before, keys[number])
        self.found: dict[tuple[PictureKey, PictureKey], Values] = {}
        self.held: dict[PictureKey, np.ndarray] = {}

    def add(self, pictures: Sequence[ReadPicture], clock: Clock) -> None:
        """Compare what these pictures complete, and keep what is still waited for."""
        if not self.runs:
            return
        self.held |= {one.key: one.picture for one in pictures if one.picture is not None}
        for pair in set(filter(None, self.pairs.values())) - self.found.keys():
            if pair[0] in self.held and pair[1] in self.held:
                self.found[pair] = {}
                for run in self.runs:
                    with clock(run.name):
                        values = run.scorer.compare_previous(*(self.held[key] for key in pair))
                    self.found[pair] |= {column: typed(value) for column, value in values.items()}
        waited_for = {key for pair in filter(None, self.pairs.values()) if pair not in self.found for key in pair}
        self.held = {key: picture for key, picture in self.held.items() if key in waited_for}

    def values(self) -> dict[int, Values]:
        """The values of every scored step, by its number; where there are none, why."""
        columns = [column for run in self.runs for column in run.scorer.previous_columns]
        found: dict[int, Values] = {}
        for number in self.scored if columns else ():
            pair = self.pairs.get(number)
            code = "previous_missing" if number in self.pairs else "ends_no_round"
            found[number] = (self.found.get(pair) if pair else None) or dict.fromkeys(columns, Missing(code))
        return found


def compare(
    reference: Reference, pictures: Sequence[ReadPicture], runs: Sequence[MetricRun], is_near: IsNear, clock: Clock
) -> list[Values]:
    """Every picture metric's values for some pictures; near a threshold those of float32."""
    rows: list[Values] = [{} for _ in pictures]
    for run in runs:
        if run.spec.kind != "picture":
            continue
        judged = [(one, row) for one, row in zip(pictures, rows, strict=True) if run.spec.steps == "all" or one.key[1]]
        if not judged:
            continue
        arrays, earlier = [one.picture for one, _ in judged], [row for _, row in judged]
        with clock(run.name):
            found = run.scorer.compare(reference.prepared_for(run), arrays, earlier)
            for number, row in enumerate(found):
                if run.exact and any(is_near(column, value) for column, value in row.items()):
                    with room_for_exact(reference, run, run.exact):
                        side = reference.prepared_for(run.exact)
                        [found[number]] = run.exact.scorer.compare(side, [arrays[number]], [earlier[number]])
        for row, values in zip(earlier, found, strict=True):
            row |= {column: typed(value) for column, value in values.items()}
    return rows


def keep(kept: dict[PictureKey, Any], run: MetricRun, pictures: Sequence[ReadPicture], clock: Clock) -> None:
    """Keep what a round metric needs of some pictures until their rounds are judged."""
    pictures = [one for one in pictures if run.name in one.reduced]
    with clock(run.name):
        embedded = run.scorer.embed([one.reduced[run.name] for one in pictures], [one.picture for one in pictures])
    kept |= zip((one.key for one in pictures), embedded, strict=True)


def judge_rounds(
    chain: DatasetChain,
    reference: Reference,
    run: MetricRun,
    kept: Mapping[PictureKey, Any],
    found: Mapping[int, Values],
) -> dict[int, Values]:
    """A round metric's values of every scored step, by its number; equal rounds are judged once."""
    program = chain.chain.program
    about = {"cycle": list(program.cycle), "closes": program.closes, "small": program.small, "shows": program.shows}
    placed_steps = {0: chain.input, **chain.steps}
    known: dict[tuple[object, ...], Values] = {}
    rows: dict[int, Values] = {}
    for placed in chain.scored_steps:
        number, position = placed.step.step, placed.step.position
        if not looks_at(run, placed.step.round):
            rows[number] = dict.fromkeys(run.spec.names, Missing("later_round"))
            continue
        round = [placed_steps.get(each) for each in range(number - position, number + 1)]
        keys = [one and picture_key(one.step) for one in round]
        audits = [one and one.step.details.get("audit") for one in round[1:]]
        place = (position, run.spec.rounds and placed.step.round, json.dumps(audits), *keys)
        if place not in known:
            pictures = [kept.get(key) if key else None for key in keys]
            of_step = about | {"found": found[number], "round": placed.step.round, "audits": audits}
            if run.spec.rounds:  # such a metric may look at the rounds before as well
                before = [placed_steps.get(each) for each in range(number - position)]
                of_step["earlier"] = [one and kept.get(picture_key(one.step)) for one in before]
            judged = run.scorer.judge(of_step, position, pictures, reference.prepared_for(run))
            known[place] = {column: typed(value) for column, value in judged.items()}
        rows[number] = known[place]
    return rows


def looks_at(run: MetricRun, round: int) -> bool:
    """Whether a metric looks at so late a round."""
    return run.spec.rounds is None or round <= run.spec.rounds


@contextmanager
def room_for_exact(reference: Reference, run: MetricRun, exact: MetricRun) -> Iterator[None]:
    """Beside a large picture there is room for one network's weights."""
    if reference.is_large and run.is_heavy:
        run.scorer.release()
    yield
    if reference.is_large and exact.is_heavy:
        exact.scorer.release()


def typed(value: Any) -> Value:
    """A metric's value: a number, or a reason where it gives a code, a code with a detail, or what is no number."""
    if isinstance(value, str):
        return Missing(value)
    if isinstance(value, tuple | list):
        return Missing(*value)
    if isinstance(value, float) and not np.isfinite(value):
        return Missing("not_a_number", str(value))
    return value
