"""Does a return know what its edit covered better than it can be guessed?

The return and several fillers without memory are compared with the covered original, each after the same local
registration. The advantage is Fisher's z of the correlation of the return's detail, minus that of the best filler, in
the band of scales in which it is largest: from .95 to .99 is as far as from .3 to .8, because to be nearly right where
others are not is hard to guess.
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

_SIDE = 256  # of the short side, on which knowledge is judged: finer detail survives no disguise
# Bands of detail, between two sigmas in pixels of _SIDE: from texture to a thumbnail of 16 pixels a side.
_BANDS = ((0.5, 1.5), (1.5, 4.0), (4.0, 12.0))
_FEWEST_PIXELS = 250  # of covered ones: a disc of 18 pixels
_LEAST_DETAIL = 2.0  # grey levels of the original in a band
_GUESSABLE = 0.85  # correlation of the best filler from which a band has nothing left to know
_MARGIN = 48  # pixels around the hole that are compared, and that a piece must fit
_RING = 8
_PIECES = 4  # of the picture itself, as fillers
_FAR = 6.0  # pixels by which a registration may move anything
RIM = 1  # cells taken off the region's rim: those are half covered
# Taken off where the network is missing: against the plain fillers alone, published editors are better by as much.
_NETWORK_KNOWS = 0.35
_MOST = 0.99  # correlation; wear leaves no more
_LEAST_SHARE = 0.001  # of the picture


def covered_cells(before: np.ndarray, forward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells that an edit covers for certain, and all that it touches."""
    (size, _), region = find_edit(before, forward)
    covered = region & (size > VISIBLE)
    return covered if covered.mean() >= _LEAST_SHARE else np.zeros_like(covered), region


def grown(cells: np.ndarray, by: int = RIM) -> np.ndarray:
    return cv2.dilate(cells.astype(np.uint8), np.ones((2 * by + 1, 2 * by + 1), np.uint8)).astype(bool)


def advantage(
    source: np.ndarray, forward: np.ndarray, returned: np.ndarray, touched: np.ndarray, cells: np.ndarray
) -> float | str:
    """How much better than any filler the return knows what `cells` covered."""
    pictures = [_small(picture) for picture in (source, forward, returned)]
    hole = _pixels(grown(touched, 2), pictures[0].shape)
    mask = _pixels(~grown(~cells), pictures[0].shape)
    mask &= ~_seen_through(_grey(pictures[0]), _grey(pictures[1]))
    if mask.sum() < _FEWEST_PIXELS:
        return "too_little_covered"
    rows, columns = (slice(max(0, at.min() - _MARGIN), at.max() + _MARGIN) for at in np.nonzero(hole))
    original, shown, answer = (picture[rows, columns] for picture in pictures)
    detail = [_band(original, *sigmas)[mask[rows, columns]] for sigmas in _BANDS]
    if max(band.std() for band in detail) < _LEAST_DETAIL:
        return "too_little_detail"
    fillings = [filling[rows, columns] for filling in _fillings(pictures[0], hole)]
    known, *guessed = (
        _correlations(original, picture, mask[rows, columns]) for picture in (answer, shown, *fillings)
    )
    best = np.max(guessed, axis=0)
    judged = [band.std() >= _LEAST_DETAIL and guess < _GUESSABLE for band, guess in zip(detail, best, strict=True)]
    handicap = 0.0 if _network() else _NETWORK_KNOWS
    gain = np.arctanh(np.clip(known, 0, _MOST)) - np.arctanh(np.clip(best, 0, _MOST))
    return float(gain[judged].max()) - handicap if any(judged) else "can_be_guessed"


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
        first, second = (_band(each, *sigmas)[mask] for each in (original, picture))
        first, second = first - first.mean(axis=0), second - second.mean(axis=0)
        norm = float(np.linalg.norm(first) * np.linalg.norm(second))
        values.append(float((first * second).sum()) / norm if norm > 1e-3 else 0.0)
    return np.array(values)


def _registered(original: np.ndarray, picture: np.ndarray) -> np.ndarray:
    """The picture warped onto the original by a smooth field; what is guessed gains as much as what is known."""
    first, second = (cv2.cvtColor(each, cv2.COLOR_RGB2GRAY) for each in (original, picture))
    finder = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
    flow = finder.calc(first, second, np.zeros((*first.shape, 2), np.float32))
    field = np.clip(cv2.GaussianBlur(flow, (0, 0), 8), -_FAR, _FAR)
    down, right = np.mgrid[: first.shape[0], : first.shape[1]].astype(np.float32)
    return cv2.remap(
        picture, right + field[..., 0], down + field[..., 1], cv2.INTER_LINEAR, None, cv2.BORDER_REFLECT
    )


def _fillings(picture: np.ndarray, hole: np.ndarray) -> list[np.ndarray]:
    """The picture with its hole filled by what is around it, in each way."""
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
    gap[cv2.matchTemplate(mask.astype(np.float32), hole, cv2.TM_CCORR) > 0.5] = np.inf  # no hole fills a hole
    found = []
    for _ in range(_PIECES):
        down, across = np.unravel_index(int(np.argmin(gap)), gap.shape)
        if not np.isfinite(gap[down, across]):
            break
        shift = np.array([[1, 0, left - across], [0, 1, top - down]], np.float32)
        found.append(cv2.warpAffine(bare, shift, bare.shape[1::-1], borderMode=cv2.BORDER_REFLECT))
        gap[max(0, down - 3) : down + 4, max(0, across - 3) : across + 4] = np.inf
    return found


def fillers() -> str:
    """For the signature: what is known depends on what can be guessed."""
    return "migan" if _network() else "plain"


@functools.cache
def _network() -> "onnxruntime.InferenceSession | None":
    """MI-GAN, if `migan` has fetched its weights: the strongest filler that runs on a CPU."""
    path = packages.cache_folder() / "weights" / "migan_pipeline_v2.onnx"
    if importlib.util.find_spec("onnxruntime") is None or not path.is_file():
        return None
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
