"""Try yours: scores a visitor's own series and stores none of it."""

import base64
import binascii
import hashlib
import itertools
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache

import numpy as np
from convergebench.dataset_builder.dataset.reader import Place, PlacedStep
from convergebench.dataset_builder.dataset.rows import FloorRow
from convergebench.generation import pictures
from convergebench.generation.pictures import resize_to
from convergebench.generation.records import UNKNOWN, Chain, FinishedChain, Program, Source, Step, UserError
from convergebench.metric_modules._engine import metrics
from convergebench.metric_modules._engine.chains import DatasetChain, PictureAt, read_input
from convergebench.metric_modules._engine.results import Results, chain_rows
from convergebench.metric_modules._engine.score_chain import Reference, compare, score_chain
from convergebench.metric_modules.scores import ScoreRow
from convergebench.metric_modules.specs import ceilings, shown_columns

from ....analysis.cases import RETAINED, case_of_chain
from ....analysis.floors import Floors
from ....analysis.groups import CHECKS
from ....space.chains.tab import chain_view
from ....space.previews import decode
from ....space.served_dataset import ServedDataset, ending

TITLE, ORDER = "Try yours", 70
_MOST_SECONDS = 90.0
_MOST_RETURNS = 60
_MOST_BYTES = 60_000_000  # of all pictures together
_MOST_FILE_BYTES = 25_000_000
_MOST_PIXELS = 16_800_000  # of one picture
_LEAST_SIDE = 64
_SHORT_SIDE = 512
_UNRELATED = 12  # pictures of the dataset, for the floors
_SAME_RMSE, _SAME_SSIM = 16.0, 0.75  # a picture of the dataset this near to an uploaded original is the original
_THRESHOLDS = tuple(number / 20 for number in range(1, 20))
_ROUND_TRIP = ("make the edit", "undo it")  # unless a visitor gives the instructions
_ONLY_RETURNS = ("edit and undo",)  # without pictures of the edits, a round is one step
_METRICS = ("psnr", "ssim", "registration", "damage", "edit_applied")
NOTE = (
    "Upload the original and the picture after each undo (undone1.png, undone2.png, ...), taken in the order of their "
    "names. Add the picture after each edit to have edits and undos checked as well. Up "
    f"to {_MOST_RETURNS} rounds, {_MOST_FILE_BYTES // 10**6} MB a file, {_MOST_SECONDS:.0f} seconds of scoring. "
    "Your files are scored in memory and never stored."
)
_File = tuple[str, bytes]  # name and content
_busy = threading.Lock()  # one series at a time


def _uploads(files: Sequence[_File]) -> PictureAt:
    """Reads the pictures of a series, like a dataset's, until the time is over."""
    until = time.monotonic() + _MOST_SECONDS

    def picture_at(place: Place, column: str) -> bytes:
        if time.monotonic() > until:
            raise UserError(f"scoring took more than {_MOST_SECONDS:.0f} seconds; give fewer or smaller pictures")
        return files[place.row][1]

    return picture_at


@lru_cache(maxsize=1)
def _metrics() -> tuple[list[metrics.MetricRun], dict[str, str]]:
    try:
        return metrics.choose([*_METRICS, "lpips"], "cpu", "float32")
    except (ImportError, ValueError) as error:
        why = "torch is not installed" if isinstance(error, ImportError) else "its weights are damaged"
        return metrics.choose(_METRICS, "cpu", "float32")[0], {"lpips": why}


@lru_cache(maxsize=1)
def _pictures_of(dataset: ServedDataset) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    names: dict[str, str] = {}
    unrelated: dict[str, np.ndarray] = {}
    for row in dataset.reader.rows("sources", ["source", "image", "reference"]):
        data = row["image"] and row["image"]["bytes"]
        if data and not row["reference"]:  # a degraded picture has another reference
            names[hashlib.sha256(data).hexdigest()] = row["source"]
        if data and len(unrelated) < _UNRELATED:
            picture = decode(data)
            picture.thumbnail((1024, 1024))
            unrelated[row["source"]] = np.asarray(picture)
    return names, unrelated


def score_yours(
    dataset: ServedDataset,
    original: str,
    returns: list[str],
    edits: list[str] = [],  # noqa: B006 - read only, and the API's page shows it
    words: list[str] = [],  # noqa: B006 - read only
    names: list[str] = [],  # noqa: B006 - read only
) -> dict:
    """An original, its returns and, for the whole verdict, the edit before each return: every step and verdict.

    Pictures are files in base64, in their order; without an original, the first return is it. `words` are
    the two instructions, the edit and the undo. `names` are those of the returns and then of the edits.
    """
    numbers = [*(f"return {n:03d}" for n in range(len(returns))), *(f"edit {n:03d}" for n in range(len(edits)))]
    if names and len(names) != len(numbers):
        raise UserError(f"{len(names)} names were given for {len(numbers)} files")
    files = list(zip(names or numbers, _from_base64([*returns, *edits]), strict=True))
    back, forward = files[: len(returns)], files[len(returns) :]
    if original:
        first = ("original", _from_base64([original])[0])
    elif len(back) > 1:
        first, *back = back
    else:
        raise UserError("one picture cannot be scored; give an original and what came back")
    words = [text for text in words if text.strip()]
    if len(words) not in (0, 2):
        raise UserError(f"{len(words)} instructions were given; give two, the edit and the undo, or none")
    _check_series(back, forward)
    steps = list(itertools.chain(*zip(forward, back, strict=True))) if forward else back
    cycle = (tuple(words) or _ROUND_TRIP) if forward else _ONLY_RETURNS
    with _busy:
        return _scored(dataset, _series(dataset, [first, *steps], cycle), [first, *steps])


def _inspect(file: _File) -> tuple[str, int, int]:
    name, data = file
    if len(data) > _MOST_FILE_BYTES:
        raise UserError(f"{name[-60:]!r} has {len(data):,} bytes; at most {_MOST_FILE_BYTES:,} are read")
    try:
        width, height = pictures.decode(data, _MOST_PIXELS).size
    except pictures.Undecodable as error:
        raise UserError(f"{name[-60:]!r} cannot be scored: it is {error}") from error
    if min(width, height) < _LEAST_SIDE:
        raise UserError(f"{name[-60:]!r} is {width}x{height}; at least {_LEAST_SIDE} pixels a side are needed")
    return pictures.sniff(data), width, height


def _check_series(returns: Sequence[_File], edits: Sequence[_File]) -> None:
    if not returns:
        raise UserError("no returns were given; add the pictures that came back")
    if len(returns) > _MOST_RETURNS:
        raise UserError(f"{len(returns)} returns were given; at most {_MOST_RETURNS} are scored at once")
    if edits and len(edits) != len(returns):
        raise UserError(
            f"{len(edits)} edits and {len(returns)} returns were given; give one edit for each return"
        )
    if sum(len(data) for _, data in [*returns, *edits]) > _MOST_BYTES:
        raise UserError(f"the pictures have more than {_MOST_BYTES:,} bytes together; give fewer or smaller ones")


def _from_base64(texts: Sequence[str]) -> list[bytes]:
    try:
        return [base64.b64decode(text, validate=True) for text in texts]
    except (binascii.Error, ValueError, TypeError) as error:
        raise UserError(f"original and returns are picture files in base64 ({error})") from None


def _series(dataset: ServedDataset, files: Sequence[_File], cycle: tuple[str, ...]) -> DatasetChain:
    """The files as a chain, like those of the dataset that begin with the original."""
    steps: dict[int, PlacedStep] = {}
    for number, (name, data) in enumerate(files):
        kind, width, height = _inspect((name, data))
        round, position = divmod(number - 1, len(cycle)) if number else (-1, -1)
        asked = cycle[position] if len(cycle) > 1 else name
        status, words = ("ok", asked) if number else ("input", "")
        step = Step(number, round + 1, position + 1, words, status, sha256=hashlib.sha256(data).hexdigest(),
                    bytes=len(data), type=kind, width=width, height=height)  # fmt: skip
        steps[number] = PlacedStep("yours", step, Place("", 0, number))
    first = steps[0]
    of_dataset = _pictures_of(dataset)[0].get(str(first.step.sha256))
    like = next((chain for chain in dataset.chains if chain.source.id == of_dataset), None)
    size = first.step.width or 0, first.step.height or 0
    source = like.source if like else Source("yours", "", *size, "scene", "real", UNKNOWN, UNKNOWN)
    side = (like and like.short_side) or min(_SHORT_SIDE, *size)
    small = any(chain.program.small for chain in dataset.chains if chain.program.cycle == cycle)
    program = Program("yours", cycle, "", True, "clear", small=small)
    chain = Chain(source, program, "yours", {"short_side": side}, 1, (len(steps) - 1) // len(cycle))
    suite = like.suite if like else "yours"
    finished = FinishedChain("yours", chain, suite, "1", "complete", len(steps) - 1, None)
    return DatasetChain(finished, steps, None, [first.place])


def _scored(dataset: ServedDataset, series: DatasetChain, files: Sequence[_File]) -> dict:
    (runs, absent), uploads, chain = _metrics(), _uploads(files), series.chain
    original = Reference(read_input(uploads, series), chain.short_side)
    with ThreadPoolExecutor(1) as decoder:
        # No value is near a threshold: all is computed in float32 at once.
        values = score_chain(uploads, series, original, runs, lambda *value: False, decoder)
    specs = {run.name: run.spec for run in runs}
    floors = dataset.floors if chain.suite != "yours" else _floors(dataset, chain, original, runs)
    medians = {name: low for name in ceilings() if (low := floors.floor(chain, name)) is not None}
    results = Results()
    results.add({"chain": chain.id, "parts": {name: {} for name in specs}, "rows": values})
    rows = [ScoreRow.from_scores(row) for row, _ in chain_rows(series, results, specs, absent, medians)]
    case, scores = case_of_chain(chain, rows, floors), {row.step: row for row in rows}
    measured = {name for name in RETAINED if None not in case.judged(name)} | {"edits"}
    measured |= {"part"} if None not in case.values("damage") else set()
    wanted = next(iter(dataset.groups.values())).checks if dataset.groups else CHECKS
    checks = tuple(check for check in wanted if check in measured)
    steps = [placed.step for placed in (series.input, *series.steps.values()) if placed]
    computed = [name for name in shown_columns("curve") if any(row.value(name) is not None for row in rows)]
    view = chain_view(chain, steps, scores, computed)
    for step, (name, _) in zip(view["steps"], files, strict=True):
        step["name"] = name
    return view | {
        "verdicts": [{"threshold": limit, **ending(case, checks, scores, limit)} for limit in _THRESHOLDS],
        "floors": medians,
        "absent": {name: why.split(";")[0].split(" in /")[0] for name, why in absent.items()},
        "compared_at": series.size,
    }


def _floors(
    dataset: ServedDataset, chain: FinishedChain, original: Reference, runs: Sequence[metrics.MetricRun]
) -> Floors:
    pictures = {name: resize_to(other, *original.size) for name, other in _pictures_of(dataset)[1].items()}
    compared = compare(original, list(pictures.values()), runs, lambda *value: False)
    rows, others = [], [chain]
    for id, values in zip(pictures, compared, strict=True):
        numbers = {name: value for name, value in values.items() if isinstance(value, float)}
        if numbers["rmse"] > _SAME_RMSE or numbers["ssim"] < _SAME_SSIM:
            others.append(replace(chain, chain=replace(chain.chain, source=replace(chain.source, id=id))))
            place = {"source": chain.source.id, "other": id, "short_side": chain.short_side}
            rows += [place | {"metric": name, "value": numbers[name]} for name in ceilings() if name in numbers]
    return Floors(map(FloorRow.from_values, rows), others)


PUBLIC = (score_yours,)
CONFIDENTIAL = PUBLIC
