"""Try yours: scores a visitor's own series by the dataset's rules, and stores none of it."""

import base64
import binascii
import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from convergebench.generation.records import UserError
from convergebench.metric_modules.specs import ceilings, score_columns

from ...analysis.groups import CHECKS, HALF
from ..previews import decode
from ..served_dataset import ServedDataset
from . import series
from .verdict import ROUND_TRIP, Terms

TITLE, ORDER = "Try yours", 70
_NOTE = (
    "Upload the original and the picture after each undo (undone1.png, undone2.png, ...), or one zip of them. Add the "
    "picture after each edit to have edits and undos checked as well. Files are taken in the order of their names. Up "
    f"to {series.MOST_RETURNS} rounds, {series.MOST_FILE_BYTES // 10**6} MB a file, "
    f"{series.MOST_SECONDS:.0f} seconds of scoring. Retained quality is 100% for an identical picture and 0% for "
    "an unrelated one. Your files are scored in memory and never stored."
)


class Scorer:
    """Scores series, one at a time; the floors come from the dataset's own pictures."""

    def __init__(self, dataset: ServedDataset):
        self._dataset = dataset
        self._busy = threading.Lock()

    def score(
        self,
        original: series.File | None,
        files: Sequence[series.File],
        threshold: float,
        edits: Sequence[series.File] = (),
        words: Sequence[str] = (),
    ) -> series.SeriesScore:
        """Without an `original`, the first file by name is the original."""
        if words and len(words) != 2:
            raise UserError(f"{len(words)} instructions were given; give two, the edit and the undo, or none")
        returns = series.read_series(files)
        if original is None:
            if len(returns) < 2:
                raise UserError("one picture cannot be scored; give an original and what came back")
            original, *returns = returns
        forward = series.read_series(edits)
        with self._busy:
            terms = self.terms(original[1], tuple(words) or ROUND_TRIP)
            return series.score(original, returns, self._unrelated, threshold, self._lpips, forward, terms)

    def terms(self, original: bytes, words: tuple[str, ...]) -> Terms:
        """The terms of the dataset's own chains, as far as it has this picture and these instructions."""
        dataset = self._dataset
        source = self._source_of_digest.get(hashlib.sha256(original).hexdigest())
        small = any(chain.program.small for chain in dataset.chains.values() if chain.program.cycle == words)
        checks = next(iter(dataset.counted.values())).checks if dataset.counted else CHECKS
        chain = next((chain for chain in dataset.chains.values() if chain.source.id == source), None)
        if chain is None:
            return Terms(words, small, checks=checks)
        floors = {name: dataset.floors.floor(chain, name) for name in ceilings()}
        usable = {name: low for name, low in floors.items() if low is not None and low != ceilings()[name]}
        return Terms(words, small, chain.short_side, usable, checks)

    @cached_property
    def _source_of_digest(self) -> dict[str, str]:
        """The dataset's pictures by their sha256; degraded ones, which have another reference, are left out."""
        rows = self._dataset.reader.rows("sources", ["source", "image", "reference"])
        files = {row["source"]: row["image"]["bytes"] for row in rows if row["image"] and not row["reference"]}
        return {hashlib.sha256(data).hexdigest(): name for name, data in files.items() if data}

    @cached_property
    def _lpips(self) -> series.Lpips | str:
        return series.load_lpips()

    @cached_property
    def _unrelated(self) -> list[np.ndarray]:
        """The dataset's source pictures, small enough to be kept in memory."""
        pictures: list[np.ndarray] = []
        for row in self._dataset.reader.rows("sources", ["image"]):
            if row["image"] and row["image"]["bytes"] and len(pictures) < series.UNRELATED:
                picture = decode(row["image"]["bytes"])
                picture.thumbnail((1024, 1024))
                pictures.append(np.asarray(picture))
        return pictures


_scorer = lru_cache(maxsize=1)(Scorer)


def score_yours(
    dataset: ServedDataset,
    original: str,
    returns: list[str],
    threshold: float = HALF,
    edits: list[str] = [],  # noqa: B006 - read only, and the API's page shows it
    words: list[str] = [],  # noqa: B006 - read only
) -> dict:
    """An original, its returns in order and, for the whole verdict, the edit before each return.

    Pictures are files in base64; `words` are the two instructions, the edit and the undo.
    """
    names = [f"{kind} {number:03d}" for kind, files in (("return", returns), ("edit", edits))
             for number in range(1, len(files) + 1)]  # fmt: skip
    first = ("original", _from_base64([original])[0])
    return _score(dataset, first, returns, edits, names, words, float(threshold))


def score_files(
    dataset: ServedDataset, original: str, returns: list[str], edits: list[str], names: list[str], words: list[str]
) -> dict:
    """The same with the names of the returns and then of the edits, in whose order they are taken; zips are unpacked.

    Without an original, the first return is it.
    """
    first = ("original", _from_base64([original])[0]) if original else None
    return _score(dataset, first, returns, edits, names, [text for text in words if text.strip()], HALF)


def _score(
    dataset: ServedDataset,
    original: series.File | None,
    returns: list[str],
    edits: list[str],
    names: Sequence[str],
    words: Sequence[str],
    threshold: float,
) -> dict:
    count = len(returns)
    files = list(zip(names, _from_base64([*returns, *edits]), strict=True))
    scored = _scorer(dataset).score(original, files[:count], threshold, files[count:], words)
    return {
        "half_lives": scored.half_lives,
        "returns": scored.rows,
        "steps": scored.steps,
        "verdicts": scored.verdicts,
        "floors": scored.floors,
        "absent": scored.absent,
        "titles": {column.name: column.title for column in score_columns().values() if column.name in scored.rows[0]},
        "compared_at": f"{scored.size[0]}x{scored.size[1]}",
    }


def _from_base64(texts: Sequence[str]) -> list[bytes]:
    try:
        return [base64.b64decode(text, validate=True) for text in texts]
    except (binascii.Error, ValueError, TypeError) as error:
        raise UserError(f"original and returns are picture files in base64 ({error})") from None


def words(dataset: ServedDataset) -> dict[str, str]:
    return {"note": _NOTE}


QUEUED = (score_yours,)
FOR_THE_PAGE = (score_files,)
CONFIDENTIAL = (score_yours, score_files)
