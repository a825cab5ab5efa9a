"""What the verdicts say of pictures whose truth is known: a part pasted in, painted out, or made a little other."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from io import BytesIO
from typing import Any
from zlib import crc32

import cv2
import numpy as np
from convergebench.generation.sources import catalogue
from convergebench.metric_modules._shared.looks import look, seen
from convergebench.metric_modules.edit_applied.judge import _judge_forward, judge_step
from PIL import Image

from .wear import ON_TOP, whole

SIDE = 512  # the short side, in pixels
LEAST = 12.0  # mean delta E of a part: less would not be seen
TRIES = 25  # places in which such a part is looked for
SIZES = (0.001, 0.003, 0.006, 0.01, 0.02, 0.05, 0.1, 0.2)
CYCLE = ("add a thing", "remove the thing")
UNDER = ("none", "JPEG 40", "noise 12", "colour cast 30%", "like an autoencoder")  # wear of edits and their undos

Pictures = Mapping[str, np.ndarray]
Rows = Iterator[dict[str, Any]]


@cache
def photographs(most: int) -> dict[str, np.ndarray]:
    """The photographs of the suites that come with an installed package, at one short side."""
    pictures = {}
    for row in catalogue.manifest().values():
        if row.package.startswith("installed:") and len(pictures) < most:
            image = Image.open(BytesIO(catalogue.read(row.id))).convert("RGB")
            zoom = SIDE / min(image.size)
            size = round(image.width * zoom), round(image.height * zoom)
            pictures[row.id] = np.asarray(image.resize(size, Image.Resampling.LANCZOS))
    return pictures


def blob(shown: np.ndarray, share: float, chance: np.random.Generator) -> np.ndarray:
    """A smooth irregular mask of that share of the picture, anywhere inside."""
    height, width = shown.shape[:2]
    tall = np.sqrt(share * height * width / np.pi * np.exp(chance.uniform(-0.4, 0.4)))
    wide = min(share * height * width / np.pi / tall, width * 0.4)
    tall = min(tall, height * 0.4)
    middle = chance.uniform(1.15 * tall, height - 1.15 * tall), chance.uniform(1.15 * wide, width - 1.15 * wide)
    down, right = np.mgrid[:height, :width]
    down, right = (down - middle[0]) / tall, (right - middle[1]) / wide
    angle, phase = np.arctan2(down, right), chance.uniform(0, 2 * np.pi, 3)
    rim = 1 + 0.1 * np.sin(2 * angle + phase[0]) + 0.06 * np.sin(3 * angle + phase[1])
    return down**2 + right**2 < (rim + 0.04 * np.sin(5 * angle + phase[2])) ** 2


def colours(shown: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(cv2.cvtColor(shown.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), (0, 0), 2)


def laid_in(shown: np.ndarray, other: np.ndarray, mask: np.ndarray, opacity: float = 1.0) -> np.ndarray:
    soft = opacity * cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.8)[..., None]
    return whole(shown * (1 - soft) + other * soft)


def elsewhere(shown: np.ndarray, other: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    stretched = cv2.resize(other, shown.shape[1::-1], interpolation=cv2.INTER_AREA)
    return np.roll(stretched, chance.integers(0, 300, 2), (0, 1))


Part = tuple[np.ndarray, np.ndarray, float]  # the picture with the part, its mask, its mean delta E


def pasted(shown: np.ndarray, other: np.ndarray, share: float, chance: np.random.Generator) -> Part | None:
    """A part of another photograph in this one."""
    return standing_out(shown, share, chance, lambda mask: laid_in(shown, elsewhere(shown, other, chance), mask))


def painted_out(shown: np.ndarray, share: float, chance: np.random.Generator) -> Part | None:
    """A part painted out by what surrounds it (Telea)."""
    small = cv2.resize(shown, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)

    def filled_in(mask: np.ndarray) -> np.ndarray:
        hole = cv2.resize(mask.astype(np.uint8), small.shape[1::-1], interpolation=cv2.INTER_NEAREST)
        filled = cv2.inpaint(small, cv2.dilate(hole, np.ones((3, 3), np.uint8)), 3, cv2.INPAINT_TELEA)
        return laid_in(shown, cv2.resize(filled, shown.shape[1::-1], interpolation=cv2.INTER_CUBIC), mask)

    return standing_out(shown, share, chance, filled_in)


def standing_out(
    shown: np.ndarray, share: float, chance: np.random.Generator, change: Callable[[np.ndarray], np.ndarray]
) -> Part | None:
    """A changed part that can be seen; None if there is no such place."""
    for _ in range(TRIES):
        mask = blob(shown, share, chance)
        changed = change(mask)
        strength = float(np.linalg.norm(colours(shown) - colours(changed), axis=2)[mask].mean())
        if strength >= LEAST:
            return changed, mask, strength
    return None


def chance_of(*words: object) -> np.random.Generator:
    """The same numbers for the same words, on any machine."""
    return np.random.default_rng(crc32(" ".join(map(str, words)).encode()))


def another(pictures: Pictures, name: str, further: int = 1) -> np.ndarray:
    names = list(pictures)
    return pictures[names[(names.index(name) + further) % len(names)]]


def parts(pictures: Pictures, sizes: tuple[float, ...] = SIZES) -> Rows:
    """Parts pasted in and painted out under every wear, and the same wear alone: did something change?"""
    for name, shown in pictures.items():
        source, cases = look(shown), [("alone", 0.0, shown, 0.0)]
        for size in sizes:
            made = {"pasted": pasted(shown, another(pictures, name), size, chance_of(name, size))}
            if size <= 0.1:
                made["painted out"] = painted_out(shown, size, chance_of(name, size, "out"))
            cases += [(kind, size, part[0], part[2]) for kind, part in made.items() if part]
        for kind, size, changed, contrast in cases:
            for wear, worn in ON_TOP.items():
                after = look(worn(changed, chance_of(name, size, kind, wear)))
                about = {"picture": name, "kind": kind, "size": size, "contrast": contrast, "wear": wear}
                yield about | {"changed": _judge_forward(source, after)["region_share"]}


def undoing(pictures: Pictures, sizes: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1)) -> Rows:
    """A part is pasted in as an edit; something comes back: undone, not undone, or something else?"""
    for name, shown in pictures.items():
        source = seen(shown)
        for size in sizes:
            part = pasted(shown, another(pictures, name), size, chance_of(name, size, "edit"))
            if part is None:
                continue
            forward, mask, contrast = part
            half = mask & (np.arange(mask.shape[1]) < np.median(np.nonzero(mask)[1]))
            third = elsewhere(shown, another(pictures, name, 2), chance_of(name, size, "third"))
            backs = {
                "the original": shown,
                "half faded": laid_in(shown, forward, mask, 0.5),
                "half of its area": laid_in(shown, forward, half),
                "the edit itself": forward,
                "a third picture's part": laid_in(shown, third, mask),
            }
            for wear in UNDER:
                chance = chance_of(name, size, wear)
                there = seen(ON_TOP[wear](forward, chance))
                for back, picture in backs.items():
                    round = [source, there, seen(ON_TOP[wear](picture, chance))]
                    judged = judge_step(CYCLE, True, 2, round, source=source)
                    about = {"picture": name, "size": size, "contrast": contrast, "wear": wear, "back": back}
                    yield about | {"undone": judged["undone"]}
