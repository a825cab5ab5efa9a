"""Whether a picture's text still reads the same: the character error of what PP-OCR reads."""

import importlib.metadata
from functools import partial
from typing import Any

import numpy as np

from .._shared.networks import require_packages
from .._shared.scoring import Loaded, PairScorer, Value

_LEAST_CONFIDENCE = 0.5  # of a line; rapidocr's own default


def _load(device: str) -> Loaded:
    require_packages("text fidelity", "rapidocr", "onnxruntime", extra="senses")
    from rapidocr import RapidOCR

    engine: Any = RapidOCR(params={"Global.log_level": "critical", "Global.text_score": _LEAST_CONFIDENCE})

    def read(picture: np.ndarray) -> str:
        lines = engine(np.ascontiguousarray(picture[:, :, ::-1])).txts  # OpenCV's order of channels
        return " ".join(" ".join(lines or ()).split())

    return read, _compare, {"version": 1, "rapidocr": importlib.metadata.version("rapidocr")}


def _compare(reference: str, answer: str) -> dict[str, Value]:
    """The character error rate.

    >>> _compare("GRAND HOTEL", "GRAND MOTEL!")["text_error"] == 2 / 11
    True
    """
    return {"text_error": _edits(reference, answer) / len(reference) if reference else "no_text"}


def _edits(before: str, after: str) -> int:
    """The fewest characters to change, add or drop: Levenshtein's distance."""
    row = list(range(len(after) + 1))
    for number, old in enumerate(before, 1):
        above, row = row, [number]
        for place, new in enumerate(after):
            row.append(min(above[place] + (old != new), above[place + 1] + 1, row[place] + 1))
    return row[-1]


Scorer = partial(PairScorer, _load)
