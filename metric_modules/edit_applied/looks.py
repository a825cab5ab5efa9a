"""Pictures as this metric compares them: CIELAB cells, with colour drift and small shifts forgiven."""

from typing import NamedTuple

import cv2
import numpy as np

SIDE = 512  # every picture is brought to this short side ...
CELL = 4  # ... and averaged over cells of so many pixels
LONGEST = 4 * SIDE  # a longer side is squeezed to this, so that a strip of a picture stays affordable
REACH = 2  # cells by which a detail may have moved without having changed
DRIFT = 6.0  # mean delta E that a colour drift may move; what moves more is an edit of the whole picture
VISIBLE = 12.0  # delta E above which a cell has changed


def look(picture: np.ndarray) -> np.ndarray:
    """The grid of cells (rows, columns, Lab; float32) of an RGB uint8 picture: make it once, compare it often."""
    height, width = picture.shape[:2]
    zoom = SIDE / min(height, width)
    rows, columns = (round(min(side * zoom, LONGEST) / CELL) for side in (height, width))
    size = (columns * CELL, rows * CELL)
    if size != (width, height):
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_CUBIC)
    lab = cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return cv2.resize(cv2.GaussianBlur(lab, (0, 0), 2), (columns, rows), interpolation=cv2.INTER_AREA)


def fitted(cells: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The cells stretched to another grid, where an answer came back in another shape."""
    if cells.shape == like.shape:
        return cells
    return cv2.resize(cells, like.shape[1::-1], interpolation=cv2.INTER_AREA)


def drifted(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """`before` in the colours of `after`: a robust affine map of the colours, moving them DRIFT on average at most.

    It is fitted on coarse cells, where small shifts matter little, and cells that follow no common map (an added
    object) lose their weight. The limit keeps a deliberate change of the whole picture, such as monochrome, visible.
    """
    coarse = tuple(max(2, side // 4) for side in before.shape[1::-1])
    x, y = (cv2.resize(cells, coarse, interpolation=cv2.INTER_AREA).reshape(-1, 3) for cells in (before, after))
    middle = x.mean(axis=0, dtype=np.float64)
    basis = np.column_stack([x - middle, np.ones(len(x))])
    move = (y - x).astype(np.float64)
    coefficients = np.vstack([np.zeros((3, 3)), np.median(move, axis=0)])
    for _ in range(6):
        residual = np.linalg.norm(move - basis @ coefficients, axis=1)
        scale = 2 * max(1.0, 1.4826 * float(np.median(residual)))
        weighted = basis / ((1 + (residual / scale) ** 2) ** 2)[:, None]
        coefficients = np.linalg.solve(weighted.T @ basis + 1e-6 * np.eye(4), weighted.T @ move)
    moved = float(np.linalg.norm(basis @ coefficients, axis=1).mean())
    coefficients *= min(1.0, DRIFT / max(moved, 1e-9))
    matrix = np.eye(3) + coefficients[:3].T
    offset = coefficients[3] - middle @ coefficients[:3]
    return cv2.transform(before, np.column_stack([matrix, offset]).astype(np.float32))


def nearest(cells: np.ndarray, among: np.ndarray, reach: int) -> np.ndarray:
    """Each cell's delta E to the nearest colour within `reach` cells, colours between two neighbours included.

    Without the colours in between, a strong straight edge that moved by half a cell would look changed.
    """
    rows, columns = cells.shape[:2]
    field = np.pad(among, ((reach, reach), (reach, reach), (0, 0)), mode="edge").transpose(2, 0, 1).copy()
    own = cells.transpose(2, 0, 1).copy()
    steps = [(field[:, :, 1:] - field[:, :, :-1], 0, 1), (field[:, 1:] - field[:, :-1], 1, 0)]
    lengths = [dot(step, step) + np.float32(1e-3) for step, _, _ in steps]
    best = np.full((rows, columns), np.inf, np.float32)
    for top in range(2 * reach + 1):
        for left in range(2 * reach + 1):
            here = slice(top, top + rows), slice(left, left + columns)
            gap = own - field[:, *here]
            squared = dot(gap, gap)
            np.minimum(best, squared, out=best)
            for (step, down, right), length in zip(steps, lengths, strict=True):
                if max(top + down, left + right) > 2 * reach:
                    continue
                along = dot(gap, step[:, *here])
                part = np.clip(along / length[here], 0, 1)
                np.minimum(best, squared - part * (2 * along - part * length[here]), out=best)
    return np.sqrt(np.maximum(best, 0))


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum over the three colour planes; einsum is slower on these shapes."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def difference(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Delta E of every cell between two looks; what appeared counts like what vanished."""
    after = fitted(after, before)
    before = drifted(before, after)
    appeared, vanished = nearest(after, before, REACH), nearest(before, after, REACH)
    result = np.maximum(appeared, vanished)
    inside = slice(REACH, -REACH), slice(REACH, -REACH)
    rim = np.minimum(appeared, vanished)  # at the rim a small shift pushes things out of the picture or pulls them in
    rim[inside] = result[inside]
    return rim


def largest_region(changed: np.ndarray) -> np.ndarray:
    """The largest connected region of a map's visible cells, as a mask; empty where none is visible."""
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(
        (changed > VISIBLE).astype(np.uint8), connectivity=8
    )
    if count == 1:
        return np.zeros(changed.shape, bool)
    return labels == 1 + int(np.argmax(statistics[1:, cv2.CC_STAT_AREA]))


class Edit(NamedTuple):
    """What changed between two pictures: the delta E of every cell, and the largest connected region of change."""

    change: np.ndarray
    region: np.ndarray

    @property
    def share(self) -> float:
        """The region's share of the picture."""
        return float(self.region.mean())


def find_edit(before: np.ndarray, after: np.ndarray) -> Edit:
    """Compare two looks."""
    change = difference(before, after)
    return Edit(change, largest_region(change))
