"""Tests whether an editor remembers what its edit covered: does the return match it better than a guess could?

The return and several fillers, which never saw what is covered, are compared with the original there,
after the same local registration. The advantage is Fisher's z of the correlation of the return's
detail minus that of the best filler, in the band of scales in which it is largest. By Fisher's z,
from .95 to .99 is as far as from .3 to .8: details that are almost right are hard to guess.
"""

import functools
import importlib.util
from typing import TYPE_CHECKING

import cv2
import numpy as np
from convergebench.generation import packages

from .._shared.looks import SIDE, VISIBLE, find_edit

if TYPE_CHECKING:
    import onnxruntime

_SIDE = 256  # pixels of the short side of the compared pictures: no disguise leaves finer detail intact
# Bands of detail, each between two sigmas in pixels at
# _SIDE: from texture to a thumbnail of 16 pixels a side.
_BANDS = ((0.5, 1.5), (1.5, 4.0), (4.0, 12.0))
_FEWEST_PIXELS = 250  # that must be covered: a disc of 18 pixels
_LEAST_DETAIL = 2.0  # standard deviation of the original in a band, in grey levels
_GUESSABLE = 0.85  # if the best filler correlates as well as this, a band can tell nothing
_MARGIN = 48  # pixels around the hole that are compared
_RING = 8  # pixels around the hole that a piece must fit
_PIECES = 4  # pieces of the picture itself that serve as fillers
_LONGEST_SHIFT = 6.0  # pixels that a registration may move anything
RIM = 1  # cells at the region's rim that do not count, because they are half covered
# Subtracted if the network is missing: published editors beat the plain fillers alone by as much.
_NETWORK_KNOWS = 0.35
_CLIPPED_AT = 0.99  # a higher correlation does not survive wear
_LEAST_SHARE = 0.001  # of the picture


def covered_cells(before: np.ndarray, forward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells that an edit certainly covers, and all cells that it touches."""
    (size, *_), region = find_edit(before, forward)
    covered = region & (size > VISIBLE)
    return covered if covered.mean() >= _LEAST_SHARE else np.zeros_like(covered), region


def grow(cells: np.ndarray, by: int = RIM) -> np.ndarray:
    return cv2.dilate(cells.astype(np.uint8), np.ones((2 * by + 1, 2 * by + 1), np.uint8)).astype(bool)


def advantage(
    source: np.ndarray, forward: np.ndarray, returned: np.ndarray, touched: np.ndarray, cells: np.ndarray
) -> float | str:
    """How much closer than any filler the return comes to what `cells` covered; a reason if it cannot be judged."""
    source, forward, returned = (_small(picture) for picture in (source, forward, returned))
    hole = _pixels(grow(touched, 2), source.shape)
    mask = _pixels(~grow(~cells), source.shape)
    mask &= ~_seen_through(_grey(source), _grey(forward))
    if mask.sum() < _FEWEST_PIXELS:
        return "too_little_covered"
    rows, columns = (slice(max(0, at.min() - _MARGIN), at.max() + _MARGIN) for at in np.nonzero(hole))
    original, shown, answer = (picture[rows, columns] for picture in (source, forward, returned))
    detail = [_band(original, *sigmas)[mask[rows, columns]] for sigmas in _BANDS]
    if max(band.std() for band in detail) < _LEAST_DETAIL:
        return "too_little_detail"
    fillings = [filling[rows, columns] for filling in _fillings(source, hole)]
    own_correlations, *filler_correlations = (
        _correlations(original, picture, mask[rows, columns]) for picture in (answer, shown, *fillings)
    )
    best = np.max(filler_correlations, axis=0)
    judged = [
        band.std() >= _LEAST_DETAIL and guess < _GUESSABLE for band, guess in zip(detail, best, strict=True)
    ]
    subtracted = 0.0 if _network() else _NETWORK_KNOWS
    gain = np.arctanh(np.clip(own_correlations, 0, _CLIPPED_AT)) - np.arctanh(np.clip(best, 0, _CLIPPED_AT))
    return float(gain[judged].max()) - subtracted if any(judged) else "can_be_guessed"


def _small(picture: np.ndarray) -> np.ndarray:
    size = tuple(side * _SIDE // SIDE for side in picture.shape[1::-1])
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)


def _pixels(cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return cv2.resize(cells.astype(np.uint8), shape[1::-1], interpolation=cv2.INTER_NEAREST).astype(bool)


def _grey(picture: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)


def _band(picture: np.ndarray, fine: float, coarse: float) -> np.ndarray:
    values = picture.astype(np.float32)
    return cv2.GaussianBlur(values, (0, 0), fine) - cv2.GaussianBlur(values, (0, 0), coarse)


def _seen_through(before: np.ndarray, forward: np.ndarray) -> np.ndarray:
    detail, other = _band(before, 0.5, 2.0), _band(forward, 0.5, 2.0)
    shared, first, second = (
        cv2.GaussianBlur(values, (0, 0), 3) for values in (detail * other, detail**2, other**2)
    )
    return shared / np.sqrt((first + 1) * (second + 1)) > 0.5


def _correlations(original: np.ndarray, picture: np.ndarray, mask: np.ndarray) -> np.ndarray:
    picture = _registered(original, picture)
    values = []
    for sigmas in _BANDS:
        first, second = (_band(image, *sigmas)[mask] for image in (original, picture))
        first, second = first - first.mean(axis=0), second - second.mean(axis=0)
        norm = float(np.linalg.norm(first) * np.linalg.norm(second))
        values.append(float((first * second).sum()) / norm if norm > 1e-3 else 0.0)
    return np.array(values)


def _registered(original: np.ndarray, picture: np.ndarray) -> np.ndarray:
    """The picture warped onto the original by a smooth field. Fillers are registered too, so it favours neither."""
    first, second = (cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (original, picture))
    optical_flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
    flow = optical_flow.calc(first, second, np.zeros((*first.shape, 2), np.float32))
    field = np.clip(cv2.GaussianBlur(flow, (0, 0), 8), -_LONGEST_SHIFT, _LONGEST_SHIFT)
    down, right = np.mgrid[: first.shape[0], : first.shape[1]].astype(np.float32)
    return cv2.remap(
        picture, right + field[..., 0], down + field[..., 1], cv2.INTER_LINEAR, None, cv2.BORDER_REFLECT
    )


def _fillings(picture: np.ndarray, hole: np.ndarray) -> list[np.ndarray]:
    """The picture with its hole filled from what is around it, once by each method."""
    mask = hole.astype(np.uint8)
    bare = np.where(hole[..., None], 0, picture).astype(np.uint8)
    filled = [cv2.inpaint(bare, mask, 3, method) for method in (cv2.INPAINT_TELEA, cv2.INPAINT_NS)]
    filled += [np.where(hole[..., None], piece, picture) for piece in _pieces(bare, mask)]
    if network := _network():
        # The network blends at the hole's rim, so it is given a filled picture and not a black hole.
        inputs = {"image": filled[0].transpose(2, 0, 1)[None], "mask": ((1 - mask) * 255)[None, None]}
        filled.append(network.run(["result"], inputs)[0][0].transpose(1, 2, 0))
    return filled


def _pieces(bare: np.ndarray, mask: np.ndarray) -> list[np.ndarray]:
    """The picture moved by the shifts at which its ring around the hole fits best: facades and tiles repeat."""
    (top, bottom), (left, right) = ((max(0, at.min() - _RING), at.max() + _RING) for at in np.nonzero(mask))
    ring, hole = bare[top:bottom, left:right], mask[top:bottom, left:right].astype(np.float32)
    outside = np.repeat(1 - hole[..., None], 3, axis=2)
    gap = cv2.matchTemplate(bare.astype(np.float32), ring.astype(np.float32), cv2.TM_SQDIFF, mask=outside)
    # A piece must not contain the hole.
    gap[cv2.matchTemplate(mask.astype(np.float32), hole, cv2.TM_CCORR) > 0.5] = np.inf
    pieces = []
    for _ in range(_PIECES):
        down, across = np.unravel_index(int(np.argmin(gap)), gap.shape)
        if not np.isfinite(gap[down, across]):
            break
        shift = np.array([[1, 0, left - across], [0, 1, top - down]], np.float32)
        pieces.append(cv2.warpAffine(bare, shift, bare.shape[1::-1], borderMode=cv2.BORDER_REFLECT))
        gap[max(0, down - 3) : down + 4, max(0, across - 3) : across + 4] = np.inf
    return pieces


def fillers() -> str:
    """Which fillers were used, for the signature: the advantage depends on them."""
    return "migan" if _network() else "plain"


@functools.cache
def _network() -> "onnxruntime.InferenceSession | None":
    """MI-GAN, the strongest filler that runs on a CPU, if the editor `migan` has downloaded its weights."""
    path = packages.cache_folder() / "weights" / "migan_pipeline_v2.onnx"
    if importlib.util.find_spec("onnxruntime") is None or not path.is_file():
        return None
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
