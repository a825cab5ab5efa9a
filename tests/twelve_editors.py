"""A dataset of the size of a real one: 12 editors with vendors' names, 100 pictures, 30 programs, 28,000 steps."""

import random
from functools import cache

import small_dataset

EDITORS = {  # rounds that each survives on average
    "openai:model=gpt-image-2.5-sunburst": 8.6,
    "openai:model=gpt-image-1-mini,quality=low": 3.1,
    "gemini:model=gemini-3.1-flash-image": 7.9,
    "gemini:model=gemini-2.5-flash-image": 5.2,
    "seedream:model=seedream-4-0-250828": 4.4,
    "seedream:model=seedream-5-5-261028": 6.8,
    "bfl:model=flux-kontext-pro": 4.9,
    "bfl:model=flux-2-max": 7.2,
    "qwen:model=qwen-image-3.0-pro": 6.1,
    "qwen:model=qwen-image-edit": 2.4,
    "xai:model=grok-imagine-image-2.0": 5.8,
    "hf:model=black-forest-labs/FLUX.1-Kontext-dev": 3.8,
}
BASELINES = ("identity", "oracle")
LARGE, LARGE_CASES = next(iter(EDITORS)), 12  # whose pictures may be large
PICTURES, PROGRAMS, ROUNDS, STEPS, SIDE = 100, 30, 10, 28_000, 224
ITEMS = ("hat", "scarf", "lamp", "red ball", "chair", "bird", "balloon", "flower", "boat", "cup")

picture = cache(small_dataset.picture)


def fate(editor, case):
    """The rounds that an editor keeps of a case, and what it is then lost to."""
    chance = random.Random(f"{editor} {case}")
    if editor in BASELINES:
        return ROUNDS, None
    kept = min(max(round(chance.gauss(EDITORS[editor], 2.2)), 0), ROUNDS)
    return kept, chance.choices(("quality", "undo", "edit", "part"), (60, 20, 12, 8))[0]


def judge(row, editor, source, program):
    """The scores of a step: editors fade until they lose the case to its cause."""
    kept, cause = fate(editor, (source, program))
    lost = row["round"] > kept
    value = 1.0 if cause is None else max(1 - 0.5 * row["round"] / max(kept + 0.4, 0.7), 0.02)
    if cause in ("undo", "edit", "part"):
        value = max(value, 0.55)
    row |= {"psnr": 12 + 26 * value, "rmse": 60 * (1 - value), "ssim": value**0.8, "lpips": 0.7 * (1 - value)}
    row |= {"retained_rmse": value**0.6, "retained_ssim": value**0.8, "retained_lpips": value}
    forward = row["position"] == 1
    row["edit_changed"] = (editor != "identity" and not (lost and cause == "edit")) if forward else None
    row["edit_undone"] = None if forward else not (lost and cause == "undo")
    gone = 0.6 if lost and cause == "part" else 0.0
    row |= {"damage": gone, "retained_damage": 1 - gone}
    return row


def write(folder, steps=STEPS, large=()):
    """The dataset; the pictures of `large` stand in place of those of the first editor's first cases."""
    programs = [f"{ITEMS[number % 10].replace(' ', '-')}-{number // 10}" for number in range(PROGRAMS)]
    sources = [f"picture-{number:03}" for number in range(PICTURES)]
    seen = iter(range(10**9))

    def bytes_of(editor, source, program, step):
        if large and editor == LARGE and (number := next(seen)) < LARGE_CASES * (2 * ROUNDS + 1):
            return large[number % len(large)]
        damage = 0 if editor in BASELINES else 0.04 * ((step + 1) // 2)
        return picture(sources.index(source) % 12, damage, SIDE, "JPEG")

    count = max(steps // (len(EDITORS) * (2 * ROUNDS + 1)), 4)
    cases = [(sources[number % PICTURES], programs[(number * 7) % PROGRAMS]) for number in range(count)]
    return small_dataset.write(
        folder, dict.fromkeys(EDITORS, 0.1) | dict.fromkeys(BASELINES, 0.0), sources, programs, ROUNDS, cases=cases,
        bytes_of=bytes_of, judge=judge, roles=dict.fromkeys(BASELINES, "baseline"), kind="jpeg", side=SIDE,
        kinds=("face", "scene", "object", "texture"), categories=("accessories", "scene objects", "weather"),
    )  # fmt: skip
