"""Looks: pictures as grids of CIELAB cells, compared so that colour drift and small shifts do not count."""

from collections import deque
from threading import local

import cv2
import numpy as np

SIDE = 512  # every picture is brought to this short side ...
CELL = 4  # ... and averaged over square cells with this side in pixels
LONGEST = 4 * SIDE  # a longer side is squeezed to this, which limits the cost of panoramas
# These were chosen on photographs like those of docs/verdicts.md.
REACH = 2  # cells by which a detail may have moved without having changed
FAR = 5  # cells by which the whole picture may have moved; looked for before anything is compared
MOVED = 0.7  # a shift of the whole picture is believed if it leaves at most this share of the difference
DRIFT = 6.0  # largest mean delta E of a drift if the edit is about the whole picture's tone
VISIBLE = 12.0  # delta E above which a cell has changed for certain
FAINT = 6.0  # delta E above which a cell counts if it is connected to enough certain ones
SEEDS = 0.0005  # of the picture: the least that the certain cells of one region cover


def sized(picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    zoom = SIDE / min(height, width)
    rows, columns = (round(min(side * zoom, LONGEST) / CELL) for side in (height, width))
    size = (columns * CELL, rows * CELL)
    if size == (width, height):
        return picture
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_CUBIC)


def look(picture: np.ndarray) -> np.ndarray:
    """The grid of cells (rows, columns, Lab; float32) of an RGB uint8 picture."""
    lab = cv2.cvtColor(sized(picture).astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    size = (lab.shape[1] // CELL, lab.shape[0] // CELL)
    return cv2.resize(cv2.GaussianBlur(lab, (0, 0), 2), size, interpolation=cv2.INTER_AREA)


Seen = tuple[np.ndarray, np.ndarray]  # a picture at SIDE, and its look


def seen(picture: np.ndarray) -> Seen:
    pixels = sized(picture)
    return pixels, look(pixels)


def fitted(cells: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The cells resized to the grid of `like`, in case an answer came back in another shape."""
    if cells.shape == like.shape:
        return cells
    return cv2.resize(cells, like.shape[1::-1], interpolation=cv2.INTER_AREA)


def _together(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[slice, slice]]:
    """Both looks cropped to their overlap after a shift of the whole picture, in whole cells, is undone.

    The third value says which cells of `before` were kept. The shift leaves the least median
    difference of brightness gradients, which neither a cast nor an added object moves.
    """
    after = fitted(after, before)
    first, second = (_gradient(cells) for cells in (before, after))
    rows, columns = first.shape[:2]
    far = min(FAR, rows // 8, columns // 8)
    core = np.ascontiguousarray(first[far : rows - far, far : columns - far])
    best, still, place = np.inf, np.inf, (0, 0)
    for down in range(-far, far + 1):
        for right in range(-far, far + 1):
            other = second[far + down : rows - far + down, far + right : columns - far + right]
            slopes = cv2.threshold(cv2.absdiff(core, other), 4, 0, cv2.THRESH_TRUNC)[1]
            gap = sum(cv2.mean(slopes)[:2]) / 2
            still = gap if (down, right) == (0, 0) else still
            best, place = min((best, place), (gap, (down, right)))
    if max(map(abs, place)) < REACH or best >= MOVED * still:
        place = (0, 0)
    (down, right) = place
    overlap = (slice(max(0, -down), rows - max(0, down)), slice(max(0, -right), columns - max(0, right)))
    moved = (slice(max(0, down), rows - max(0, -down)), slice(max(0, right), columns - max(0, -right)))
    return before[overlap], after[moved], overlap


def _gradient(cells: np.ndarray) -> np.ndarray:
    light = np.ascontiguousarray(cells[..., 0])
    return np.stack([cv2.Sobel(light, cv2.CV_32F, 1 - axis, axis, scale=1 / 8) for axis in (0, 1)], axis=2)


def _drift_terms(colours: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """What a drift may depend on, for each of red, green and blue: all three colours, a bent curve of its own (a gamma,
    lifted blacks), and its place, so that a vignette or a light from one side is a drift too."""
    rows, columns = shape[:2]
    down, right = (2 * part.ravel() - 1 for part in np.mgrid[: 1 : rows * 1j, : 1 : columns * 1j])
    light = np.column_stack([right, down, right * right + down * down])
    ones = np.ones(len(colours))
    terms = []
    for colour in colours.T:
        bent = (colour * colour, colour**3, np.maximum(colour - 0.75, 0), np.maximum(0.25 - colour, 0))
        terms.append(np.column_stack([ones, colours, *bent, light * colour[:, None]]))
    return terms


def _to_rgb(cells: np.ndarray) -> np.ndarray:
    rgb = cv2.cvtColor(np.ascontiguousarray(cells), cv2.COLOR_LAB2RGB)
    return np.clip(rgb, 0, 1).reshape(-1, 3).astype(np.float64)


def _drifted(before: np.ndarray, after: np.ndarray, limit: float | None = None) -> np.ndarray:
    """`before` in the colours of `after`: a robust smooth map of colour and light, clipped where a picture would clip.

    Rare colours weigh more than their number, or a large sky would speak for
    all. The fit trims in steps what follows no common map, such as an added
    object. `limit` (mean delta E) keeps a deliberate change of tone visible.
    """
    coarse = tuple(max(2, side // 4) for side in before.shape[1::-1])
    x, y = (_to_rgb(cv2.resize(cells, coarse, interpolation=cv2.INTER_AREA)) for cells in (before, after))
    basis, move = _drift_terms(x, coarse[::-1]), y - x
    _, kind, count = np.unique((x * 6).astype(int) @ (1, 10, 100), return_inverse=True, return_counts=True)
    rarity = 1 / np.sqrt(count[kind])
    rarity /= rarity.mean()
    penalty = np.diag([1e-6, *[1e-5] * 3, *[2e-4] * 7]) * len(x) / 10
    fits = [np.array([np.median(move[:, colour]), *[0.0] * 10]) for colour in range(3)]
    for least in (40, 30, 22, 16, 12, 9, 7, 5, 4, 4, 4, 4):
        gap = np.column_stack([move[:, colour] - basis[colour] @ fits[colour] for colour in range(3)])
        residual = 100 * np.linalg.norm(gap, axis=1)
        cut = max(least, 4 * 1.4826 * float(np.median(residual)))
        # Tukey: outliers weigh nothing.
        weight = np.where(residual < cut, (1 - (residual / cut) ** 2) ** 2, 0) * rarity
        for colour in range(3):
            weighted = basis[colour] * weight[:, None]
            fits[colour] = np.linalg.solve(weighted.T @ basis[colour] + penalty, weighted.T @ move[:, colour])
    full = _to_rgb(before)
    mapped = full + np.column_stack(
        [part @ fit for part, fit in zip(_drift_terms(full, before.shape), fits, strict=True)]
    )
    start, end = (
        cv2.cvtColor(colours.astype(np.float32).reshape(before.shape), cv2.COLOR_RGB2LAB)
        for colours in (full, np.clip(mapped, 0, 1))
    )
    shift = end - start
    if limit is not None:
        shift *= min(1.0, limit / max(float(np.linalg.norm(shift, axis=2).mean()), 1e-9))
    return before + shift


def nearest(cells: np.ndarray, among: np.ndarray, reach: int) -> np.ndarray:
    """Each cell's delta E to the nearest colour within `reach` cells, colours between two neighbours included.

    Without the colours in between, a strong straight edge that moved by half a cell would look changed.
    """
    rows, columns = cells.shape[:2]
    field = np.pad(among, ((reach, reach), (reach, reach), (0, 0)), mode="edge").transpose(2, 0, 1).copy()
    planes = cells.transpose(2, 0, 1).copy()
    steps = [(field[:, :, 1:] - field[:, :, :-1], 0, 1), (field[:, 1:] - field[:, :-1], 1, 0)]
    lengths = [_dot(step, step) + np.float32(1e-3) for step, _, _ in steps]
    best = np.full((rows, columns), np.inf, np.float32)
    for top in range(2 * reach + 1):
        for left in range(2 * reach + 1):
            window = slice(top, top + rows), slice(left, left + columns)
            gap = planes - field[:, *window]
            squared = _dot(gap, gap)
            np.minimum(best, squared, out=best)
            for (step, down, right), length in zip(steps, lengths, strict=True):
                if max(top + down, left + right) > 2 * reach:
                    continue
                along = _dot(gap, step[:, *window])
                part = np.clip(along / length[window], 0, 1)
                np.minimum(best, squared - part * (2 * along - part * length[window]), out=best)
    return np.sqrt(np.maximum(best, 0))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum over the three colour planes; einsum is slower on these shapes."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


# On the cells of the first of two looks: delta E, in which what appeared counts like what vanished (0 outside
# the overlap), the coloured difference itself, drift removed, and the mean delta E of that drift.
Change = tuple[np.ndarray, np.ndarray, float]
# This thread's last comparisons: the steps of a round repeat them and, in short chains, so do the metrics.
_last = local()


def compare(before: np.ndarray, after: np.ndarray, *, limit: float | None = None) -> Change:
    """Compare two looks: whole-picture shift undone, colour drift removed, small shifts ignored.

    Results are cached by identity, so a look must not be modified after it was compared.
    """
    entries = _last.__dict__.setdefault("entries", deque(maxlen=24))
    for first, second, cached_limit, change in entries:
        if first is before and second is after and cached_limit == limit:
            return change
    size, vector = np.zeros(before.shape[:2], np.float32), np.zeros(before.shape, np.float32)
    start, others, overlap = _together(before, after)
    cells = _drifted(start, others, limit)
    appeared, vanished = nearest(others, cells, REACH), nearest(cells, others, REACH)
    inside = slice(REACH, -REACH), slice(REACH, -REACH)
    # At the rim a small shift pushes things out of the picture or pulls them in.
    rim = np.minimum(appeared, vanished)
    rim[inside] = np.maximum(appeared, vanished)[inside]
    size[overlap], vector[overlap] = rim, others - cells
    drift = float(np.linalg.norm(cells - start, axis=2).mean())
    entries.append((before, after, limit, (size, vector, drift)))
    return entries[-1][-1]


def colour_shift(before: np.ndarray, after: np.ndarray) -> float:
    """Mean delta E of the drift of colour and light that `compare` removes."""
    return compare(before, after)[2]


def find_edit(before: np.ndarray, after: np.ndarray, *, limit: float | None = None) -> tuple[Change, np.ndarray]:
    """The change between two looks, and its largest region of faint cells around enough certain ones."""
    change = size, _, _ = compare(before, after, limit=limit)
    faint = (size > FAINT).astype(np.uint8)
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(faint, connectivity=8)
    certain = np.bincount(labels[size > VISIBLE], minlength=count)  # none of them are of label 0, the rest
    areas = np.where(certain >= max(1, SEEDS * size.size), statistics[:, cv2.CC_STAT_AREA], 0)
    best = areas.argmax()
    return change, (labels == best) & (areas[best] > 0)


def smooth(values: np.ndarray, sigma: float) -> np.ndarray:
    return cv2.GaussianBlur(np.ascontiguousarray(values), (0, 0), sigma)


# Where a picture is on its reference: magnified about the
# middle, then moved by shares of its sides, right and down.
Placement = tuple[float, float, float]


def laid_back(cells: np.ndarray, placement: Placement) -> np.ndarray:
    """A look moved back onto its reference; its rim is repeated where it shows nothing."""
    rows, columns = cells.shape[:2]
    right, down, scale = placement
    matrix = np.zeros((2, 3))
    for axis, (length, shift) in enumerate(((columns, right), (rows, down))):
        matrix[axis, axis] = scale
        matrix[axis, 2] = (length - 1) / 2 * (1 - scale) + shift * length
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(cells, matrix, (columns, rows), flags=flags, borderMode=cv2.BORDER_REPLICATE)
