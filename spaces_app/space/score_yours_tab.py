"""The tab in which a visitor's own series is scored beside the editors of the dataset; nothing of it is stored."""

import base64
import binascii
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from convergebench.generation.records import UserError
from convergebench.metric_modules.specs import score_columns

from . import score_yours
from .previews import decode
from .served_dataset import ServedDataset

NOTE = (
    "Upload the original and the picture after each undo (round1.png, round2.png, ...), or one zip of them. Up to "
    f"{score_yours.MOST_RETURNS} pictures, {score_yours.MOST_FILE_BYTES // 10**6} MB a file, "
    f"{score_yours.MOST_SECONDS:.0f} seconds. They are compared at a short side of {score_yours.SHORT_SIDE} pixels; "
    "0% is how different unrelated pictures of this dataset are. Your files are scored in memory and never stored."
)


class Scorer:
    """Scores series, one at a time; the floors come from the dataset's own pictures."""

    def __init__(self, dataset: ServedDataset):
        self.dataset = dataset
        self.busy = threading.Lock()

    def score(
        self, original: tuple[str, bytes] | None, files: Sequence[tuple[str, bytes]], threshold: float
    ) -> score_yours.SeriesScore:
        """Without an `original`, the first file by name is taken for it."""
        returns = score_yours.read_series(files)
        if original is None:
            if len(returns) < 2:
                raise UserError("one picture alone tells nothing; give an original and what came back")
            original, *returns = returns
        with self.busy:
            return score_yours.score(original, returns, self.unrelated, threshold, self.lpips)

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

    def score_yours(original: str, returns: list[str], threshold: float = 0.5) -> dict:
        """An original and its returns in order, each a picture file in base64: distances, retained, half-lives."""
        first, *others = from_base64([original, *returns])
        named = [(f"return {number:03d}", data) for number, data in enumerate(others, 1)]
        return as_answer(scorer.score(("original", first), named, float(threshold)))

    return score_yours


def page_endpoint(scorer: Scorer) -> Callable:
    """The same for the page, with the files' own names; a zip is unpacked, and without an original the first is it."""

    def score_files(original: list[str], names: list[str], files: list[str], threshold: float = 0.5) -> dict:
        if not files:
            raise UserError("no returns were given; add the pictures that came back, or one zip of them")
        first = (original[0], from_base64(original[1:])[0]) if len(original) == 2 else None
        return as_answer(scorer.score(first, list(zip(names, from_base64(files), strict=True)), float(threshold)))

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
        "floors": found.floors,
        "absent": found.absent,
        "titles": {column.name: column.title for column in score_columns().values() if column.name in found.rows[0]},
        "compared_at": f"{found.size[0]}x{found.size[1]}",
    }
