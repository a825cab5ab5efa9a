"""A dataset of the size of a real one: 12 editors with vendors' names, 100 pictures, 30 programs, 28,000 steps.

python tests/twelve_editors.py FOLDER     writes it; the pictures are small, what happens to them looks like decay
"""

import io
import json
import math
import random
import sys
from functools import cache
from pathlib import Path

import numpy as np
import small_dataset
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

EDITORS = {  # rounds that each survives on average, and how its pictures decay
    "openai:model=gpt-image-2.5-sunburst": (8.6, "soft"),
    "openai:model=gpt-image-1-mini,quality=low": (3.1, "warm"),
    "gemini:model=gemini-3.1-flash-image": (7.9, "sharp"),
    "gemini:model=gemini-2.5-flash-image": (5.2, "shift"),
    "seedream:model=seedream-4-0-250828": (4.4, "soft"),
    "seedream:model=seedream-5-5-261028": (6.8, "contrast"),
    "bfl:model=flux-kontext-pro": (4.9, "sharp"),
    "bfl:model=flux-2-max": (7.2, "noise"),
    "qwen:model=qwen-image-3.0-pro": (6.1, "warm"),
    "qwen:model=qwen-image-edit": (2.4, "noise"),
    "xai:model=grok-imagine-image-2.0": (5.8, "contrast"),
    "hf:model=black-forest-labs/FLUX.1-Kontext-dev": (3.8, "shift"),
}
BASELINES = {"identity": (0, "none"), "oracle": (10, "none")}
ROLES = {"identity": "baseline", "oracle": "baseline"}
PRICES = dict(
    zip(EDITORS, (0.053, 0.006, 0.067, 0.039, 0.03, 0.045, 0.04, 0.07, 0.075, 0.045, 0.05, None), strict=True)
)
LARGE, LARGE_CASES = next(iter(EDITORS)), 12  # whose pictures may be large
PICTURES, PROGRAMS, ROUNDS, STEPS, SIDE = 100, 30, 10, 28_000, 224
HOUSE = (0.2, 0.45, 0.85, 0.82)  # left, top, right and bottom of where it can stand
CORNERS = [[HOUSE[x], HOUSE[y]] for x, y in ((0, 1), (2, 1), (2, 3), (0, 3))]
OUTLINE = json.dumps({"rule": "colour", "polygons": [CORNERS]})
KINDS = ("face", "scene", "object", "texture")
ITEMS = ("hat", "scarf", "lamp", "red ball", "chair", "bird", "balloon", "flower", "boat", "cup")
CATEGORIES = ("accessories", "scene objects", "weather")


@cache
def original(number):
    """One of a dozen scenes: a sky, hills, a sun and a house or a head, in colours of its own."""
    rng = random.Random(number % 12)
    picture = Image.new("RGB", (SIDE, SIDE))
    pen = ImageDraw.Draw(picture)
    top, low = [tuple(rng.randint(60, 235) for _ in range(3)) for _ in range(2)]
    for y in range(SIDE):
        part = y / SIDE
        pen.line([(0, y), (SIDE, y)], tuple(int(a * (1 - part) + b * part) for a, b in zip(top, low, strict=True)))
    for layer in range(3):
        colour = tuple(rng.randint(20, 150) for _ in range(3))
        height = SIDE * (0.5 + 0.13 * layer)
        points = [(x, height + 16 * math.sin(x / rng.uniform(14, 40) + layer)) for x in range(0, SIDE + 8, 8)]
        pen.polygon([(0, SIDE), *points, (SIDE, SIDE)], colour)
    x, y = rng.randint(40, 180), rng.randint(20, 80)
    pen.ellipse([x - 18, y - 18, x + 18, y + 18], (250, 236, 170))
    x = rng.randint(50, 150)
    pen.rectangle([x, 120, x + 55, 180], tuple(rng.randint(90, 230) for _ in range(3)), "black")
    pen.polygon([(x - 8, 120), (x + 28, 92), (x + 63, 120)], tuple(rng.randint(60, 200) for _ in range(3)), "black")
    grain = np.random.default_rng(number % 12).integers(-9, 10, (SIDE, SIDE, 3))
    return Image.fromarray((np.asarray(picture).astype(int) + grain).clip(0, 255).astype(np.uint8))


@cache
def answer(number, decay, amount, edited, gone=False):
    """A picture after some damage, as JPEG; `amount` counts tenths; with `gone` the house is no longer there."""
    picture = original(number)
    strength = amount / 10
    if decay == "soft":
        picture = picture.filter(ImageFilter.GaussianBlur(3.2 * strength))
    elif decay == "sharp":
        picture = picture.filter(ImageFilter.UnsharpMask(2, int(420 * strength), 0))
    elif decay == "warm":
        tint = Image.new("RGB", picture.size, (224, 150, 60))
        picture = Image.blend(picture, tint, 0.5 * strength)
    elif decay == "contrast":
        picture = ImageEnhance.Contrast(ImageEnhance.Color(picture).enhance(1 + 1.3 * strength)).enhance(1 + strength)
    elif decay == "shift":
        picture = picture.resize((SIDE, SIDE), box=(14 * strength, 20 * strength, SIDE, SIDE))
    elif decay == "noise":
        noise = np.random.default_rng(amount).normal(0, 46 * strength, (SIDE, SIDE, 3))
        picture = Image.fromarray((np.asarray(picture) + noise).clip(0, 255).astype(np.uint8))
    if edited:
        pen = ImageDraw.Draw(picture)
        pen.ellipse([96, 130, 140, 174], (200, 24, 30), (90, 0, 0))
    if gone:
        ImageDraw.Draw(picture).rectangle(
            [HOUSE[0] * SIDE, HOUSE[1] * SIDE, HOUSE[2] * SIDE, HOUSE[3] * SIDE], (96, 84, 70)
        )
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def cases(steps):
    """Pictures with programs, all of both, as many as the steps allow; the same for every editor."""
    count = steps // (len(EDITORS) * (2 * ROUNDS + 1))
    return [(number % PICTURES, (number * 7) % PROGRAMS) for number in range(max(count, 4))]


def write(folder, steps=STEPS, large=()):
    """The dataset; every editor is lost on each case in a round near its mean, to causes that differ by editor.

    The pictures of `large` stand in place of those of the first editor's first cases.
    """
    chosen = cases(steps)
    programs = [f"{ITEMS[number % 10].replace(' ', '-')}-{number // 10}" for number in range(PROGRAMS)]
    sources = [f"picture-{number:03}" for number in range(PICTURES)]
    both = EDITORS | BASELINES

    seen = iter(range(10**9))

    def lasts(editor, case):
        mean = both[editor][0]
        if editor in BASELINES:
            return mean
        chance = random.Random(f"{editor} {case}")
        return min(max(round(chance.gauss(mean, 2.2)), 0), ROUNDS)

    def cause(editor, case):
        chance = random.Random(f"cause {editor} {case}").random()
        return "quality" if chance < 0.6 else "undo" if chance < 0.8 else "edit" if chance < 0.92 else "part"

    def bytes_of(editor, source, program, step):
        if large and editor == LARGE and (number := next(seen)) < LARGE_CASES * (2 * ROUNDS + 1):
            return large[number % len(large)]
        if not step:
            return answer(sources.index(source), "none", 0, False)
        round, case = (step + 1) // 2, (source, program)
        damage = 0 if editor in BASELINES else min(int(5 * round / max(lasts(editor, case), 0.7)), 20)
        lost = editor not in BASELINES and round > lasts(editor, case)
        edited = editor != "identity" and (step % 2 == 1 or (lost and cause(editor, case) == "undo"))
        if lost and cause(editor, case) == "edit":
            edited = False
        gone = lost and step % 2 == 0 and cause(editor, case) == "part"
        return answer(sources.index(source), both[editor][1], damage, edited, gone)

    def judge(row, editor, source, program):
        case = (source, program)
        kept, why = lasts(editor, case), cause(editor, case)
        lost = editor not in BASELINES and row["round"] > kept
        value = 1.0 if editor in BASELINES else max(1 - 0.5 * row["round"] / max(kept + 0.4, 0.7), 0.02)
        if why != "quality" and editor not in BASELINES:
            value = max(value, 0.55)
        row |= {"psnr": 12 + 26 * value, "rmse": 60 * (1 - value), "ssim": value**0.8, "lpips": 0.7 * (1 - value)}
        row |= {"retained_rmse": value**0.6, "retained_ssim": value**0.8, "retained_lpips": value}
        row["part_lost"] = None if row["position"] == 1 else lost and why == "part"
        row["part_lost_share"] = 0.09 if lost and why == "part" else 0.0
        row["part_outline"] = OUTLINE if row["part_lost"] else None
        forward = row["position"] == 1
        row["edit_applied"] = (editor != "identity" and not (lost and why == "edit")) if forward else None
        row["edit_undone"] = None if forward else not (lost and why == "undo")
        row["undo_ratio"] = None if forward else 0.84 if lost and why == "undo" else 0.12
        return row

    small_dataset.write(
        folder, {**dict.fromkeys(EDITORS, 0.1), **dict.fromkeys(BASELINES, 0.0)}, sources, programs, ROUNDS,
        cases=[(sources[one], programs[other]) for one, other in chosen],
        bytes_of=bytes_of, judge=judge, roles=ROLES, prices=PRICES, kinds=KINDS, categories=CATEGORIES, kind="jpeg",
        side=SIDE,
    )  # fmt: skip
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else STEPS)
