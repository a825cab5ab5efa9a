"""PIQE as pure functions: the share of a picture's busy blocks that are visibly impaired or noisy."""

import numpy as np

from .._shared.scoring import Signature
from ..brisque.nss import GREY, contrast_normalised, scorer_of

# These four are those of Venkatanath et al., Blind image
# quality evaluation using perception based features (2015).
_BLOCK = 16
_ACTIVITY = 0.1  # the variance from which a block is busy
_IMPAIRED = 0.1  # the deviation below which a piece of a block's edge is flat
_SEGMENT = 6  # pixels of such a piece


def piqe(picture: np.ndarray) -> float:
    """0 is undamaged, 100 is worst, or no block is busy.

    >>> piqe(np.zeros((16, 16, 3), np.uint8))
    100.0
    """
    grey = picture.astype(np.float64) @ np.array(GREY, np.float64) / 1000
    if grey.max() == 0:
        return 100.0
    levels = np.rint(255 * (grey / grey.max()))
    # The published code pads by the remainder, not up to the next block; incomplete blocks are left out.
    down, right = (side % _BLOCK for side in levels.shape)
    normalised = contrast_normalised(np.pad(levels, ((0, down), (0, right)), mode="symmetric"))
    rows, columns = (side // _BLOCK for side in normalised.shape)
    cut = normalised[: rows * _BLOCK, : columns * _BLOCK]
    blocks = cut.reshape(rows, _BLOCK, columns, _BLOCK).swapaxes(1, 2).reshape(-1, _BLOCK, _BLOCK)
    variance = blocks.var((1, 2), ddof=1)
    is_busy = variance > _ACTIVITY
    impaired, noisy = _has_flat_edge(blocks), _is_noisy(blocks, np.sqrt(variance))
    harm = (is_busy & impaired) * (1 - variance) + (is_busy & noisy) * variance
    return float((harm.sum() + 1) / (is_busy.sum() + 1) * 100)


def _has_flat_edge(blocks: np.ndarray) -> np.ndarray:
    edges = np.stack([blocks[:, 0], blocks[:, -1], blocks[:, :, 0], blocks[:, :, -1]], axis=1)
    pieces = np.lib.stride_tricks.sliding_window_view(edges, _SEGMENT, axis=-1)
    return (pieces.std(-1, ddof=1) < _IMPAIRED).any((1, 2))


def _is_noisy(blocks: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    middle = _BLOCK // 2
    centre = blocks[:, :, middle - 1 : middle + 1]
    # The published code deletes one column, then another by its original index.
    around = np.delete(blocks, (middle - 1, middle + 1), axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.nan_to_num(centre.std((1, 2), ddof=1) / around.std((1, 2), ddof=1))
        share = np.abs(deviation - ratio) / np.maximum(deviation, ratio)
    return deviation > 2 * share


_SETTINGS: Signature = {"version": 1, "block": _BLOCK, "activity": _ACTIVITY, "impaired": _IMPAIRED}
Scorer = scorer_of("piqe", _SETTINGS, piqe, tuple)
