"""A dataset's chains, listed without decoding a picture."""

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
import pyarrow as pa
from convergebench.dataset_builder.dataset.reader import Place, PlacedStep, Reader
from convergebench.generation.pictures import Undecodable, decode, decode_array, evaluation_size, pixel_hash
from convergebench.generation.records import FinishedChain, Step

# The fixed cost of decoding, resizing and metric calls, expressed in pixels.
_COST_OF_A_PICTURE = 250_000


@dataclass(frozen=True)
class DatasetChain:
    """A finished chain; a step whose file is gone is None."""

    chain: FinishedChain
    input: PlacedStep | None
    steps: dict[int, PlacedStep | None]  # by number, from 1
    own_reference: Place | None  # in `chains`, if the reference is another picture than the input
    input_copies: list[Place]  # in this chain and in others with the same input

    @cached_property
    def scored_steps(self) -> list[PlacedStep]:
        """Without shrunk answers, whose distances would mostly measure the resize."""
        return [placed for placed in self.steps.values() if placed and placed.step.status == "ok"]

    @property
    def reference(self) -> str:
        """Equal for chains that are compared with the same picture."""
        start = str(self.input and self.input.step.sha256)
        if self.own_reference is not None:
            return f"{self.chain.source.reference or self.chain.id}:{start}"
        return start

    @cached_property
    def digest(self) -> str:
        """A hash of its pictures; with another one it is scored again."""
        content = [
            self.reference,
            self.chain.short_side,
            *(placed and placed.step.sha256 for placed in self.steps.values()),
        ]
        return sha256(json.dumps(content).encode()).hexdigest()[:16]

    @property
    def size(self) -> str:
        if not (self.input and self.input.step.width and self.input.step.height):
            return "unknown"
        width, height = evaluation_size(self.input.step.width, self.input.step.height, self.chain.short_side)
        return f"{width}x{height}"

    @property
    def pixels(self) -> int:
        return max((_area(placed.step) for placed in (self.input, *self.steps.values()) if placed), default=0)

    @cached_property
    def cost(self) -> int:
        """Pixels to decode and compare, plus a fixed cost for each picture."""
        areas = {placed.step.sha256: _area(placed.step) for placed in self.scored_steps}
        return sum(areas.values()) + _COST_OF_A_PICTURE * len(areas) + 1


def _area(step: Step) -> int:
    return (step.width or 0) * (step.height or 0)


def find_chains(reader: Reader) -> list[DatasetChain]:
    """Every chain of the dataset, those with equal references side by side."""
    steps: dict[str, dict[int, PlacedStep]] = defaultdict(dict)
    inputs: dict[str | None, list[Place]] = defaultdict(list)
    for placed in reader.all_steps(skip_unreadable=True):
        steps[placed.chain][placed.step.step] = placed
        if placed.step.step == 0:
            inputs[placed.step.sha256].append(placed.place)
    embedded = [row["reference"] is not None for row in reader.table("chains", ["reference.path"]).to_pylist()]
    chains = []
    for chain, place, has_reference in zip(reader.chains(), reader.places("chains"), embedded, strict=True):
        chain_steps = steps.get(chain.id, {})
        numbered = {number: chain_steps.get(number) for number in range(1, (chain.calls or 0) + 1)}
        reference = place if has_reference or chain.source.reference else None
        first = chain_steps.get(0)
        copies = inputs[first.step.sha256] if first else []
        chains.append(DatasetChain(chain, first, numbered, reference, copies))
    return sorted(chains, key=lambda chain: (chain.chain.source.id, chain.reference, chain.chain.order))


def read_picture(
    reader: Reader, place: Place, digest: str | None, column: str = "image", of_pixels: bool = False
) -> np.ndarray:
    """Decode a picture of the dataset. If its hash is known, other bytes are refused.

    With `of_pixels` the hash may be that of the pixels, as for a painted source.
    """
    try:
        data = reader.picture_at(place, column)
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


def read_input(reader: Reader, chain: DatasetChain) -> np.ndarray:
    """A chain's input, from any intact copy in the dataset."""
    reason = Undecodable("its file is not in the dataset")
    for place in chain.input_copies:
        try:
            return read_picture(reader, place, chain.input.step.sha256 if chain.input else None)
        except Undecodable as error:
            reason = error
    raise reason


def read_reference(reader: Reader, chain: DatasetChain) -> np.ndarray:
    if chain.own_reference is not None:
        return read_picture(reader, chain.own_reference, None, "reference")
    return read_input(reader, chain)
