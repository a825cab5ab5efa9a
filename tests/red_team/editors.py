"""Dishonest editors: each tries to look better than an editor of its skill is.

Most of them draw as `paint:wear=0` draws, and take the edit back by what they have kept of the original instead of by
guessing what the edit covered. The others hardly edit, edit what is easy to take back, or answer only where they win.
"""

import io
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
import numpy as np
from convergebench.generation import pictures
from convergebench.generation.calls import Rejected
from convergebench.generation.editors import paint
from convergebench.generation.records import Answer
from PIL import Image, PngImagePlugin

Pixels = np.ndarray


def honest_edit(image: Image.Image, instruction: str, seed: int) -> Answer:
    return paint.edit(image, instruction, seed, wear=0)


def pixels_of(image: Image.Image) -> Pixels:
    return np.asarray(image.convert("RGB"))


def png(pixels: Pixels) -> Answer:
    return Answer(pictures.encode_png(Image.fromarray(np.clip(np.round(pixels), 0, 255).astype(np.uint8))))


def is_undo(instruction: str) -> bool:
    return instruction.lower().startswith("remove")


def drawn(image: Image.Image, instruction: str, seed: int) -> Pixels | None:
    """What the honest editor makes of it; None where it refuses."""
    answer = honest_edit(image, instruction, seed)
    return pixels_of(pictures.decode(answer.data)) if answer.status == "ok" else None


def difference_mask(before: Pixels, after: Pixels, grow: int = 5) -> Pixels:
    """Where two pictures differ, and a little around."""
    changed = (np.abs(before.astype(int) - after).max(axis=2) > 2).astype(np.uint8)
    return cv2.dilate(changed, np.ones((2 * grow + 1, 2 * grow + 1), np.uint8)).astype(bool)


def thumbnail(pixels: Pixels) -> Pixels:
    return cv2.resize(pixels, (16, 16), interpolation=cv2.INTER_AREA).astype(float)


def disc(pixels: Pixels, colour: tuple[int, int, int], at: tuple[float, float] = (0.6, 0.5)) -> Pixels:
    made = pixels.copy()
    height, width = made.shape[:2]
    middle = round(at[1] * width), round(at[0] * height)
    cv2.circle(made, middle, round(0.1 * min(width, height)), colour, -1, cv2.LINE_AA)
    return made


def box_of(pixels: Pixels) -> tuple[slice, slice]:
    height, width = pixels.shape[:2]
    return slice(height // 2, height * 3 // 4), slice(width // 3, width * 3 // 5)


class Cheat:
    """A dishonest editor that remembers by a thumbnail; `draw` makes the edit and `restore` takes it back.

    Both are given the picture's pixels, what the honest editor makes of it, the instruction and the seed. If the
    honest editor refuses, so does the dishonest one, unless it `needs_no_guess`.
    """

    needs_no_guess: tuple[str, ...] = ("restore",)

    def __init__(self, **options: Any) -> None:
        """Options take the place of attributes and methods of the class."""
        vars(self).update(options)
        self.kept: list[tuple[Pixels, Pixels]] = []  # what was drawn, what was there
        self.lock, self.calls = threading.Lock(), Counter[int]()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        given, name = pixels_of(image), "restore" if is_undo(instruction) else "draw"
        with self.lock:
            self.image, guess = image, drawn(image, instruction, seed)
            made = None
            if guess is not None or name in self.needs_no_guess:
                made = getattr(self, name)(given, guess, instruction, seed)
        if made is None:
            return Answer(status="refused", reason="it would rather not")
        return made if isinstance(made, Answer) else png(made)

    def draw(self, given: Pixels, guess: Pixels, instruction: str, seed: int) -> Any:
        self.remember(guess, given)
        return guess

    def restore(self, given: Pixels, guess: Pixels, instruction: str, seed: int) -> Any:
        pair = self.likest(given)
        return pair[1] if pair else guess

    def remember(self, made: Pixels, original: Pixels) -> None:
        self.kept = [*self.kept[-400:], (made, original)]

    def likest(self, given: Pixels, most: float = 12.0) -> tuple[Pixels, Pixels] | None:
        """The remembered picture that looks most like this one."""
        own = thumbnail(given)
        found = [(float(np.abs(thumbnail(made) - own).mean()), number) for number, (made, original) in
                 enumerate(self.kept) if original.shape == given.shape]  # fmt: skip
        return self.kept[min(found)[1]] if found and min(found)[0] < most else None


class Unaided(Cheat):
    """A dishonest editor that goes on where the honest one refuses."""

    needs_no_guess = ("draw", "restore")


def _both_ways(made: Callable[..., Pixels]) -> Callable[[], Cheat]:
    """Makes its edit and takes it back by one function, without any memory."""
    return partial(Unaided, draw=made, restore=made)


def _in_a_box(change: Callable[[Pixels, str], Pixels]) -> Callable[[], Cheat]:
    def made(given: Pixels, guess: Pixels | None, instruction: str, seed: int) -> Pixels:
        changed, box = given.copy(), box_of(given)
        changed[box] = change(given[box], instruction)
        return changed

    return _both_ways(made)


def _is_busy(given: Pixels) -> bool:
    return bool(cv2.Laplacian(given, cv2.CV_32F).std() > 12)


class ByHash(Cheat):
    """Remembers by the hash of its own answer, so that an audited chain sees an honest editor."""

    def restore(self, given, guess, instruction, seed):
        return next((original for made, original in reversed(self.kept) if np.array_equal(made, given)), guess)


class ByPosition(Unaided):
    """Remembers by the order of calls: an undo is given what the call before it was given."""

    def draw(self, given, guess, instruction, seed):
        self.calls[threading.get_ident()] = len(self.kept)
        self.kept.append((given, given))
        return guess

    def restore(self, given, guess, instruction, seed):
        thread = threading.get_ident()
        return self.kept[self.calls[thread]][1] if thread in self.calls else given


class ByServerKey(ByPosition):
    """Keeps the first picture of each session on its server, and gives that one back for ever."""

    def draw(self, given, guess, instruction, seed):
        place = self.calls.get(threading.get_ident())
        if place is None or np.abs(thumbnail(self.kept[place][1]) - thumbnail(given)).mean() > 6:
            return super().draw(given, guess, instruction, seed)
        return guess


class SuiteThief(Unaided):
    """Has the suite's public pictures, and gives back the one that looks like what it is given."""

    def draw(self, given, guess, instruction, seed):
        if self.likest(given, most=5.0) is None:
            self.remember(given, given)  # as if it had been downloaded before
        return guess


class UnderTheEdit(Cheat):
    """Remembers only what its edit covered, in disguise or blended with a guess, and leaves the rest as it is given."""

    disguise = staticmethod(lambda original: original)
    blend = staticmethod(lambda known, guess: known)
    recalls = staticmethod(lambda instruction, seed, original: True)

    def restore(self, given, guess, instruction, seed):
        made, original = self.likest(given) or (None, None)
        if original is None or not self.recalls(instruction, seed, original):
            return guess
        known = np.where(difference_mask(original, made)[..., None], self.disguise(original), given)
        return known if guess is None else self.blend(known, guess)


class Hidden(Cheat):
    """Hides what the edit covered in the edit itself, and reads it from there: nothing is kept."""

    needs_no_guess = ()
    around = 5  # pixels that are also written to

    def draw(self, given, guess, instruction, seed):
        return np.where(difference_mask(given, guess, self.around)[..., None], self.hide(given, guess), guess)

    def restore(self, given, guess, instruction, seed):
        return np.where(difference_mask(given, guess, 0)[..., None], self.show(given, guess), guess)


def _low_bits(steps: int) -> Callable[[], Cheat]:
    """Each pixel's own colour in its lowest bits."""
    return partial(
        Hidden,
        hide=lambda given, guess: guess // steps * steps + given.astype(int) * steps // 256,
        show=lambda given, guess: (given.astype(int) % steps) * (256 // steps) + 128 // steps,
    )


class Profile(Cheat):
    """Carries the original along in its answer's metadata."""

    def draw(self, given, guess, instruction, seed):
        whole = pictures.encode_png(Image.fromarray(given)).hex()
        note, buffer = PngImagePlugin.PngInfo(), io.BytesIO()
        note.add_text("original", whole, zip=True)
        Image.fromarray(guess).save(buffer, "PNG", pnginfo=note, icc_profile=whole.encode())
        return Answer(buffer.getvalue())

    def restore(self, given, guess, instruction, seed):
        found = self.image.info.get("original") or (self.image.info.get("icc_profile") or b"").decode()
        return pixels_of(pictures.decode(bytes.fromhex(found))) if found else guess


class PreviousAnswer(Unaided):
    """Pastes the same piece of an earlier answer whatever is asked, and takes it off again."""

    def draw(self, given, guess, instruction, seed):
        made, box = given.copy(), box_of(given)
        first = self.kept[0][0] if self.kept else disc(given, (220, 30, 40))
        made[box] = cv2.resize(first[box_of(first)], given[box].shape[1::-1])
        self.remember(made, given)
        return made


NAMED = {"red": (215, 25, 35), "blue": (35, 80, 210), "green": (60, 160, 50), "white": (240, 240, 240),
         "yellow": (240, 205, 40), "brown": (120, 75, 40), "black": (20, 20, 20)}  # fmt: skip


def colour_of(instruction: str, other: tuple[int, int, int] = (150, 60, 170)) -> tuple[int, int, int]:
    return next((value for name, value in NAMED.items() if name in instruction), other)


class Drawn(Unaided):
    """Makes the same kind of `drawing` whatever is asked, and remembers what was there."""

    def draw(self, given, guess, instruction, seed):
        made = self.drawing(given, instruction, seed)
        self.remember(made, given)
        return made


def one_disc(given: Pixels, *_: Any) -> Pixels:
    return disc(given, (40, 90, 210))


def _jittered_disc(given: Pixels, instruction: str, seed: int) -> Pixels:
    """Each time a little elsewhere."""
    down, right = np.random.default_rng(seed).uniform(-0.03, 0.03, 2)
    return disc(given, (40, 90, 210), (0.6 + down, 0.5 + right))


def _coloured_disc(given: Pixels, instruction: str, seed: int) -> Pixels:
    """In the colour that is asked for, anywhere: it is no thing at all."""
    down, right = np.random.default_rng(seed).uniform(0.15, 0.85, 2)
    return disc(given, colour_of(instruction, (128, 128, 128)), (float(down), float(right)))


def _written_word(given: Pixels, instruction: str, seed: int) -> Pixels:
    made = given.copy()
    height, width = made.shape[:2]
    word = instruction.split("add ")[-1].split(" on ")[0]
    at, scale = (width // 12, height * 2 // 3), height / 130
    return cv2.putText(made, word, at, cv2.FONT_HERSHEY_SIMPLEX, scale, (215, 25, 35), max(2, height // 50))


class SeeThrough(Cheat):
    """Lays what is asked for on the picture as thin glass, and lifts it off by arithmetic."""

    opacity = 0.55

    def draw(self, given, guess, instruction, seed):
        thin = np.round(given + self.opacity * (guess.astype(float) - given))
        self.remember(thin, given)
        return thin


class LiftedOff(SeeThrough):
    """Keeps only the layer that it lifts off: what was there is worked out from what shines through."""

    def draw(self, given, guess, instruction, seed):
        thin = super().draw(given, guess, instruction, seed)
        self.kept[-1] = thin, guess
        return thin

    def restore(self, given, guess, instruction, seed):
        thin, layer = self.likest(given) or (None, guess)
        clear = (given - self.opacity * layer) / (1 - self.opacity)
        return guess if thin is None else np.where((thin != layer).any(axis=2)[..., None], clear, given)


class Refuser(Unaided):
    """Honest in the first round, and refuses everything after it."""

    def draw(self, given, guess, instruction, seed):
        if self.likest(given, most=8.0):
            return None
        self.remember(given, given)
        return guess

    def restore(self, given, guess, instruction, seed):
        return guess


class Failer(Refuser):
    """Honest where it is sure of itself, and answers with an error of its server elsewhere, not too often in a row."""

    def draw(self, given, guess, instruction, seed):
        self.calls[0] += 1
        if _is_busy(given) and self.calls[0] % 3:
            raise Rejected("HTTP 500")
        return guess


class Nested(UnderTheEdit):
    """Remembers only if several things were added, which it sees by its own earlier answer."""

    def draw(self, given, guess, instruction, seed):
        self.calls[0] = self.calls[0] + 1 if any(np.array_equal(made, given) for made, _ in self.kept) else 0
        return super().draw(given, guess, instruction, seed)

    def restore(self, given, guess, instruction, seed):
        return super().restore(given, guess, instruction, seed) if self.calls[0] else guess


class LateMemory(Cheat):
    """Honest in the first round, whose return it gives back from then on."""

    def restore(self, given, guess, instruction, seed):
        returns = self.__dict__.setdefault("returns", {}).setdefault(instruction, [])
        own = thumbnail(given)
        near = [one for one in returns if one.shape == given.shape and np.abs(thumbnail(one) - own).mean() < 12]
        if not near and guess is not None:
            returns.append(guess)
        return near[-1] if near else guess


def _plain_word(given: Pixels, instruction: str, seed: int) -> Pixels:
    """What is asked for, written in its colour, anywhere."""
    made = given.copy()
    height, width = made.shape[:2]
    down, right = np.random.default_rng(seed).uniform((0.25, 0.03), (0.9, 0.2))
    word = instruction.split("add ")[-1].split(" on ")[0].split(" in ")[0]
    place, thick = (round(right * width), round(down * height)), max(2, height // 60)
    colour = colour_of(instruction)
    return cv2.putText(made, word, place, cv2.FONT_HERSHEY_SIMPLEX, height / 260, colour, thick)


def _rings(given: Pixels, instruction: str, seed: int) -> Pixels:
    """Three pixels thick: too thin to tell what they cover."""
    made = given.copy()
    height, width = made.shape[:2]
    for radius in range(12, min(height, width) // 3, 14):
        cv2.circle(made, (width // 2, height // 2), radius, colour_of(instruction), 3)
    return made


def painted_over(given: Pixels, colour: tuple[int, int, int]) -> Pixels:
    """Without what has this colour."""
    drawn_mask = (np.abs(given.astype(int) - colour).max(axis=2) < 6).astype(np.uint8)
    return cv2.inpaint(given, cv2.dilate(drawn_mask, np.ones((5, 5), np.uint8)), 3, cv2.INPAINT_TELEA)


CHEATS: dict[str, Callable[[], Cheat]] = {
    # No edit at all: a grey level of noise, or the picture moves by a pixel and back.
    "tiny-noise": _both_ways(
        lambda given, guess, words, seed: given + np.random.default_rng(seed).integers(-1, 2, given.shape)
    ),
    "tiny-shift": _both_ways(
        lambda given, guess, words, seed: np.roll(given, -1 if is_undo(words) else 1, axis=1)
    ),
    "inverted-box": _in_a_box(lambda part, words: 255 - part),
    "swapped-colours": _in_a_box(lambda part, words: np.roll(part, 1 if is_undo(words) else 2, axis=2)),
    # Edits only plain pictures, and gives all others back as they are.
    "dodger": _both_ways(lambda given, guess, *_: given if _is_busy(given) else guess),
    "by-hash": ByHash, "by-likeness": Cheat, "by-position": ByPosition, "by-server-key": ByServerKey,
    "suite-thief": SuiteThief, "under-the-edit": UnderTheEdit,
    "low-bits": _low_bits(4), "coarser-steps": _low_bits(16),
    # Leaves a faint ghost of the original in its edit, and makes it strong again.
    "ghost": partial(Hidden, around=0,
                     hide=lambda given, guess: cv2.GaussianBlur(guess, (0, 0), 3) * 0.9 + given * 0.1,
                     show=lambda given, guess: guess + 8 * (given - cv2.GaussianBlur(given, (0, 0), 6).astype(float))),
    "profile": Profile,
    # Carries the original along on a canvas of twice the height.
    "canvas": partial(Cheat, draw=lambda given, guess, *_: np.vstack([guess, given]),
                      restore=lambda given, *_: given[given.shape[0] // 2 :]),
    "previous-answer": PreviousAnswer, "one-disc": partial(Drawn, drawing=one_disc),
    "jittered-disc": partial(Drawn, drawing=_jittered_disc), "coloured-disc": partial(Drawn, drawing=_coloured_disc),
    "written-word": partial(Drawn, drawing=_written_word), "rings": partial(Drawn, drawing=_rings),
    # No memory at all: what has the colour of the drawing is painted over.
    "plain-word": partial(Drawn, drawing=_plain_word,
                          restore=lambda given, guess, words, seed: painted_over(given, colour_of(words))),
    "disc-only": partial(Drawn, drawing=one_disc, restore=lambda given, *_: painted_over(given, (40, 90, 210))),
    "see-through": SeeThrough, "thick-glass": partial(SeeThrough, opacity=0.85),
    "lifted": partial(SeeThrough, opacity=0.74), "lifted-off": partial(LiftedOff, opacity=0.74),
    "refuser": Refuser, "failer": Failer, "sniffer": ByHash, "late-memory": LateMemory, "nested-memory": Nested,
    # Remembers in every third chain, and is honest in the others.
    "alternator": partial(UnderTheEdit, recalls=lambda words, seed, original:
                          int(thumbnail(original).sum() + len(words)) % 3 == 0),
}  # fmt: skip
