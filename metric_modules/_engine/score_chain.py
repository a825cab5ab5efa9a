"""Scores one chain: each distinct picture is read once and passed to every metric."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from convergebench.dataset_builder.dataset.reader import Place, PlacedStep, Reader
from convergebench.generation.pictures import Undecodable, evaluation_size, resize_to

from ..scores import Missing, Value, Values
from .chains import DatasetChain, read_input, read_picture
from .metrics import MetricRun, typed

_IsNear = Callable[[str, Value], bool]  # whether a column's value is near a threshold
_Digest = str | None  # of a picture's bytes: steps with equal pictures share their values
_Embeddings = dict[_Digest, object]  # what a round metric keeps of each picture


@dataclass
class Reference:
    """A reference at the evaluation size, with the prepared form of each metric."""

    picture: np.ndarray
    prepared: dict[MetricRun, object] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def at_evaluation_size(cls, picture: np.ndarray, short_side: int | None) -> "Reference":
        height, width = picture.shape[:2]
        return cls(resize_to(picture, *evaluation_size(width, height, short_side)))

    @property
    def size(self) -> tuple[int, int]:
        return self.picture.shape[1], self.picture.shape[0]

    def prepared_for(self, run: MetricRun) -> object:
        """What the metric compares with, computed at the first call."""
        with self.lock:
            if run not in self.prepared:
                self.prepared[run] = run.scorer.prepare(self.picture)
            return self.prepared[run]


@dataclass(frozen=True)
class ReadPicture:
    """A picture at the evaluation size, or why it cannot be read."""

    key: _Digest
    picture: np.ndarray | None = None
    reduced: Mapping[str, object] = field(default_factory=dict)  # by round metric
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
        """Each distinct picture once; the next batch is read during scoring."""
        first: dict[_Digest, PlacedStep] = {}
        for placed in chain.scored_steps:
            first.setdefault(placed.step.sha256, placed)
        steps = list(first.values())
        batches = [steps[start : start + self.batch] for start in range(0, len(steps), self.batch)]
        reading: list[list[Future[ReadPicture]]] = []
        for number in range(len(batches)):
            for batch in batches[number + len(reading) : number + 2]:
                reading.append([self.pool.submit(self._read, placed, size, rounds) for placed in batch])
            yield [future.result() for future in reading.pop(0)]

    def _read(self, placed: PlacedStep, size: tuple[int, int], rounds: Sequence[MetricRun]) -> ReadPicture:
        digest = placed.step.sha256
        try:
            picture = read_picture(self.reader, placed.place, digest)
        except Undecodable as error:
            return ReadPicture(digest, missing=Missing("unreadable", str(error)))
        return _reduced(digest, picture, size, [run for run in rounds if _covers(run, placed.step.round)])

    def read_input(self, chain: DatasetChain, size: tuple[int, int], rounds: Sequence[MetricRun]) -> list[ReadPicture]:
        """What the first call was given, if the dataset has an intact copy."""
        if chain.input is None:
            return []
        try:
            picture = read_input(self.reader, chain, self.copies(chain))
        except Undecodable:
            return []
        return [_reduced(chain.input.step.sha256, picture, size, rounds)]


def _reduced(key: _Digest, picture: np.ndarray, size: tuple[int, int], rounds: Sequence[MetricRun]) -> ReadPicture:
    return ReadPicture(key, resize_to(picture, *size), {run.name: run.scorer.reduce(picture) for run in rounds})


def score_chain(
    chain: DatasetChain,
    reference: Reference,
    runs: Sequence[MetricRun],
    is_near: _IsNear,
    pictures: PictureReader,
) -> dict[int, Values]:
    """The values of every scored step; equal pictures share them."""
    rounds = [run for run in runs if run.spec.kind == "round"]
    columns = [column for run in runs for column in run.spec.names]
    values: dict[_Digest, Values] = {}
    embeddings: dict[str, _Embeddings] = {run.name: {} for run in rounds}
    returns = _Returns(chain, [run for run in runs if hasattr(run.scorer, "compare_previous")])
    start = pictures.read_input(chain, reference.size, rounds) if rounds or returns.runs else []
    returns.add(start)
    for batch in pictures.batches(chain, reference.size, rounds):
        values |= {read.key: dict.fromkeys(columns, read.missing) for read in batch if read.missing}
        readable = [read for read in batch if read.picture is not None]
        values |= zip((read.key for read in readable), compare(reference, readable, runs, is_near), strict=True)
        _embed(embeddings, rounds, readable)
        returns.add(readable)
    rows = {placed.step.step: dict(values[placed.step.sha256]) for placed in chain.scored_steps}
    rows = {number: returns.values(number) | row for number, row in rows.items()}
    _embed(embeddings, rounds, start)
    for run in rounds:
        for number, judged in _judge_rounds(chain, reference, run, embeddings[run.name], rows).items():
            rows[number] = judged | rows[number]  # the reason of an unreadable picture stays
    return rows


class _Returns:
    """Compares each return with the one before it, for metrics that do so."""

    def __init__(self, chain: DatasetChain, runs: Sequence[MetricRun]):
        self.runs = runs
        self.columns = [column for run in runs for column in run.scorer.previous_columns]
        digests = {placed.step.step: placed.step.sha256 for placed in chain.scored_steps}
        if chain.input is not None:
            digests[0] = chain.input.step.sha256
        length = len(chain.chain.program.cycle)
        ends = [number for number in digests if number and number % length == 0 and chain.chain.program.closes]
        # By step; without the second one if the return before it is missing.
        self.pairs = {number: (digests[number], digests.get(number - length)) for number in ends}
        self.compared: dict[tuple[_Digest, _Digest], Values] = {}
        self.held: dict[_Digest, np.ndarray] = {}

    def add(self, pictures: Sequence[ReadPicture]) -> None:
        """Compare complete pairs, and hold the pictures that later ones need."""
        self.held |= {read.key: read.picture for read in pictures if read.picture is not None and self.runs}
        for after, before in set(self.pairs.values()) - self.compared.keys():
            if after in self.held and before in self.held:
                values: Values = {}
                for run in self.runs:
                    compared = run.scorer.compare_previous(self.held[before], self.held[after])
                    values |= {column: typed(value) for column, value in compared.items()}
                self.compared[after, before] = values
        needed = {key for pair in self.pairs.values() if pair not in self.compared for key in pair}
        self.held = {key: picture for key, picture in self.held.items() if key in needed}

    def values(self, number: int) -> Values:
        """The values of a step, or why there are none."""
        code = "previous_missing" if number in self.pairs else "ends_no_round"
        pair = self.pairs.get(number, (None, None))
        return self.compared.get(pair) or dict.fromkeys(self.columns, Missing(code))


def compare(
    reference: Reference, pictures: Sequence[ReadPicture], runs: Sequence[MetricRun], is_near: _IsNear
) -> list[Values]:
    """The picture metrics; near a threshold in float32."""
    rows: list[Values] = [{} for _ in pictures]
    arrays = [read.picture for read in pictures]
    for run in [run for run in runs if run.spec.kind == "picture" and pictures]:
        compared = run.scorer.compare(reference.prepared_for(run), arrays, rows)
        for number, values in enumerate(compared):
            if run.exact and any(is_near(column, value) for column, value in values.items()):
                side = reference.prepared_for(run.exact)
                [compared[number]] = run.exact.scorer.compare(side, [arrays[number]], [rows[number]])
        for row, values in zip(rows, compared, strict=True):
            row |= {column: typed(value) for column, value in values.items()}
    return rows


def _embed(embeddings: Mapping[str, _Embeddings], runs: Sequence[MetricRun], pictures: Sequence[ReadPicture]) -> None:
    for run in runs:
        if reads := [read for read in pictures if run.name in read.reduced]:
            reduced, arrays = [read.reduced[run.name] for read in reads], [read.picture for read in reads]
            embedded = run.scorer.embed(reduced, arrays) if hasattr(run.scorer, "embed") else reduced
            embeddings[run.name].update(zip((read.key for read in reads), embedded, strict=True))


def _judge_rounds(
    chain: DatasetChain, reference: Reference, run: MetricRun, embeddings: _Embeddings, rows: Mapping[int, Values]
) -> dict[int, Values]:
    program = chain.chain.program
    facts = {"cycle": list(program.cycle), "closes": program.closes, "small": program.small, "shows": program.shows}
    placed_steps = {0: chain.input, **chain.steps}
    judged: dict[tuple[object, ...], Values] = {}
    values: dict[int, Values] = {}
    for placed in chain.scored_steps:
        number, round, position = placed.step.step, placed.step.round, placed.step.position
        if not _covers(run, round):
            values[number] = dict.fromkeys(run.spec.names, Missing("later_round"))
            continue
        steps = [placed_steps.get(step) for step in range(number - position, number + 1)]
        keys = [step and step.step.sha256 for step in steps]
        audits = [step and step.step.details.get("audit") for step in steps[1:]]
        place = (position, run.spec.rounds and round, json.dumps(audits), *keys)
        if place not in judged:
            context = facts | {"found": rows[number], "round": round, "audits": audits}
            if run.spec.rounds:  # such a metric may look at earlier rounds too
                before = [placed_steps.get(step) for step in range(number - position)]
                context["earlier"] = [step and embeddings.get(step.step.sha256) for step in before]
            pictures = [embeddings.get(key) if key else None for key in keys]
            answers = run.scorer.judge(context, position, pictures, reference.prepared_for(run))
            judged[place] = {column: typed(value) for column, value in answers.items()}
        values[number] = judged[place]
    return values


def _covers(run: MetricRun, round: int) -> bool:
    return run.spec.rounds is None or round <= run.spec.rounds
