"""Fills a hole from its surroundings: thin holes smoothly, wide holes with similar texture."""

import cv2
import numpy as np

from .drawing import Pixels

_THIN = 0.012  # half-width of a hole, as a share of the short side, up to which it is filled smoothly
_MIRROR = 0.045  # of the short side, how far outside a hole mirrored pixels may come from


def heal(image: Pixels, hole: Pixels, borrow: bool = True) -> Pixels:
    if not hole.any():
        return image
    pad = 12 + round(0.05 * min(image.shape[:2]))
    x, y, wide, high = cv2.boundingRect(hole.astype(np.uint8))
    part = np.s_[max(0, y - pad) : y + high + pad, max(0, x - pad) : x + wide + pad]
    filled = _membrane(image[part].astype(np.float32), hole[part])
    deep = cv2.distanceTransform(hole[part].astype(np.uint8), cv2.DIST_L2, 3).max() > _THIN * min(image.shape[:2])
    if deep:
        borrowed = _clone(image, hole, part) if borrow else None
        filled = _mirrored(image, hole, part, filled) if borrowed is None else borrowed
    result = image.copy()
    inside = hole[part][..., None]
    result[part] = np.where(inside, np.rint(filled).clip(0, 255), image[part]).astype(np.uint8)
    return result


def _mirrored(image: Pixels, hole: Pixels, part: tuple[slice, slice], filled: Pixels) -> Pixels:
    rows, columns = part
    far, labels = cv2.distanceTransformWithLabels(
        hole.astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    rim_y, rim_x = np.nonzero(~hole)
    position = np.zeros((2, int(labels.max()) + 1), np.float32)
    position[:, labels[rim_y, rim_x]] = rim_y, rim_x
    near = position[:, labels[part]]
    grid = np.mgrid[rows.start : rows.start + near.shape[1], columns.start : columns.start + near.shape[2]]
    even = max(3, round(0.012 * min(image.shape[:2])))
    reach = _MIRROR * min(image.shape[:2])
    back = reach - abs(far[part] % (2 * reach) - reach)  # to and fro, so that no pixel comes from far away
    y, x = (
        cv2.blur(at.astype(np.float32), (even, even)) for at in near + (near - grid) * back / (far[part] + 1e-3)
    )
    inside = (x >= 0) & (x < image.shape[1]) & (y >= 0) & (y < image.shape[0])
    blank = np.where(hole[..., None], 0, image).astype(np.float32)
    seen = cv2.remap(blank, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    visible = cv2.remap((~hole).astype(np.float32), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    usable = ((visible > 0.99) & inside).astype(np.float32)
    share = (usable * np.clip(1 - far[part] / min(reach, far[part].max()), 0, 1))[..., None]
    texture = seen - cv2.GaussianBlur(seen, (0, 0), 0.006 * min(image.shape[:2]))
    texture = np.clip(texture, -16, 16) * cv2.erode(usable, np.ones((9, 9), np.uint8))[..., None]
    return share * seen + (1 - share) * (filled + texture)


def _membrane(values: Pixels, hole: Pixels) -> Pixels:
    weight = (~hole).astype(np.float32)[..., None]
    filled = _pyramid(values * weight, weight[..., 0])
    result = np.where(hole[..., None], filled, values)
    for _ in range(12):
        result = np.where(hole[..., None], cv2.blur(result, (3, 3)), values)
    return result


def _pyramid(values: Pixels, weight: Pixels) -> Pixels:
    full = np.clip(weight, 1e-6, None)[..., None]
    if min(weight.shape) < 3 or weight.min() > 0.01:
        mean = values.sum((0, 1)) / max(1e-6, float(weight.sum()))
        return np.where(weight[..., None] > 1e-3, values / full, mean).astype(np.float32)
    below = _pyramid(cv2.pyrDown(values), cv2.pyrDown(weight))
    coarse = cv2.pyrUp(below, dstsize=weight.shape[::-1])
    part = np.clip(weight * 4, 0, 1)[..., None]
    return part * values / full + (1 - part) * coarse


def _clone(image: Pixels, hole: Pixels, part: tuple[slice, slice]) -> Pixels | None:
    rows, columns = part
    scale = min(1.0, 96 / min(image.shape[:2]))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA).astype(np.float32)
    gaps = cv2.resize(hole.astype(np.float32), small.shape[1::-1], interpolation=cv2.INTER_AREA) > 0.02
    y0, x0 = int(rows.start * scale), int(columns.start * scale)
    y1, x1 = min(small.shape[0], int(rows.stop * scale)), min(small.shape[1], int(columns.stop * scale))
    window, missing = small[y0:y1, x0:x1], gaps[y0:y1, x0:x1]
    near = cv2.dilate(missing.astype(np.uint8), np.ones((9, 9), np.uint8)).astype(np.bool_)
    ring = (near & ~missing).astype(np.float32)
    if ring.sum() < 8 or (small.shape[0] - window.shape[0] < 2 and small.shape[1] - window.shape[1] < 2):
        return None
    cost = cv2.matchTemplate(small, window, cv2.TM_SQDIFF, mask=cv2.merge([ring] * 3)) / (3 * ring.sum())
    use = (near | missing).astype(np.float32)
    taken = cv2.matchTemplate(gaps.astype(np.float32), use, cv2.TM_CCORR) > 0.5
    cost = np.where(taken, np.inf, cost)
    row, column = np.unravel_index(int(cost.argmin()), cost.shape)
    if cost[row, column] > 30.0**2:
        return None
    down, right = round((row - y0) / scale), round((column - x0) / scale)
    height, width = hole[part].shape
    top = int(np.clip(rows.start + down, 0, image.shape[0] - height))
    left = int(np.clip(columns.start + right, 0, image.shape[1] - width))
    source = image[top : top + height, left : left + width].astype(np.float32)
    gap = hole[top : top + height, left : left + width] & hole[part]
    if gap.any():
        return None
    return source + _membrane(image[part].astype(np.float32) - source, hole[part])
