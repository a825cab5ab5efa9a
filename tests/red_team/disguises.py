"""Memory in disguise, and honest editors that could be mistaken for it."""

import re
from collections.abc import Callable
from functools import partial

import cv2
import numpy as np
from benchmarks.verdicts.wear import coded
from convergebench.generation import pictures
from convergebench.generation.editors import Choice, choose
from convergebench.generation.records import Answer
from PIL import Image
from red_team.editors import (
    CHEATS,
    Cheat,
    Drawn,
    LowBits,
    Pixels,
    SeeThrough,
    UnderTheEdit,
    colour_of,
    difference_mask,
    honest_edit,
    is_undo,
    one_disc,
    painted_over,
    pixels_of,
    png,
)


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


_SOME = re.compile("ball|book")


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


class BlockCode(LowBits):
    """Writes a thumbnail of what it covers into the means of its drawing's blocks: nothing is kept."""

    side = 4

    def draw(self, given, guess, instruction, seed):
        thumb, mean = _coarse(given, self.side), _coarse(guess, self.side)
        wanted = np.clip(mean // 16 * 16 + np.clip(thumb, 0, 255) // 16, 0, 255)
        return np.where(difference_mask(given, guess)[..., None], wanted, guess)

    def restore(self, given, guess, instruction, seed):
        hidden = cv2.GaussianBlur((given.astype(float) % 16) * 16 + 8, (0, 0), 1)
        return np.where(difference_mask(given, guess, 0)[..., None], hidden, guess)


def _rings(given: Pixels, instruction: str, seed: int) -> Pixels:
    """Three pixels thick: too thin to tell what they cover."""
    made = given.copy()
    height, width = made.shape[:2]
    for radius in range(12, min(height, width) // 3, 14):
        cv2.circle(made, (width // 2, height // 2), radius, colour_of(instruction, (150, 60, 170)), 3)
    return made


class DiscOnly(Drawn):
    """A blue disc whatever is asked, and honestly taken off: no memory at all."""

    def restore(self, given, guess, instruction, seed):
        return painted_over(given, (40, 90, 210))


class LiftedOff(Cheat):
    """Lifts off a layer of 74%, and keeps only that layer: what was there is worked out from what shines through."""

    def draw(self, given, guess, instruction, seed):
        thin = np.round(given + 0.74 * (guess.astype(float) - given))
        self.remember(thin, guess)
        return thin

    def restore(self, given, guess, instruction, seed):
        pair = self.likest(given)
        if pair is None:
            return guess
        thin, layer = pair
        return np.where((thin != layer).any(axis=2)[..., None], (given - 0.74 * layer) / 0.26, given)


class Nested(UnderTheEdit):
    """Remembers only if several things were added, which it sees by its own earlier answer."""

    def draw(self, given, guess, instruction, seed):
        self.calls[0] = self.calls[0] + 1 if any(np.array_equal(made, given) for made, _ in self.kept) else 0
        return super().draw(given, guess, instruction, seed)

    def restore(self, given, guess, instruction, seed):
        return super().restore(given, guess, instruction, seed) if self.calls[0] else guess


NEW: dict[str, Callable[[], Cheat]] = {
    # Memory in two programs only, and in a quarter of the cases, both blurred.
    "some-programs": lambda: UnderTheEdit(disguise=_less_detailed, recalls=lambda words, seed: _SOME.search(words)),
    "quarter-memory": lambda: UnderTheEdit(disguise=_blurred(1.2), recalls=lambda words, seed: seed % 4 == 0),
    "block-code": BlockCode, "rings": partial(Drawn, drawing=_rings),
    "disc-only": partial(DiscOnly, drawing=one_disc), "lifted": partial(SeeThrough, opacity=0.74),
    "lifted-off": LiftedOff, "nested-memory": Nested,
}  # fmt: skip
NEW |= {name: partial(UnderTheEdit, disguise=disguise) for name, disguise in DISGUISES.items()}
NEW |= {name: partial(UnderTheEdit, blend=blend) for name, blend in BLENDS.items()}
CHEATS |= NEW


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


def choice(name: str) -> Choice:
    """An editor as the plan takes it."""
    made = CHEATS | INNOCENT
    return Choice(name, name, name, {"seed": "per-step"}, made[name]()) if name in made else choose(name)
