"""Lists a dataset's chains without decoding a picture, and reads single pictures."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from hashlib import sha256
from itertools import groupby
from operator import attrgetter

import numpy as np
import pyarrow as pa
from convergebench.dataset_builder.dataset.reader import Place, PlacedStep, Reader
from convergebench.dataset_builder.dataset.rows import StepRow
from convergebench.generation.pictures import Undecodable, decode, decode_array, evaluation_size, pixel_hash
from convergebench.generation.records import FinishedChain, Step, Values

# The fixed cost of decoding, resizing and metric calls, expressed in pixels.
_COST_OF_A_PICTURE = 250_000
Span = tuple[str, int, int, int]  # adjacent rows: file, row group, first row, number of rows
Steps = dict[int, PlacedStep]  # of one chain, by number; 0 is its input
PictureAt = Callable[[Place, str], bytes | None]  # reads a column of pictures, as `Reader.picture_at` does


class DatasetChain:
    """A finished chain and facts about its pictures; its steps are read only when they are needed."""

    def __init__(
        self,
        chain: FinishedChain,
        steps: Steps,
        own_reference: Place | None,  # in the table `chains`, if the reference is not the input
        input_copies: list[Place],  # of equal inputs, in this chain and in others
        read_steps: Callable[[], Steps] | None = None,  # by default they stay in memory
    ):
        self.chain, self.own_reference, self.input_copies = chain, own_reference, input_copies
        self.read_steps = read_steps or (lambda: steps)
        first = steps.get(0)
        start = str(first and first.step.sha256)
        self.reference = start if own_reference is None else f"{chain.source.reference or chain.id}:{start}"
        numbered = _numbered(chain, steps)
        hashes = [placed and placed.step.sha256 for placed in numbered.values()]
        content = json.dumps([self.reference, chain.short_side, *hashes])
        self.digest = sha256(content.encode()).hexdigest()[:16]  # if it changes, the chain is scored again
        width, height = (first.step.width, first.step.height) if first else (None, None)
        self.input_size = (width, height) if width and height else None
        self.pixels = max((_area(placed.step) for placed in steps.values()), default=0)  # of the largest picture
        scored = _scored(numbered)
        self.images = len(scored)
        areas = {placed.step.sha256: _area(placed.step) for placed in scored}
        # Pixels to decode and compare, plus a fixed cost for each picture.
        self.cost = sum(areas.values()) + _COST_OF_A_PICTURE * len(areas) + 1

    @property
    def input(self) -> PlacedStep | None:
        return self.read_steps().get(0)

    @property
    def steps(self) -> dict[int, PlacedStep | None]:
        """By number, from 1; a step whose file is gone is None."""
        return _numbered(self.chain, self.read_steps())

    @property
    def scored_steps(self) -> list[PlacedStep]:
        """The answers without shrunk ones, whose distances would mostly measure the resize."""
        return _scored(self.steps)

    @property
    def size(self) -> str:
        size = self.input_size and evaluation_size(*self.input_size, self.chain.short_side)
        return "x".join(map(str, size)) if size else "unknown"


def _numbered(chain: FinishedChain, steps: Steps) -> dict[int, PlacedStep | None]:
    return {number: steps.get(number) for number in range(1, (chain.calls or 0) + 1)}


def _scored(steps: Mapping[int, PlacedStep | None]) -> list[PlacedStep]:
    return [placed for placed in steps.values() if placed and placed.step.status == "ok"]


def _area(step: Step) -> int:
    return (step.width or 0) * (step.height or 0)


def find_chains(reader: Reader) -> list[DatasetChain]:
    """Every chain, those with equal references side by side; of its steps only the places stay in memory."""
    chains = {chain.id: chain for chain in reader.chains()}
    embedded = [row["reference"] is not None for row in reader.table("chains", ["reference.path"]).to_pylist()]
    places = zip(chains.values(), reader.places("chains"), embedded, strict=True)
    references = {chain.id: place for chain, place, has_one in places if has_one or chain.source.reference}
    inputs, spans = defaultdict[str | None, list[Place]](list), defaultdict[str, tuple[Span, ...]](tuple)
    results: dict[str, DatasetChain] = {}

    @lru_cache(maxsize=256)
    def read(spans: tuple[Span, ...]) -> Steps:
        rows = [(place, StepRow.from_values(row)) for place, row in rows_at(reader, spans)]
        return {row.step: PlacedStep(row.chain, row.record(), place) for place, row in rows}

    def add(chain: FinishedChain, steps: Steps) -> None:
        copies = inputs[steps[0].step.sha256] if 0 in steps else []
        read_steps = partial(read, spans[chain.id]) if steps else None
        results[chain.id] = DatasetChain(chain, steps, references.get(chain.id), copies, read_steps)

    for id, group in groupby(reader.all_steps(skip_unreadable=True), key=attrgetter("chain")):
        steps = {placed.step.step: placed for placed in group}
        if 0 in steps:
            inputs[steps[0].step.sha256].append(steps[0].place)
        if id in chains:
            steps = read(spans[id]) | steps  # and rows that are not adjacent, which no build writes
            spans[id] = spans_of(placed.place for placed in steps.values())
            add(chains[id], steps)
    for id in chains.keys() - results.keys():
        add(chains[id], {})
    return sorted(results.values(), key=lambda chain: (chain.chain.source.id, chain.reference, chain.chain.order))


def rows_at(reader: Reader, spans: Iterable[Span]) -> Iterator[tuple[Place, Values]]:
    """The rows of these spans without pictures, and without the checks of `Reader.rows`."""
    for file, group, first, count in spans:
        rows = reader.plain_rows(file, group).slice(first, count).to_pylist()
        yield from ((Place(file, group, number), row) for number, row in enumerate(rows, first))


def spans_of(places: Iterable[Place]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for place in sorted(places):
        file, group, first, count = spans[-1] if spans else ("", 0, 0, 0)
        if place == (file, group, first + count):
            spans[-1] = file, group, first, count + 1
        else:
            spans.append((*place, 1))
    return tuple(spans)


def read_picture(
    picture_at: PictureAt, place: Place, digest: str | None, column: str = "image", of_pixels: bool = False
) -> np.ndarray:
    """Decode a picture of the dataset; raises if its bytes do not have the given hash.

    With `of_pixels` the hash may be that of the pixels, as for a painted source.
    """
    try:
        data = picture_at(place, column)
    except (OSError, pa.ArrowException) as error:
        raise Undecodable(f"{place.file} cannot be read ({str(error).splitlines()[0][:80]})") from error
    if data is None:
        raise Undecodable("the picture's bytes are not in the dataset")
    same = digest in (None, sha256(data).hexdigest())
    if not same and not of_pixels:
        raise Undecodable(f"{len(data)} bytes that are not those received")
    if not same and pixel_hash(decode(data)) != digest:
        raise Undecodable(f"{len(data)} bytes that are not the picture of its sha256")
    return decode_array(data)


def read_input(picture_at: PictureAt, chain: DatasetChain) -> np.ndarray:
    """A chain's input, from any intact copy in the dataset."""
    reason = Undecodable("its file is not in the dataset")
    for place in chain.input_copies:
        try:
            return read_picture(picture_at, place, chain.input.step.sha256 if chain.input else None)
        except Undecodable as error:
            reason = error
    raise reason


def read_reference(picture_at: PictureAt, chain: DatasetChain) -> np.ndarray:
    if chain.own_reference is not None:
        return read_picture(picture_at, chain.own_reference, None, "reference")
    return read_input(picture_at, chain)
