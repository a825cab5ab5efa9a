"""Filling a hole from what is around it: thin ones smoothly, wide ones with a like piece of the picture."""

import cv2
import numpy
from numpy.typing import NDArray

from .drawing import Pixels

THIN = 0.012  # half-width of a hole, as a share of the short side, up to which smoothness is enough


def heal(image: NDArray[numpy.uint8], hole: NDArray[numpy.bool_], borrow: bool = True) -> NDArray[numpy.uint8]:
    """The picture with the hole filled, if need be with a piece borrowed from elsewhere in it."""
    if not hole.any():
        return image
    pad = 12 + round(0.05 * min(image.shape[:2]))
    x, y, wide, high = cv2.boundingRect(hole.astype(numpy.uint8))
    part = numpy.s_[max(0, y - pad) : y + high + pad, max(0, x - pad) : x + wide + pad]
    result = image.copy()
    smooth = membrane(image[part].astype(numpy.float32), hole[part])
    depth = cv2.distanceTransform(hole[part].astype(numpy.uint8), cv2.DIST_L2, 3).max()
    if borrow and depth > THIN * min(image.shape[:2]):
        borrowed = clone(image, hole, part)
        if borrowed is not None:
            smooth = borrowed
    inside = hole[part][..., None]
    result[part] = numpy.where(inside, numpy.rint(smooth).clip(0, 255), image[part]).astype(numpy.uint8)
    return result


def membrane(values: Pixels, hole: NDArray[numpy.bool_]) -> Pixels:
    """The smooth surface through the values around the hole: pulled down a pyramid, pushed up again."""
    known = (~hole).astype(numpy.float32)[..., None]
    filled = pyramid(values * known, known[..., 0])
    result = numpy.where(hole[..., None], filled, values)
    for _ in range(12):
        result = numpy.where(hole[..., None], cv2.blur(result, (3, 3)), values)
    return result


def pyramid(values: Pixels, weight: Pixels) -> Pixels:
    """Weighted values, completed from half their size wherever the weight is missing."""
    full = numpy.clip(weight, 1e-6, None)[..., None]
    if min(weight.shape) < 3 or weight.min() > 0.01:
        mean = values.sum((0, 1)) / max(1e-6, float(weight.sum()))
        return numpy.where(weight[..., None] > 1e-3, values / full, mean).astype(numpy.float32)
    below = pyramid(cv2.pyrDown(values), cv2.pyrDown(weight))
    rest = cv2.pyrUp(below, dstsize=weight.shape[::-1])
    part = numpy.clip(weight * 4, 0, 1)[..., None]
    return part * values / full + (1 - part) * rest


def clone(image: NDArray[numpy.uint8], hole: NDArray[numpy.bool_], part: tuple[slice, slice]) -> Pixels | None:
    """The like piece whose surroundings agree best with the hole's, shifted in level to join seamlessly."""
    rows, columns = part
    scale = min(1.0, 96 / min(image.shape[:2]))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(numpy.float32)
    gaps = cv2.resize(hole.astype(numpy.float32), small.shape[1::-1], interpolation=cv2.INTER_AREA) > 0.02
    y0, x0 = int(rows.start * scale), int(columns.start * scale)
    y1, x1 = min(small.shape[0], int(rows.stop * scale)), min(small.shape[1], int(columns.stop * scale))
    window, missing = small[y0:y1, x0:x1], gaps[y0:y1, x0:x1]
    near = cv2.dilate(missing.astype(numpy.uint8), numpy.ones((9, 9), numpy.uint8)).astype(numpy.bool_)
    ring = (near & ~missing).astype(numpy.float32)
    if ring.sum() < 8 or (small.shape[0] - window.shape[0] < 2 and small.shape[1] - window.shape[1] < 2):
        return None
    cost = cv2.matchTemplate(small, window, cv2.TM_SQDIFF, mask=cv2.merge([ring] * 3)) / (3 * ring.sum())
    use = (near | missing).astype(numpy.float32)
    taken = cv2.matchTemplate(gaps.astype(numpy.float32), use, cv2.TM_CCORR) > 0.5
    cost = numpy.where(taken, numpy.inf, cost)
    if not numpy.isfinite(cost).any():
        return None
    row, column = numpy.unravel_index(int(cost.argmin()), cost.shape)
    if cost[row, column] > 30.0**2:
        return None
    down, right = round((row - y0) / scale), round((column - x0) / scale)
    height, width = hole[part].shape
    top = int(numpy.clip(rows.start + down, 0, image.shape[0] - height))
    left = int(numpy.clip(columns.start + right, 0, image.shape[1] - width))
    source = image[top : top + height, left : left + width].astype(numpy.float32)
    gap = hole[top : top + height, left : left + width] & hole[part]
    if gap.any():
        return None
    return source + membrane(image[part].astype(numpy.float32) - source, hole[part])
