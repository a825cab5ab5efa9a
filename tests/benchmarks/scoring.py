"""Scoring beside the usual way and beside what this machine could do at most, and its peak memory.

The usual way is Pillow, scikit-image's PSNR and SSIM, the package lpips and transformers' CLIP: a pair at a time, in
float32. The limit is one decode and the networks' multiplications for one picture, at the speed of a large matrix
product. All take turns in one run, and the fastest turn of each counts. CLIP's weights come on top of the pictures'
memory: once in bfloat16, and once in float32 for floors and near thresholds. Networks have random weights, which cost
the same, and nothing is fetched: it runs without a network.

python tests/benchmarks/scoring.py
"""

import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
from timing import in_own_process, remove_scores

SIDES, TURNS = (512, 1024, 2048), 3
LARGE = 4096  # pixels a side, of the pictures whose memory counts
WITHOUT_CLIP = ["psnr", "ssim", "lpips"]
WITH_CLIP = [*WITHOUT_CLIP, "clip"]
MEMORY = {"without CLIP": ["psnr", "ssim", "lpips", "registration", "edit_applied"], "with CLIP": None}
# Of AlexNet's convolutions: pooling before it, side, stride, padding, channels in and out.
ALEXNET = (
    (0, 11, 4, 2, 3, 64),
    (1, 5, 1, 2, 64, 192),
    (1, 3, 1, 1, 192, 384),
    (0, 3, 1, 1, 384, 256),
    (0, 3, 1, 1, 256, 256),
)
TOKENS, WIDTH, LAYERS = 257, 1024, 24  # of ViT-L/14 at 224x224
CLIP = LAYERS * (2 * TOKENS * 12 * WIDTH**2 + 4 * TOKENS**2 * WIDTH) + 2 * 256 * 588 * WIDTH
MATRIX = 3072  # rows and columns of the product that shows the machine's speed


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


def chains(folder: Path, count: int, steps: int, side: int) -> tuple[Path, list[bytes]]:
    """A dataset of chains whose pictures are worn a little more in every step, and the pictures of the last chain."""
    import scored

    scored.SIDE, scored.SIZES = side, dict.fromkeys(range(1, count + 1), (side, side))
    scored.picture = lambda seed, size: photograph(seed, side)
    for seed in scored.SIZES:
        chain, original = scored.chain("bench", seed, "copy", steps), photograph(seed, side)
        pictures = [original, *(scored.worn(original, 2 + number / 2, number) for number in range(steps))]
        files = [scored.encoded(picture) for picture in pictures]
        scored.keep(folder / "run", chain, files[1:])
    return scored.built(folder / "run", folder / "dataset"), files


def clip_model(folder: Path) -> str:
    """ViT-L/14 with random weights; the text side is small, for it is not used."""
    from transformers import CLIPConfig, CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    vision = {"hidden_size": WIDTH, "intermediate_size": 4 * WIDTH, "num_hidden_layers": LAYERS}
    vision |= {"num_attention_heads": 16, "image_size": 224, "patch_size": 14}
    small = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    CLIPModel(CLIPConfig(vision_config=vision, text_config=small)).save_pretrained(folder)
    CLIPImageProcessorPil().save_pretrained(folder)
    return str(folder)


def score(dataset: Path, asked: list[str] | None, clip: str) -> float:
    """Seconds a picture, from the files to the scores, without loading the networks."""
    from convergebench.metric_modules._engine import engine
    from convergebench.metric_modules.clip_similarity import measure

    measure.CHECKPOINT = clip
    remove_scores(dataset)
    job = engine.prepare(dataset, asked, "cpu", None)
    started = time.perf_counter()
    outcome = engine.run(job)
    return (time.perf_counter() - started) / outcome.images


def decoded(files: list[bytes]) -> list[np.ndarray]:
    """The first picture and the last."""
    from PIL import Image

    return [np.array(Image.open(io.BytesIO(data)).convert("RGB")) for data in (files[0], files[-1])]


def usual_way(clip: str, files: list[bytes]) -> dict[str, Callable[[], object]]:
    """What each metric does elsewhere with a pair of pictures; both are decoded for `decode` alone."""
    import torch
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity
    from torch import nn
    from transformers import CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    layers: list[nn.Module] = []
    for pool, side, stride, padding, before, after in ALEXNET:
        layers += [nn.MaxPool2d(3, 2)] * pool + [nn.Conv2d(before, after, side, stride, padding), nn.ReLU(True)]
    # lpips takes the layers of AlexNet from torchvision, which may not be installed here.
    vision = ModuleType("torchvision")
    vision.models = SimpleNamespace(alexnet=lambda **_: SimpleNamespace(features=nn.Sequential(*layers)))
    sys.modules["torchvision"] = vision
    import lpips

    network = lpips.LPIPS(net="alex", pnet_rand=True, pretrained=False, verbose=False).eval()
    model, processor = CLIPModel.from_pretrained(clip).eval(), CLIPImageProcessorPil.from_pretrained(clip)
    window = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    pair = decoded(files)

    def tensor(picture: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(picture).permute(2, 0, 1)[None].float() / 127.5 - 1

    def embedding(picture: np.ndarray) -> torch.Tensor:
        return model.get_image_features(**processor(images=picture, return_tensors="pt")).pooler_output

    return {
        "decode": lambda: decoded(files),
        "psnr": lambda: peak_signal_noise_ratio(*pair),
        "ssim": lambda: structural_similarity(*pair, channel_axis=2, data_range=255, **window),
        "lpips": lambda: network(*map(tensor, pair)),
        "clip": lambda: torch.cosine_similarity(*map(embedding, pair)),
    }


def seconds_of(work: Callable[[], object]) -> float:
    import torch

    started = time.perf_counter()
    with torch.inference_mode():
        work()
    return time.perf_counter() - started


def alexnet_operations(side: int) -> int:
    """Multiplications and additions of LPIPS for one picture."""
    total = 0
    for pool, window, stride, padding, before, after in ALEXNET:
        side = (side - 3) // 2 + 1 if pool else side
        side = (side + 2 * padding - window) // stride + 1
        total += 2 * before * after * (window * side) ** 2
    return total


def speed(folder: Path, side: int, steps: int, clip: str) -> None:
    import torch
    from convergebench.generation.pictures import decode_array
    from convergebench.metric_modules._engine.metrics import fast_dtype

    dataset, files = chains(folder, 2, steps, side)
    dtype, asked = fast_dtype("cpu"), {"without CLIP": WITHOUT_CLIP, "with CLIP": WITH_CLIP}
    matrix = torch.randn(MATRIX, MATRIX).to(getattr(torch, dtype))
    work = usual_way(clip, files) | {
        "one decode": lambda: decode_array(files[-1]),
        "product": lambda: matrix @ matrix,
    }
    turned = []
    for _ in range(TURNS + 1):
        turned.append({name: seconds_of(function) for name, function in work.items()})
        turned[-1] |= {title: score(dataset, names, clip) for title, names in asked.items()}
    best = {name: min(turn[name] for turn in turned[1:]) for name in turned[0]}  # the first turn warms everything
    operation = best["product"] / (2 * MATRIX**3)
    print(f"{side}x{side}, {1e-9 / operation:.0f} GFLOPS in {dtype}, load {os.getloadavg()[0]:.1f}:")
    for title, names in asked.items():
        ours, theirs = best[title], best["decode"] + sum(best[name] for name in names)
        operations = alexnet_operations(side) + (CLIP if "clip" in names else 0)
        limit = best["one decode"] + operations * operation
        print(
            f"  {title}: {ours * 1e3:.1f} ms a picture; the usual way {theirs * 1e3:.0f} ms, {theirs / ours:.1f}x; "
            f"the limit {limit * 1e3:.1f} ms, ours is {ours / limit:.2f}x"
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        without_network(place)
        clip = clip_model(place / "clip")
        for side in SIDES:
            # A chain of v1 has 40 steps; of large pictures fewer will do.
            speed(place / str(side), side, max(4, min(40, 40 * 1024**2 // side**2)), clip)
        dataset, _ = chains(place / str(LARGE), 2, 3, LARGE)
        for title, asked in MEMORY.items():
            spent = in_own_process(score, dataset, asked, clip)
            print(f"6 pictures of {LARGE}x{LARGE}, {title}: peak memory {spent.megabytes:.0f} MB")


if __name__ == "__main__":
    main()
