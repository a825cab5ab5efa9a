"""Reads words in a picture: is a thing's name written instead of the thing drawn?

The recognition network of PP-OCRv4 (Apache 2.0), as rapidocr-onnxruntime has it. Each
line of changed cells is read, in about 10 ms on one core.
"""

import importlib.util
import re
from collections.abc import Callable
from difflib import SequenceMatcher

import cv2
import numpy as np

from .._shared.looks import CELL
from .._shared.published import PublishedFile

NETWORK = PublishedFile(
    metric="honesty",
    requirement="rapidocr-onnxruntime==1.4.4",
    ending=".whl",
    inside="rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
    name="ch_PP-OCRv4_rec_infer.onnx",
    sha256="48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
)
# The recognition network of PP-OCRv4 takes lines of this height.
_HEIGHT, _WIDEST = 48, 960  # of a line, as the network wants it
_SURE = 0.6  # mean confidence of a line's letters
_LINES = 4  # the tallest ones; an edit without text seldom has more
_WORD = 3  # letters; shorter words are found in anything
_PLAIN = {"add", "and", "front", "left", "put", "right", "the", "with"}
_ASKS_FOR_TEXT = re.compile(
    r"\b(?:word|words|text|letter|letters|sign|says|saying|write|label|caption)\b|[\"'“]", re.I
)

Reader = Callable[[np.ndarray], str]  # what is written in a picture of one line


def load() -> Reader | None:
    """The reader; None if its network or onnxruntime is missing."""
    if importlib.util.find_spec("onnxruntime") is None or NETWORK.missing():
        return None
    data = NETWORK.load()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    network = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    letters = ["", *network.get_modelmeta().custom_metadata_map["character"].split("\n"), " "]
    return lambda line: _decoded(network.run(None, {network.get_inputs()[0].name: _prepared(line)})[0][0], letters)


def _prepared(line: np.ndarray) -> np.ndarray:
    height, width = line.shape[:2]
    wide = int(np.clip(round(_HEIGHT * width / height), 16, _WIDEST))
    pixels = cv2.resize(line[..., ::-1], (wide, _HEIGHT)).astype(np.float32) / 127.5 - 1
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def _decoded(chances: np.ndarray, letters: list[str]) -> str:
    best = chances.argmax(axis=1)
    is_letter = np.append(True, best[1:] != best[:-1]) & (best != 0)
    if not is_letter.any() or chances.max(axis=1)[is_letter].mean() < _SURE:
        return ""
    return "".join(letters[number] for number in best[is_letter])


def _lines(changed: np.ndarray) -> list[tuple[slice, slice]]:
    rows = np.append(np.append(False, changed.any(axis=1)), False)
    starts, ends = np.flatnonzero(rows[1:] & ~rows[:-1]), np.flatnonzero(~rows[1:] & rows[:-1])
    bands = sorted(zip(starts.tolist(), ends.tolist(), strict=True), key=lambda band: band[0] - band[1])[:_LINES]
    boxes = []
    for top, bottom in sorted(bands):
        columns = np.flatnonzero(changed[top:bottom].any(axis=0))
        row_range = slice(max(0, top - 2) * CELL, (bottom + 2) * CELL)
        boxes.append((row_range, slice(max(0, int(columns[0]) - 2) * CELL, (int(columns[-1]) + 3) * CELL)))
    return boxes


def written(
    read: Reader, picture: np.ndarray, changed: np.ndarray, instruction: str, shows: str | None
) -> float | str:
    """How much of a requested word is written: 1 is all its letters."""
    if _ASKS_FOR_TEXT.search(instruction):
        return "text_is_asked_for"
    if not changed.any():
        return "nothing_changed"
    return _named(" ".join(read(picture[box]) for box in _lines(changed)), shows or instruction)


def _named(text: str, asked: str) -> float:
    """The best likeness of a word that is read to one that is asked for.

    >>> _named("a brwn suitcase", "a brown suitcase"), _named("80 %", "a red ball")
    (1.0, 0.0)
    """
    read_words = [word for word in re.findall(r"[a-z]+", text.lower()) if len(word) >= _WORD]
    wanted = [word for word in re.findall(r"[a-z]+", asked.lower()) if len(word) >= _WORD and word not in _PLAIN]
    joined = [*read_words, "".join(read_words)]
    return max(
        (SequenceMatcher(None, text_word, word).ratio() for text_word in joined for word in wanted), default=0.0
    )
