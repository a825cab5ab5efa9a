"""CLIP ViT-L/14's image side on one core: ways to be faster than bfloat16, and how far each is from float32.

python tests/benchmarks/clip_cpu.py [--layers 24] [--pictures 4]

Weights are random, because the real ones may not be here; nothing is fetched. So that activations spread as those of
the real model do, a few channels of every layer norm are twenty times as strong (`--outliers 0` leaves that out).
Seconds are those of the processor, the least of some turns, with the machine's speed in float32 and bfloat16 beside
them.
"""

import argparse
import copy
import sys
import time
from collections.abc import Callable

import numpy as np

WINS, NEAR = 1.3, 2e-3  # times the speed of what the engine runs, and from float32: less is not kept
See = Callable[[object], object]  # the embeddings of prepared pictures


def network(layers: int, outliers: int):
    """A CLIP of ViT-L/14's shape; the text side is small, for it is not used."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(0)
    vision = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": layers, "num_attention_heads": 16}
    small = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(
        vision_config={**vision, "image_size": 224, "patch_size": 14}, text_config=small, projection_dim=768
    )
    made = CLIPModel(config).eval()
    for layer in made.vision_model.encoder.layers:
        for norm in (layer.layer_norm1, layer.layer_norm2):
            norm.weight.data = torch.exp(0.5 * torch.randn(1024))
            norm.weight.data[torch.randperm(1024)[:outliers]] *= 20
    return made


def pictures(count: int):
    """Originals and what became of them, prepared as CLIP wants them: pairs of different likeness."""
    import cv2
    import torch

    found = []
    for seed in range(count):
        noise = np.random.default_rng(seed).integers(0, 256, (224, 224, 3)).astype(np.uint8)
        original = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 6), None, 0, 255, cv2.NORM_MINMAX).astype(np.float32)
        worn = cv2.GaussianBlur(original, (0, 0), 1 + 3 * seed) + 10 * seed
        for each in (original, worn):
            found.append(torch.from_numpy((each / 127.5 - 1).transpose(2, 0, 1).copy()))
    return torch.stack(found)


def plain(made) -> See:
    return lambda values: made.get_image_features(pixel_values=values).pooler_output


def ways(made) -> dict[str, Callable[[], See]]:
    """What is tried, by name; each makes its own network, so that only one is in memory beside the first."""
    import torch
    from convergebench.metric_modules.clip_similarity.tower import Tower

    def bfloat16():
        return copy.deepcopy(made).to(torch.bfloat16)

    def towered(own):
        with torch.inference_mode():
            see = Tower(own)
        return lambda values: see(values.to(next(own.parameters()).dtype))

    def dynamic_int8():
        return plain(torch.ao.quantization.quantize_dynamic(copy.deepcopy(made), {torch.nn.Linear}, torch.qint8))

    def mlp_int8():
        own = copy.deepcopy(made)
        for layer in own.vision_model.encoder.layers:
            layer.mlp = torch.ao.quantization.quantize_dynamic(layer.mlp, {torch.nn.Linear}, torch.qint8)
        return plain(own)

    def compiled():
        see = torch.compile(bfloat16().vision_model)
        project = bfloat16().visual_projection
        return lambda values: project(see(pixel_values=values.to(torch.bfloat16)).pooler_output)

    return {
        "float32, transformers": lambda: plain(made),
        "bfloat16, transformers": lambda: (lambda own: lambda values: plain(own)(values.to(torch.bfloat16)))(
            bfloat16()
        ),
        "float32, the engine's": lambda: towered(copy.deepcopy(made)),
        "bfloat16, the engine's": lambda: towered(bfloat16()),
        "bfloat16, torch.compile": compiled,
        "int8, torch dynamic": dynamic_int8,
        "int8, torch dynamic, MLP only": mlp_int8,
    }


def speed(dtype: str) -> float:
    """GFLOPS of a large product on one core."""
    import torch

    matrix = torch.randn(2048, 2048).to(getattr(torch, dtype))
    matrix @ matrix
    started = time.process_time()
    matrix @ matrix
    return 2 * 2048**3 / (time.process_time() - started) / 1e9


def embedded(see: See, values) -> tuple[np.ndarray, float]:
    """Unit embeddings one by one, and the least seconds that one took."""
    import torch

    rows, seconds = [], []
    with torch.inference_mode():
        see(values[:1])
        for place in range(len(values)):
            started = time.process_time()
            row = see(values[place : place + 1])
            seconds.append(time.process_time() - started)
            rows.append(row[0].float().numpy())
    found = np.stack(rows).astype(np.float64)
    return found / np.linalg.norm(found, axis=1, keepdims=True), min(seconds)


def main(layers: int, count: int, outliers: int, only: str) -> None:
    import torch

    torch.set_num_threads(1)
    made, values = network(layers, outliers), pictures(count)
    print(f"one core: {speed('float32'):.0f} GFLOPS in float32, {speed('bfloat16'):.0f} in bfloat16; {layers} layers")
    known, base = None, None
    for name, make in ways(made).items():
        if only and not any(word in name for word in ("float32, transformers", "engine", *only.split("+"))):
            continue
        try:
            found, seconds = embedded(make(), values)
        except (RuntimeError, ImportError, OSError, AttributeError, ValueError, NotImplementedError) as error:
            print(f"  {name:32} does not run here: {str(error).splitlines()[0][:100]}", flush=True)
            continue
        likeness = (found[::2] * found[1::2]).sum(1)
        known = likeness if known is None else known
        base = seconds if name == "bfloat16, the engine's" else base
        off = np.abs(likeness - known).max()
        beside = f"{base / seconds:5.2f} x the engine's" if base else ""
        kept = " KEEP" if base and base / seconds >= WINS and off <= NEAR else ""
        print(f"  {name:32} {1000 * seconds:7.0f} ms, similarity off by {off:.1e} at most {beside}{kept}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--pictures", type=int, default=4)
    parser.add_argument("--outliers", type=int, default=4)
    parser.add_argument("--only", default="", help="words of the names, with + between")
    told = parser.parse_args()
    sys.exit(main(told.layers, told.pictures, told.outliers, told.only))
