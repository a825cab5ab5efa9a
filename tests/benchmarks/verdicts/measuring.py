"""What the verdicts say of pictures whose truth is known: one dictionary for each pair or round that was judged."""

from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

import numpy as np
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.judge import _judge_forward, judge_step, seen

from . import truth
from .wear import ON_TOP

SIZES = (0.001, 0.003, 0.006, 0.01, 0.02, 0.05, 0.1, 0.2)
CYCLE = ("add a thing", "remove the thing")
UNDER = ("none", "JPEG 40", "noise 12", "colour cast 30%", "like an autoencoder")  # wear of edits and their undos

Pictures = Mapping[str, np.ndarray]
Rows = Iterator[dict[str, Any]]


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
            made = {"pasted": truth.pasted(shown, another(pictures, name), size, chance_of(name, size))}
            if size <= 0.1:
                made["painted out"] = truth.painted_out(shown, size, chance_of(name, size, "out"))
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
            part = truth.pasted(shown, another(pictures, name), size, chance_of(name, size, "edit"))
            if part is None:
                continue
            forward, mask, contrast = part
            half = mask & (np.arange(mask.shape[1]) < np.median(np.nonzero(mask)[1]))
            third = truth.elsewhere(shown, another(pictures, name, 2), chance_of(name, size, "third"))
            backs = {
                "the original": shown,
                "half faded": truth.laid_in(shown, forward, mask, 0.5),
                "half of its area": truth.laid_in(shown, forward, half),
                "the edit itself": forward,
                "a third picture's part": truth.laid_in(shown, third, mask),
            }
            for wear in UNDER:
                chance = chance_of(name, size, wear)
                there = seen(ON_TOP[wear](forward, chance))
                for back, picture in backs.items():
                    round = [source, there, seen(ON_TOP[wear](picture, chance))]
                    judged = judge_step(CYCLE, True, 2, round, source=source)
                    about = {"picture": name, "size": size, "contrast": contrast, "wear": wear, "back": back}
                    yield about | {"undone": judged["undone"]}
