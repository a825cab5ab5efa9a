"""Peak memory of scoring two chains of 4096x4096 pictures: with every metric but CLIP, and with CLIP ViT-L/14 as well.

CLIP's weights come on top of the pictures: once in bfloat16, and once in float32 for floors and near thresholds.
Networks have random weights, and nothing is fetched: it runs without a network.

python tests/benchmarks/scoring.py
"""

import os
import tempfile
from pathlib import Path

import numpy as np
from timing import in_own_process, remove_scores

SIDE = 4096  # pixels
CASES = {"without CLIP": ["psnr", "ssim", "lpips", "registration", "edit_applied"], "with CLIP": None}


def without_network(place: Path) -> None:
    """Random weights where LPIPS looks for its own, and nothing fetched; before a library that fetches is imported."""
    os.environ |= {"XDG_CACHE_HOME": str(place / "cache"), "HF_HUB_OFFLINE": "1"}
    import scored

    scored.lpips_weights(place / "cache")


def photograph(seed: int, side: int) -> np.ndarray:
    """As hard to decode as a photograph: soft shapes with a sensor's noise."""
    import cv2

    noise = np.random.default_rng(seed).integers(0, 256, (side, side, 3)).astype(np.uint8)
    shapes = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 12), None, 0, 255, cv2.NORM_MINMAX)
    return cv2.addWeighted(shapes, 0.93, cv2.GaussianBlur(noise, (0, 0), 1), 0.07, 0)


def chains(folder: Path, count: int, steps: int, side: int) -> Path:
    """A dataset of chains whose pictures are worn a little more in every step."""
    import scored

    scored.SIDE, scored.SIZES = side, dict.fromkeys(range(1, count + 1), (side, side))
    scored.picture = lambda seed, size: photograph(seed, side)
    for seed in scored.SIZES:
        chain, original = scored.chain("bench", seed, "copy", steps), photograph(seed, side)
        answers = [scored.encoded(scored.worn(original, 2 + number / 2, number)) for number in range(steps)]
        scored.keep(folder / "run", chain, answers)
    return scored.built(folder / "run", folder / "dataset")


def clip_model(folder: Path) -> str:
    """ViT-L/14 with random weights; the text side is small, for it is not used."""
    from transformers import CLIPConfig, CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    vision = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16}
    small = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(vision_config={**vision, "image_size": 224, "patch_size": 14}, text_config=small)
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessorPil().save_pretrained(folder)
    return str(folder)


def score(dataset: Path, asked: list[str] | None, clip: str) -> None:
    from convergebench.metric_modules._engine import engine
    from convergebench.metric_modules.clip_similarity import measure

    measure.CHECKPOINT = clip
    engine.run(engine.prepare(dataset, asked, "cpu", None))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        without_network(place)
        dataset, clip = chains(place, 2, 3, SIDE), clip_model(place / "clip")
        for title, asked in CASES.items():
            remove_scores(dataset)
            spent = in_own_process(score, dataset, asked, clip)
            print(f"6 pictures of {SIDE}x{SIDE}, {title}: peak memory {spent.megabytes:.0f} MB")
