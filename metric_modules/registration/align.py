"""Finds the shift and scale of a prediction against its reference, from blocks that are matched one by one."""

from collections.abc import Mapping
from typing import NamedTuple

import cv2
import numpy as np

LEVELS = (256, 512)  # short sides, coarse to fine; a smaller reference is used unscaled
_BLOCK = 9  # the short side is this many blocks long at the coarsest level
_REACH = 16  # and this many times the reach of the search for a block: 32 pixels of 512
_FINE_REACH = 3  # pixels around the coarser match that the finer level searches
_SMALLEST = 64  # pixels a side; smaller pictures have no room for blocks
_TEXTURE = 1.0  # grey levels a pixel, along a block's flattest direction; a flatter block fits anywhere
FEWEST, _MOST = 12, 128  # textured blocks; of more, those with the most texture
_ZOOM = 0.08  # the most that the scale may differ from 1
STILL = 0.25  # pixels of the finer level; if the median block moved less, nothing is undone
RESIDUAL = 2.0  # pixels of the finer level; the median block may not be further from where shift and scale put it


# A reference's shape, it in grey at every level, and the middles of its textured blocks (x, y).
Anchors = tuple[tuple[int, int], list[np.ndarray], np.ndarray]


class Placement(NamedTuple):
    """The reference, magnified by `scale` about its middle and moved by `x` and `y` pixels, gives the prediction."""

    x: float
    y: float
    scale: float
    residual: float  # of the median block, in pixels of the finer level; infinite where half are found nowhere
    unmoved: float  # the residual if nothing had moved
    blocks: int

    @property
    def accepted(self) -> bool:
        return self.blocks >= FEWEST and self.residual < RESIDUAL

    @property
    def still(self) -> bool:
        """Whether undoing the move would cost more than it gives, or explain next to nothing."""
        return self.unmoved < STILL or self.residual > self.unmoved / 2


def recorded(scores: Mapping[str, object], shape: tuple[int, ...]) -> Placement | None:
    """Where the scores of a picture put it on its reference; None if that is unknown or it has hardly moved."""
    moves = [scores.get(name) for name in ("shift_x", "shift_y", "scale")]
    right, down, scale = (float(move) if isinstance(move, float | int) else np.nan for move in moves)
    side = min(shape[:2])
    moved = np.abs([right, down, (scale - 1) * side / 2]).max()
    return Placement(right, down, scale, 0.0, np.inf, 0) if moved >= STILL * side / LEVELS[-1] else None


def _pyramid(picture: np.ndarray) -> list[np.ndarray]:
    """In grey at every level not larger than the picture, or at its own size if all are larger."""
    flat = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    height, width = flat.shape
    short = min(height, width)
    greys = [flat] if short <= LEVELS[-1] and short not in LEVELS else []
    for side in (side for side in LEVELS[::-1] if side <= short):
        size = round(width * side / short), round(height * side / short)
        # Halving from level to level costs a third of shrinking the full picture each time.
        greys.append(cv2.resize(greys[-1] if greys else flat, size, interpolation=cv2.INTER_AREA))
    return greys[::-1]


def anchors(reference: np.ndarray) -> Anchors:
    greys = _pyramid(reference)
    coarse = greys[0]
    if min(coarse.shape) < _SMALLEST:
        return reference.shape[:2], greys, np.zeros((0, 2))
    side, reach = _blocks_of(coarse)
    edge = reach + side // 2 + 1
    x, y = (
        np.arange(edge + (length - 2 * edge) % side // 2, length - edge + 1, side)
        for length in coarse.shape[::-1]
    )
    centres = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    texture = _flattest(coarse, side)[centres[:, 1], centres[:, 0]]
    zoom = min(reference.shape[:2]) / min(coarse.shape)
    best = np.argsort(-texture, kind="stable")[:_MOST]
    return reference.shape[:2], greys, centres[best[texture[best] >= _TEXTURE]] * zoom


def _blocks_of(coarse: np.ndarray) -> tuple[int, int]:
    return min(coarse.shape) // _BLOCK, min(coarse.shape) // _REACH


def _flattest(picture: np.ndarray, side: int) -> np.ndarray:
    values = picture.astype(np.float32)
    right, down = (cv2.Sobel(values, cv2.CV_32F, 1 - d, d, scale=1 / 8) for d in (0, 1))
    xx, xy, yy = (cv2.blur(product, (side, side)) for product in (right * right, right * down, down * down))
    return np.sqrt(np.maximum((xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy * xy), 0))


def locate(anchors: Anchors, prediction: np.ndarray) -> Placement:
    """Find every block in a prediction of the reference's size, then the shift and scale most agree on."""
    shape, greys, centres = anchors
    if prediction.shape[:2] != shape:
        sizes = f"{prediction.shape[1]}x{prediction.shape[0]} and the reference {shape[1]}x{shape[0]}"
        raise ValueError(f"the prediction is {sizes}; give one size")
    if len(centres) < FEWEST:
        return Placement(0, 0, 1, np.inf, np.inf, len(centres))
    moves = np.zeros((len(centres), 2))
    side, reach = _blocks_of(greys[0])
    for level, (reference, seen) in enumerate(zip(greys, _pyramid(prediction), strict=True)):
        zoom = min(seen.shape) / min(shape)
        half = side * min(seen.shape) // min(greys[0].shape) // 2
        for number, centre in enumerate(centres):
            move = _sought(
                reference, seen, centre * zoom, moves[number] * zoom, half, _FINE_REACH if level else reach
            )
            if move is not None:
                moves[number] = move / zoom
            elif level == 0:
                moves[number] = np.nan
    return _agreed(centres - (np.array(shape[::-1]) - 1) / 2, moves, zoom)


def _sought(
    reference: np.ndarray, seen: np.ndarray, centre: np.ndarray, move: np.ndarray, half: int, reach: int
) -> np.ndarray | None:
    """How far one block moved; None if it is not there."""
    if np.isnan(move).any():
        return None
    x, y = np.rint(centre).astype(int)
    right, down = np.rint(move).astype(int)
    far = half + reach
    template = reference[y - half : y + half + 1, x - half : x + half + 1]
    window = seen[max(y + down - far, 0) : y + down + far + 1, max(x + right - far, 0) : x + right + far + 1]
    if window.shape != (2 * far + 1, 2 * far + 1) or template.shape != (2 * half + 1, 2 * half + 1):
        return None  # too near the rim to be looked for
    scores = cv2.matchTemplate(window, template, cv2.TM_CCOEFF_NORMED)
    row, column = np.unravel_index(int(scores.argmax()), scores.shape)
    if not (0 < row < 2 * reach and 0 < column < 2 * reach):
        return None  # the best match is at the edge of what was searched
    along, across = scores[row, column - 1 : column + 2], scores[row - 1 : row + 2, column]
    return np.array([right + column - reach + _vertex(along), down + row - reach + _vertex(across)])


def _vertex(three: np.ndarray) -> float:
    bend = float(three[0] + three[2] - 2 * three[1])
    return 0.0 if bend == 0 else float(three[0] - three[2]) / (2 * bend)


def _agreed(centres: np.ndarray, moves: np.ndarray, zoom: float) -> Placement:
    is_located = ~np.isnan(moves).any(axis=1)
    if 2 * is_located.sum() <= len(is_located):
        return Placement(0, 0, 1, np.inf, np.inf, len(is_located))
    before, after = centres[is_located], centres[is_located] + moves[is_located]
    first, second = np.triu_indices(len(before), 1)
    offsets = before[second] - before[first]
    length = (offsets * offsets).sum(axis=1)
    far = length >= np.median(length)  # near blocks tell little about scale
    first, second, offsets, length = first[far], second[far], offsets[far], length[far]
    scales = ((after[second] - after[first]) * offsets).sum(axis=1) / length
    shifts = (after[first] + after[second] - scales[:, None] * (before[first] + before[second])) / 2
    plausible = abs(scales - 1) <= _ZOOM
    scales, shifts = scales[plausible], shifts[plausible]
    if not len(scales):
        return Placement(0, 0, 1, np.inf, np.inf, len(is_located))
    errors = np.linalg.norm(after - scales[:, None, None] * before - shifts[:, None], axis=2)
    best = int(np.median(errors, axis=1).argmin())
    agree = errors[best] <= max(1 / zoom, 2.5 * float(np.median(errors[best])))
    from_middle, to_middle = before[agree] - before[agree].mean(axis=0), after[agree] - after[agree].mean(axis=0)
    spread = float((from_middle * from_middle).sum())
    scale = float((from_middle * to_middle).sum()) / spread
    shift = after[agree].mean(axis=0) - scale * before[agree].mean(axis=0)
    misfits = np.full((2, len(is_located)), np.inf)
    misfits[:, is_located] = zoom * np.linalg.norm([after - scale * before - shift, after - before], axis=2)
    residual, unmoved = np.median(misfits, axis=1)
    return Placement(float(shift[0]), float(shift[1]), scale, float(residual), float(unmoved), len(is_located))
