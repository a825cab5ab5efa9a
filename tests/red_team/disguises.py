"""Memory in disguise, and honest editors that could be mistaken for it."""

import re
from collections.abc import Callable
from functools import partial

import cv2
import numpy as np
from benchmarks.verdicts.wear import coded
from convergebench.generation import pictures
from convergebench.generation.editors import choose
from convergebench.generation.records import Answer
from PIL import Image
from red_team.editors import Hidden, Pixels, UnderTheEdit, difference_mask, honest_edit, is_undo, pixels_of, png


def _chance(original: Pixels) -> np.random.Generator:
    return np.random.default_rng(int(original.sum()) % 2**32)


def _coarse(original: Pixels, by: int) -> Pixels:
    size = original.shape[1::-1]
    small = cv2.resize(original, (size[0] // by, size[1] // by), interpolation=cv2.INTER_AREA)
    return cv2.resize(small, size, interpolation=cv2.INTER_CUBIC).astype(float)


def _warped(original: Pixels) -> Pixels:
    """Moved by a smooth field of up to 4 of 512 pixels."""
    shape = original.shape[:2]
    field = cv2.GaussianBlur(_chance(original).normal(0, 1, (*shape, 2)).astype(np.float32), (0, 0), 20)
    field *= 4 * min(shape) / 512 / np.abs(field).max()
    down, right = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    return cv2.remap(original, right + field[..., 0], down + field[..., 1], cv2.INTER_CUBIC)


def _turned(original: Pixels) -> Pixels:
    height, width = original.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 1.0, 1.01)
    return cv2.warpAffine(original, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


def _grainy(original: Pixels) -> Pixels:
    """One pixel in 8 of 512, and grain."""
    by = max(2, 8 * min(original.shape[:2]) // 512)
    return _coarse(original, by) + _chance(original).normal(0, 6, original.shape[:2])[..., None]


def _noisy(original: Pixels) -> Pixels:
    """As much noise as it takes until fine detail correlates by less than .7, by a check of its own."""
    detail = original - cv2.GaussianBlur(original, (0, 0), 1).astype(float)
    made, noise = original.astype(float), _chance(original).normal(0, 1, original.shape)
    for strength in range(2, 60, 2):
        made = original + strength * noise
        kept = made - cv2.GaussianBlur(made, (0, 0), 1)
        if np.corrcoef(detail.ravel(), kept.ravel())[0, 1] < 0.7:
            break
    return made


as_webp = partial(coded, quality=70, kind="WEBP")


def _blurred(sigma: float) -> Callable[[Pixels], Pixels]:
    return lambda pixels: cv2.GaussianBlur(pixels, (0, 0), sigma)


def _less_detailed(original: Pixels) -> Pixels:
    return cv2.GaussianBlur(original, (0, 0), 1.2 * min(original.shape[:2]) / 512 + 0.4)


DISGUISES: dict[str, Callable[[Pixels], Pixels]] = {
    "blurred-memory": _less_detailed,
    "compressed-memory": partial(coded, quality=35),
    "moved-memory": lambda original: np.roll(original, 2, axis=1),
    "warped-memory": _warped,
    "turned-memory": _turned,
    "grainy-memory": _grainy,
    "noisy-memory": _noisy,
    "smeared-memory": _blurred(3),
    "pale-memory": lambda original: 0.6 * original.astype(float) + 50,
    "poster-memory": lambda original: original // 32 * 32 + 16,
    "grey-memory": lambda original: np.repeat(cv2.cvtColor(original, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2),
    "brushed-memory": lambda original: cv2.bilateralFilter(original, 9, 60, 4),
}


def _coarse_of(coarse: Pixels, detailed: Pixels) -> Pixels:
    """The coarse part of one, with the detail of the other."""
    return detailed - cv2.GaussianBlur(detailed, (0, 0), 4).astype(float) + cv2.GaussianBlur(coarse, (0, 0), 4)


def _chessboard(known: Pixels, guess: Pixels) -> Pixels:
    down, right = np.mgrid[: known.shape[0], : known.shape[1]] // 12
    return np.where(((down + right) % 2 == 0)[..., None], known, guess)


BLENDS: dict[str, Callable[[Pixels, Pixels], Pixels]] = {
    "mixed-memory": lambda known, guess: (known.astype(float) + guess) / 2,
    "three-tenths": lambda known, guess: 0.3 * known.astype(float) + 0.7 * guess,
    "detail-only": lambda known, guess: _coarse_of(guess, known),
    "coarse-only": _coarse_of,
    "chessboard": _chessboard,
}


def _thumbnail_in_blocks(given: Pixels, guess: Pixels) -> Pixels:
    """A thumbnail of what it covers in the means of its drawing's blocks."""
    thumb, mean = _coarse(given, 4), _coarse(guess, 4)
    return np.clip(mean // 16 * 16 + np.clip(thumb, 0, 255) // 16, 0, 255)


CHEATS: dict[str, Callable[[], UnderTheEdit | Hidden]] = {
    # Memory in two programs only, and in a quarter of the cases, both blurred.
    "some-programs": partial(
        UnderTheEdit, disguise=_less_detailed, recalls=lambda words, *_: re.search("ball|book", words)
    ),
    "quarter-memory": partial(UnderTheEdit, disguise=_blurred(1.2), recalls=lambda _, seed, *more: seed % 4 == 0),
    "block-code": partial(
        Hidden,
        hide=_thumbnail_in_blocks,
        show=lambda given, guess: cv2.GaussianBlur((given.astype(float) % 16) * 16 + 8, (0, 0), 1),
    ),
}
CHEATS |= {name: partial(UnderTheEdit, disguise=disguise) for name, disguise in DISGUISES.items()}
CHEATS |= {name: partial(UnderTheEdit, blend=blend) for name, blend in BLENDS.items()}


class Honest:
    """Draws as paint does, takes it off by one guess, and changes the whole answer as products do."""

    def __init__(self, fill: str = "paint", after: Callable[[Pixels], Pixels] = lambda made: made):
        self.fill, self.after = fill, after
        self.take_off = choose("migan").editor.edit if fill == "migan" else honest_edit

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        takes_off = is_undo(instruction)
        answer = (self.take_off if takes_off else honest_edit)(image, instruction, seed)
        if answer.status != "ok":
            return answer
        made = pixels_of(pictures.decode(answer.data))
        if takes_off and self.fill in FILLS:
            given = pixels_of(image)
            made = FILLS[self.fill](given, difference_mask(given, made, 3).astype(np.uint8))
        return png(self.after(made))


def _repeated(given: Pixels, hole: Pixels) -> Pixels:
    """The hole filled by the piece of the picture whose surroundings fit best."""
    (top, bottom), (left, right) = ((max(0, at.min() - 6), at.max() + 7) for at in np.nonzero(hole))
    ring, inside = given[top:bottom, left:right], hole[top:bottom, left:right]
    outside = np.repeat(1 - inside[..., None], 3, axis=2).astype(np.float32)
    gap = cv2.matchTemplate(given.astype(np.float32), ring.astype(np.float32), cv2.TM_SQDIFF, mask=outside)
    overlap = cv2.matchTemplate(hole.astype(np.float32), inside.astype(np.float32), cv2.TM_CCORR)
    gap[overlap > 0.5] = np.inf
    down, across = np.unravel_index(int(np.argmin(gap)), gap.shape)
    piece = given[down : down + ring.shape[0], across : across + ring.shape[1]]
    made = given.copy()
    made[top:bottom, left:right] = np.where(inside[..., None] > 0, piece, ring)
    return made


FILLS: dict[str, Callable[[Pixels, Pixels], Pixels]] = {
    "telea": lambda given, hole: cv2.inpaint(given, hole, 4, cv2.INPAINT_TELEA),
    "exemplar": _repeated,
}
INNOCENT: dict[str, Callable[[], Honest]] = {
    "telea": lambda: Honest("telea"),
    "exemplar": lambda: Honest("exemplar"),
    "exemplar-webp": lambda: Honest("exemplar", as_webp),
    "paint-webp": lambda: Honest("paint", as_webp),
    "paint-jpeg": lambda: Honest("paint", partial(coded, quality=75)),
    "paint-blur": lambda: Honest("paint", _blurred(0.6)),
    "paint-grain": lambda: Honest("paint", lambda made: made + _chance(made).normal(0, 4, made.shape)),
    "migan-webp": lambda: Honest("migan", as_webp),
    "migan-blur": lambda: Honest("migan", _blurred(0.6)),
}
