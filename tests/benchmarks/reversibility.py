"""How often the rules over words, and a probe of the embedded editor, agree with how people classed the programs.

    python tests/benchmarks/reversibility.py [--write]

The probe asks what an edit leaves of a picture: three pictures are edited as they are, and with a fine pattern put on
their light or on their colour. What of the pattern is still there says what could be restored.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import cv2
import numpy as np
from convergebench.generation import programs
from convergebench.generation.editors.paint import carry_out, instructions
from convergebench.generation.reversibility import UNSURE, classify
from simulations import markdown, put
from skimage import data

PICTURES = [cv2.resize(picture()[..., :3], (256, 256)) for picture in (data.astronaut, data.coffee, data.chelsea)]
PAGE = Path(__file__).parents[2] / "docs" / "reversibility.md"
_CELL = 16
_SIZE = 6.0  # grey levels of the pattern


def edited(picture, instruction):
    request = instructions.parse(instruction)
    made = "unknown" if request is None else carry_out(picture, request, np.random.default_rng(1))
    return None if isinstance(made, str) else made.astype(np.float32)


def cells(gap):
    height, width = (side // _CELL * _CELL for side in gap.shape[:2])
    parts = gap[:height, :width].reshape(height // _CELL, _CELL, width // _CELL, _CELL, 3)
    return np.sqrt((parts**2).mean((1, 3, 4)))


def gains(instruction, colour):
    """In each cell of 16 pixels, what the edit leaves of the pattern; None if paint cannot make this edit."""
    values = []
    for picture in PICTURES:
        chance = np.random.default_rng(7)
        signs = chance.choice([-1.0, 1.0], picture.shape[:2])
        if colour:
            signs = cv2.resize(chance.choice([-1.0, 1.0], (16, 16)), (256, 256), interpolation=cv2.INTER_NEAREST)
        pattern = signs[..., None] * (np.array([1.0, -0.5, 0.2]) if colour else np.ones(3)) * _SIZE
        calm = (picture * 0.8 + 25).astype(np.uint8)
        marked = np.rint(calm + pattern).clip(0, 255).astype(np.uint8)
        plain, other = edited(calm, instruction), edited(marked, instruction)
        if plain is None or other is None:
            continue
        before = np.median(cells(marked.astype(np.float32) - calm))
        values.append(cells(other - plain) / before)
    return np.concatenate([value.ravel() for value in values]) if values else None


def probed(instruction):
    light, colour = gains(instruction, False), gains(instruction, True)
    if light is None:
        return UNSURE
    if max(np.mean(abs(light - 1) > 0.02), np.mean(abs(colour - 1) > 0.02)) == 0:
        return "exact"
    if np.median(light) > 1.3:
        return "invents information"
    if np.mean(light < 0.25) > 0.5:
        return "destroys information"
    is_left = min(np.mean(light > 0.5), np.mean(colour > 0.5)) > 0.5
    return "clear" if is_left and np.median(light) > 0.9 else "partial"


def page():
    rows = []
    for program in programs.load().values():
        if program.category != "out and back":
            words, probe = classify(program.cycle, program.closes)[0], probed(program.cycle[0])
            rows.append((program, words, probe, words if probe in (words, UNSURE) else UNSURE))
    counts = []
    for name, place in (("rules over words", 1), ("probe", 2), ("both together", 3)):
        agree = sum(row[place] == row[0].reversibility for row in rows)
        unsure = sum(row[place] == UNSURE for row in rows)
        counts.append((f"{name}, {len(rows)}", agree, len(rows) - agree - unsure, unsure))
    others = [
        (program.id, program.reversibility, words, probe)
        for program, words, probe, _ in rows
        if {words, probe} != {program.reversibility}
    ]
    head = ("of the programs that people classed", "agree", "another class", "unsure")
    return f"{markdown(head, counts)}\n{markdown(('program', 'people', 'words', 'probe'), others, '---')}"


if __name__ == "__main__":
    made = page()
    print(made)
    if "--write" in sys.argv:
        put(PAGE, "agreement", made)
