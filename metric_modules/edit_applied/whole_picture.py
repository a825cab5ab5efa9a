"""Edits of the whole picture: flips and rotations, blur, sharpening, loss of colour, a tint.

Which one was asked for, and which one was made. Looks would take the last four for drift. Sharpness is
judged in grey pictures, by a band of fine detail, since looks are blurred themselves; the others by looks.
"""

import re
from collections.abc import Callable, Collection, Sequence

import cv2
import numpy as np

from .._shared.looks import DRIFT, fitted, nearest, sized, smooth

MARGIN = 0.6  # the asked transform's residual is at most this much of that of any picture that looks different
_DISTINCT = 3.0  # mean delta E from which two pictures look different
_GRID = 64  # cells a side: transforms are compared on a coarse square, whatever the picture's shape

TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda cells: cells,
    "flip horizontally": lambda cells: cells[:, ::-1],
    "flip vertically": lambda cells: cells[::-1],
    "rotate 90": lambda cells: np.rot90(cells, -1),  # clockwise
    "rotate 180": lambda cells: np.rot90(cells, 2),
    "rotate 270": lambda cells: np.rot90(cells, 1),
    "transpose": lambda cells: cells.transpose(1, 0, 2),
    "transverse": lambda cells: np.rot90(cells, 2).transpose(1, 0, 2),
}

_TO_SHARPNESS = re.compile(r"\W*(please )?(un)?(blur|sharpen)\b", re.IGNORECASE)
BLURRED, SHARPENED = 0.70, 1.25  # gain of fine detail at which a picture was blurred, or sharpened
_TEXTURED = 2.0  # grey levels: the least detail of a block for its gain to be measured
_BLOCK = 32  # pixels of the short side's 512
_FEWEST = 8  # textured blocks
_SHIFT = 20  # pixels by which the whole picture may have moved
_FAINTEST = 0.05  # a smaller gain is taken for this

_TO_GREY = re.compile(r"\b(turn|make|convert|render)\b.*\b(monochrome|black and white|gr[ae]y)", re.IGNORECASE)
_TO_TINT = re.compile(r"\b(redd|orang|yellow|green|blu|purpl|pink)er\b", re.IGNORECASE)
WEAKEST = 2.0  # mean chroma below which a picture was monochrome before
GREYED = 0.5  # of that chroma: the most that may remain in a picture that was made monochrome
TINTED = 2.0  # delta E by which the mean colour has to move for a tint
TOWARDS = 0.5  # cosine between that move and the colour that was asked for
# Degrees in Lab.
_HUES = {"redd": 40, "orang": 65, "yellow": 100, "green": 140, "blu": 285, "purpl": 320, "pink": 0}

_Edit = tuple[bool, Callable[[], float]]  # whether it was made, and the share of the change that is left


def _square(cells: np.ndarray) -> np.ndarray:
    return cv2.resize(cells, (_GRID, _GRID), interpolation=cv2.INTER_AREA)


def _recoloured(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """`before` in the colours of `after`, by a robust affine map that moves them DRIFT on average at most.

    Cells that follow no common map (an added object) lose their weight.
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


def _residual(expected: np.ndarray, seen: np.ndarray) -> float:
    """Mean delta E, colour drift and a shift by one cell forgiven."""
    expected = np.ascontiguousarray(expected)
    return float(nearest(seen, _recoloured(expected, seen), 1).mean())


def find_transform(before: np.ndarray, after: np.ndarray, asked: Collection[str]) -> tuple[str, float] | None:
    """The transform that was made and the asked one's residual; None if the picture is too symmetric to tell.

    The name is empty if none fits clearly better. A transform that looks like the asked one is not a rival.
    """
    start, end = _square(before), _square(after)
    transformed = [np.ascontiguousarray(TRANSFORMS[name](start)) for name in asked]
    rivals = [
        name
        for name, transform in TRANSFORMS.items()
        if name not in asked
        and all(_residual(picture, transform(start).copy()) >= _DISTINCT for picture in transformed)
    ]
    if not rivals or ("none" not in rivals and "none" not in asked):
        return None
    residuals = {name: _residual(TRANSFORMS[name](start), end) for name in [*asked, *rivals]}
    best, rival = (min(names, key=residuals.__getitem__) for names in (asked, rivals))
    first, second = residuals[best], residuals[rival]
    return best if first <= MARGIN * second else rival if second <= MARGIN * first else "", first


def transform_undone(
    before: np.ndarray, forward: np.ndarray, back: np.ndarray, target: np.ndarray
) -> tuple[bool, float] | None:
    """Whether a return is the target again, and the share of the change that is left; None if symmetric."""
    transform = find_transform(target, back, {"none"})
    if transform is None:
        return None
    name, left = transform
    return name == "none", left / max(_residual(_square(before), _square(forward)), 1e-6)


def asked_sharpness(instructions: Sequence[str]) -> str | None:
    """The verb of the first instruction that is about the whole picture's sharpness."""
    match = next(filter(None, map(_TO_SHARPNESS.match, instructions)), None)
    if match is None:
        return None
    verb = match[3].lower()
    return "sharpen" if match[2] or verb == "sharpen" else "blur"


def asked_colour(instruction: str) -> str | None:
    """The change of all colours that is asked for: "grey" or the stem of a tint; None for others.

    >>> [asked_colour(text) for text in ("turn the image monochrome", "make it a bit greener", "add a green apple")]
    ['grey', 'green', None]
    """
    if _TO_GREY.search(instruction):
        return "grey"
    tint = _TO_TINT.search(instruction)
    return tint[1].lower() if tint else None


def grey(picture: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(sized(picture), cv2.COLOR_RGB2GRAY)


def sharpness_edit(
    verb: str, before: np.ndarray, after: np.ndarray, targets: Sequence[np.ndarray], back: np.ndarray
) -> _Edit | None:
    """Whether the grey picture was blurred or sharpened; None if it has too little detail to tell."""
    made = _gain(before, after)
    if made is None:
        return None

    def share_left() -> float:
        gains = [gain for target in targets if (gain := _gain(target, back)) is not None] or [made]
        return max(map(_distance, gains)) / max(_distance(made), 1e-6)

    return made <= BLURRED if verb == "blur" else made >= SHARPENED, share_left


def _distance(gain: float) -> float:
    return abs(float(np.log(max(gain, _FAINTEST))))


def _bands(shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = shown.astype(np.float32)
    return smooth(values, 0.8) - smooth(values, 2.4), smooth(values, 5.0) - smooth(values, 15.0)


def _gain(before: np.ndarray, after: np.ndarray) -> float | None:
    """How strongly the fine detail of one grey picture is in another: 1 is unchanged, None if it has none.

    A projection, not a ratio of energies: noise changes
    nothing. What contrast does to coarse detail is taken out.
    """
    (fine, coarse), (other, other_coarse) = _bands(before), _bands(fitted(after, before))
    core, wide = (band[_SHIFT:-_SHIFT, _SHIFT:-_SHIFT] for band in (fine, coarse))
    core = np.ascontiguousarray(core)
    rows, columns = core.shape
    fits = cv2.matchTemplate(other, core, cv2.TM_CCORR)
    down, right = np.unravel_index(int(fits.argmax()), fits.shape)
    moved, moved_wide = (band[down : down + rows, right : right + columns] for band in (other, other_coarse))
    size = (columns // _BLOCK, rows // _BLOCK)
    power = cv2.resize(core * core, size, interpolation=cv2.INTER_AREA)
    shared = cv2.resize(core * moved, size, interpolation=cv2.INTER_AREA)
    textured = power > _TEXTURED**2
    if textured.sum() < _FEWEST:
        return None
    contrast = float((wide * moved_wide).sum()) / max(float((wide * wide).sum()), 1e-6)
    return float(np.median(shared[textured] / power[textured])) / min(max(contrast, 0.5), 2.0)


def colour_edit(
    what: str, before: np.ndarray, after: np.ndarray, targets: Sequence[np.ndarray], back: np.ndarray
) -> _Edit | None:
    """Whether the look lost its colour or took on a tint; None if it had hardly any colour before."""
    if what == "grey":
        chromas = [float(np.hypot(cells[..., 1], cells[..., 2]).mean()) for cells in (before, after)]
        if chromas[0] < WEAKEST:
            return None
        made = chromas[1] <= GREYED * chromas[0]
    else:
        angle, move = np.deg2rad(_HUES[what]), _tint(before, after)
        far = float(np.linalg.norm(move))
        made = far >= TINTED and float(move @ (np.cos(angle), np.sin(angle))) >= TOWARDS * far

    def size(first: np.ndarray, second: np.ndarray) -> float:
        if what == "grey":
            return float(np.linalg.norm((fitted(second, first) - first)[..., 1:], axis=2).mean())
        return float(np.linalg.norm(_tint(first, second)))

    return made, lambda: max(size(target, back) for target in targets) / max(size(before, after), 1e-6)


def _tint(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    return (after[..., 1:].mean(axis=(0, 1)) - before[..., 1:].mean(axis=(0, 1))).astype(float)
