"""Scores one chain: each distinct picture is read once and passed to every metric."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from threading import Lock

import numpy as np
from convergebench.dataset_builder.dataset.reader import PlacedStep
from convergebench.generation.pictures import Undecodable, evaluation_size, resize_to

from ..scores import Missing, Value, Values
from .chains import DatasetChain, PictureAt, read_input, read_picture
from .metrics import MetricRun, typed

_IsNear = Callable[[str, Value], bool]  # whether a column's value is near a threshold
_Digest = str | None  # of a picture's bytes: steps with equal pictures share their values
_Read = tuple[np.ndarray, dict[str, object]]  # at the evaluation size, and reduced for each round metric
_Embeddings = dict[_Digest, object]  # what a round metric keeps of each picture


class Reference:
    """A reference at the evaluation size, with the prepared form of each metric."""

    def __init__(self, picture: np.ndarray, short_side: int | None = None):
        self.size = evaluation_size(picture.shape[1], picture.shape[0], short_side)
        self.picture = resize_to(picture, *self.size)
        self._prepared: dict[MetricRun, object] = {}
        self._lock = Lock()

    def prepared_for(self, run: MetricRun) -> object:
        """What the metric compares with, computed at the first call."""
        with self._lock:
            if run not in self._prepared:
                prepare = getattr(run.scorer, "prepare", None)
                self._prepared[run] = prepare(self.picture) if prepare else self.picture
            return self._prepared[run]


def score_chain(
    picture_at: PictureAt,
    chain: DatasetChain,
    reference: Reference,
    runs: Sequence[MetricRun],
    is_near: _IsNear,
    decoders: Executor,
    batch: int = 1,
) -> dict[int, Values]:
    """The values of every scored step; equal pictures share them."""
    rounds = [run for run in runs if run.spec.kind == "round"]
    columns = [column for run in runs for column in run.spec.names]
    values: dict[_Digest, Values] = {}
    embeddings: dict[str, _Embeddings] = {run.name: {} for run in rounds}
    returns = _Returns(chain, [run for run in runs if hasattr(run.scorer, "compare_previous")])
    start = _read_start(picture_at, chain, reference.size, rounds) if rounds or returns.runs else {}
    returns.add(start)
    for reading in _read_ahead(picture_at, chain, reference.size, rounds, decoders, batch):
        pictures: dict[_Digest, _Read] = {}
        for digest, future in reading.items():
            try:
                pictures[digest] = future.result()
            except Undecodable as error:
                values[digest] = dict.fromkeys(columns, Missing("unreadable", str(error)))
        arrays = [picture for picture, _ in pictures.values()]
        values |= zip(pictures, compare(reference, arrays, runs, is_near), strict=True)
        _embed(embeddings, rounds, pictures)
        returns.add(pictures)
    rows = {placed.step.step: dict(values[placed.step.sha256]) for placed in chain.scored_steps}
    rows = {number: returns.values(number) | row for number, row in rows.items()}
    _embed(embeddings, rounds, start)
    for run in rounds:
        for number, judged in _judge_rounds(chain, reference, run, embeddings[run.name], rows).items():
            rows[number] = judged | rows[number]  # the reason of an unreadable picture stays
    return rows


def _read_ahead(
    picture_at: PictureAt,
    chain: DatasetChain,
    size: tuple[int, int],
    rounds: Sequence[MetricRun],
    decoders: Executor,
    batch: int,
) -> Iterator[dict[_Digest, Future[_Read]]]:
    """Each distinct picture once, in batches; the next batch is read during scoring."""

    def read(placed: PlacedStep) -> _Read:
        picture = read_picture(picture_at, placed.place, placed.step.sha256)
        return _reduced(picture, size, [run for run in rounds if _covers(run, placed.step.round)])

    first: dict[_Digest, PlacedStep] = {}
    for placed in chain.scored_steps:
        first.setdefault(placed.step.sha256, placed)
    steps = list(first.values())
    reading = []
    for start in range(0, len(steps), batch):
        some = steps[start : start + batch]
        reading.append({placed.step.sha256: decoders.submit(read, placed) for placed in some})
        if len(reading) == 2:
            yield reading.pop(0)
    yield from reading


def _read_start(
    picture_at: PictureAt, chain: DatasetChain, size: tuple[int, int], rounds: Sequence[MetricRun]
) -> dict[_Digest, _Read]:
    """What the first call was given, if the dataset has an intact copy."""
    if chain.input is None:
        return {}
    try:
        return {chain.input.step.sha256: _reduced(read_input(picture_at, chain), size, rounds)}
    except Undecodable:
        return {}


def _reduced(picture: np.ndarray, size: tuple[int, int], rounds: Sequence[MetricRun]) -> _Read:
    reduced = {reduce: reduce(picture) for reduce in {run.scorer.reduce for run in rounds}}
    return resize_to(picture, *size), {run.name: reduced[run.scorer.reduce] for run in rounds}


class _Returns:
    """Compares each return with the one before it, for metrics that do so."""

    def __init__(self, chain: DatasetChain, runs: Sequence[MetricRun]):
        self.runs = runs
        digests = {placed.step.step: placed.step.sha256 for placed in chain.scored_steps}
        if chain.input is not None:
            digests[0] = chain.input.step.sha256
        length = len(chain.chain.program.cycle)
        ends = [number for number in digests if number and number % length == 0 and chain.chain.program.closes]
        # By step; without the second one if the return before it is missing.
        self.pairs = {number: (digests[number], digests.get(number - length)) for number in ends}
        self.compared: dict[tuple[_Digest, _Digest], Values] = {}
        self.held: dict[_Digest, np.ndarray] = {}

    def add(self, pictures: Mapping[_Digest, _Read]) -> None:
        """Compare complete pairs, and hold the pictures that later ones need."""
        if self.runs:
            self.held |= {digest: picture for digest, (picture, _) in pictures.items()}
        for pair in set(self.pairs.values()) - self.compared.keys():
            if self.held.keys() >= set(pair):
                after, before = map(self.held.get, pair)
                compared = [run.scorer.compare_previous(before, after) for run in self.runs]
                self.compared[pair] = {column: typed(value) for row in compared for column, value in row.items()}
        needed = {digest for pair in self.pairs.values() if pair not in self.compared for digest in pair}
        self.held = {digest: picture for digest, picture in self.held.items() if digest in needed}

    def values(self, number: int) -> Values:
        if compared := self.compared.get(self.pairs.get(number, (None, None))):
            return compared
        missing = Missing("previous_missing" if number in self.pairs else "ends_no_round")
        return {column: missing for run in self.runs for column in run.scorer.previous_columns}


def compare(
    reference: Reference, pictures: Sequence[np.ndarray], runs: Sequence[MetricRun], is_near: _IsNear
) -> list[Values]:
    """The picture metrics; near a threshold in float32."""
    rows: list[Values] = [{} for _ in pictures]
    for run in [run for run in runs if run.spec.kind == "picture" and pictures]:
        compared = run.scorer.compare(reference.prepared_for(run), pictures, rows)
        for number, values in enumerate(compared):
            if run.exact and any(is_near(column, value) for column, value in values.items()):
                prepared = reference.prepared_for(run.exact)
                [compared[number]] = run.exact.scorer.compare(prepared, [pictures[number]], [rows[number]])
        for row, values in zip(rows, compared, strict=True):
            row |= {column: typed(value) for column, value in values.items()}
    return rows


def _embed(
    embeddings: Mapping[str, _Embeddings], runs: Sequence[MetricRun], pictures: Mapping[_Digest, _Read]
) -> None:
    for run in runs:
        covered = {digest: read for digest, read in pictures.items() if run.name in read[1]}
        if covered:
            arrays, reduced = (
                [read[0] for read in covered.values()],
                [read[1][run.name] for read in covered.values()],
            )
            embedded = run.scorer.embed(reduced, arrays) if hasattr(run.scorer, "embed") else reduced
            embeddings[run.name].update(zip(covered, embedded, strict=True))


def _judge_rounds(
    chain: DatasetChain, reference: Reference, run: MetricRun, embeddings: _Embeddings, rows: Mapping[int, Values]
) -> dict[int, Values]:
    program = chain.chain.program
    facts = {
        "program": program.id,
        "cycle": list(program.cycle),
        "closes": program.closes,
        "small": program.small,
        "shows": program.shows,
    }
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
