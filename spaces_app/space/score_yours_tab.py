"""The tab in which a visitor's own series is scored beside the editors of the dataset; nothing of it is stored."""

import base64
import binascii
import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from convergebench.generation.records import UserError
from convergebench.metric_modules.specs import ceilings, score_columns

from ..analysis.groups import CHECKS, HALF
from . import score_yours
from .previews import decode
from .series_verdict import ROUND_TRIP, Terms
from .served_dataset import ServedDataset

NOTE = (
    "Upload the original and the picture after each undo (undone1.png, undone2.png, ...), or one zip of them. Add the "
    "picture after each edit to have edits and undos checked as well. Files are taken in the order of their names. Up "
    f"to {score_yours.MOST_RETURNS} rounds, {score_yours.MOST_FILE_BYTES // 10**6} MB a file, "
    f"{score_yours.MOST_SECONDS:.0f} seconds of scoring. Retained quality is 100% for an identical picture and 0% for "
    "an unrelated one. Your files are scored in memory and never stored."
)


class Scorer:
    """Scores series, one at a time; the floors come from the dataset's own pictures."""

    def __init__(self, dataset: ServedDataset):
        self.dataset = dataset
        self.busy = threading.Lock()

    def score(
        self,
        original: tuple[str, bytes] | None,
        files: Sequence[tuple[str, bytes]],
        threshold: float,
        edits: Sequence[tuple[str, bytes]] = (),
        words: Sequence[str] = (),
    ) -> score_yours.SeriesScore:
        """Without an `original`, the first file by name is taken for it."""
        if words and len(words) != 2:
            raise UserError(f"{len(words)} instructions were given; give two, the edit and the undo, or none")
        returns = score_yours.read_series(files)
        if original is None:
            if len(returns) < 2:
                raise UserError("one picture alone tells nothing; give an original and what came back")
            original, *returns = returns
        own = score_yours.read_series(edits)
        with self.busy:
            terms = self.terms(original[1], tuple(words) or ROUND_TRIP)
            return score_yours.score(original, returns, self.unrelated, threshold, self.lpips, own, terms)

    def terms(self, original: bytes, words: tuple[str, ...]) -> Terms:
        """What the dataset judges its own chains by, as far as it has this picture and these instructions."""
        dataset = self.dataset
        source = self.source_of_digest.get(hashlib.sha256(original).hexdigest())
        small = any(chain.program.small for chain in dataset.chains.values() if chain.program.cycle == words)
        checks = next(iter(dataset.counted.values())).checks if dataset.counted else CHECKS
        chain = next((each for each in dataset.chains.values() if each.source.id == source), None)
        if chain is None:
            return Terms(words, small, checks=checks)
        floors = {name: dataset.floors.floor(chain, name) for name in ceilings()}
        known = {name: low for name, low in floors.items() if low is not None and low != ceilings()[name]}
        return Terms(words, small, chain.short_side, known, checks)

    @cached_property
    def source_of_digest(self) -> dict[str, str]:
        """The dataset's pictures by the sha256 of their files; degraded ones, whose reference is another, are not."""
        rows = self.dataset.reader.rows("sources", ["source", "image", "reference"])
        files = {row["source"]: row["image"]["bytes"] for row in rows if row["image"] and not row["reference"]}
        return {hashlib.sha256(data).hexdigest(): name for name, data in files.items() if data}

    @cached_property
    def lpips(self) -> Any:
        return score_yours.load_lpips()

    @cached_property
    def unrelated(self) -> list[np.ndarray]:
        """The dataset's source pictures, small enough to be kept in memory."""
        found: list[np.ndarray] = []
        for row in self.dataset.reader.rows("sources", ["image"]):
            if row["image"] and row["image"]["bytes"] and len(found) < score_yours.UNRELATED:
                picture = decode(row["image"]["bytes"])
                picture.thumbnail((1024, 1024))
                found.append(np.asarray(picture))
        return found


def endpoint(scorer: Scorer) -> Callable:
    """Scoring for programs: pictures as base64, so that no path of this server is ever named."""

    def score_yours(
        original: str,
        returns: list[str],
        threshold: float = 0.5,
        edits: list[str] = [],  # noqa: B006 - read only, and the API's page shows it
        words: list[str] = [],  # noqa: B006 - read only
    ) -> dict:
        """An original, its returns in order and, for the whole verdict, the edit before each return.

        Pictures are files in base64; `words` are the two instructions, the edit and the undo.
        """
        first, *others = from_base64([original, *returns])
        named = [(f"return {number:03d}", data) for number, data in enumerate(others, 1)]
        forward = [(f"edit {number:03d}", data) for number, data in enumerate(from_base64(edits), 1)]
        return as_answer(scorer.score(("original", first), named, float(threshold), forward, words))

    return score_yours


def page_endpoint(scorer: Scorer) -> Callable:
    """The same for the page, with the files' own names; a zip is unpacked, and without an original the first is it."""

    def score_files(
        original: list[str],
        names: list[str],
        files: list[str],
        edit_names: list[str],
        edits: list[str],
        words: list[str],
    ) -> dict:
        if not files:
            raise UserError("no returns were given; add the pictures that came back, or one zip of them")
        first = (original[0], from_base64(original[1:])[0]) if len(original) == 2 else None
        returns = list(zip(names, from_base64(files), strict=True))
        forward = list(zip(edit_names, from_base64(edits), strict=True))
        return as_answer(scorer.score(first, returns, HALF, forward, [each for each in words if each.strip()]))

    return score_files


def from_base64(texts: Sequence[str]) -> list[bytes]:
    try:
        return [base64.b64decode(each, validate=True) for each in texts]
    except (binascii.Error, ValueError, TypeError) as error:
        raise UserError(f"original and returns are picture files in base64 ({error})") from None


def as_answer(found: score_yours.SeriesScore) -> dict[str, Any]:
    return {
        "half_lives": found.half_lives,
        "returns": found.rows,
        "steps": found.steps,
        "verdicts": found.verdicts,
        "floors": found.floors,
        "absent": found.absent,
        "titles": {column.name: column.title for column in score_columns().values() if column.name in found.rows[0]},
        "compared_at": f"{found.size[0]}x{found.size[1]}",
    }
