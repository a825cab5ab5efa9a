"""Datasets to be scored in tests: chains with known damage, built as every dataset is, and networks at random."""

import hashlib
import io
from pathlib import Path

import cv2
import numpy as np
import stores
from convergebench.generation.records import Chain, Program, Source, Step, canonical
from convergebench.metric_modules._engine import engine
from PIL import Image

SIDE = 48
SIZES = {1: (64, 48), 2: (48, 64), 3: (64, 48)}
PICTURES = 58  # to be scored in what `runs` makes
PROGRAMS = {
    "dot": Program("dot", ("add a red dot", "remove the red dot"), "objects", True, "clear", shows="a red dot"),
    "copy": Program("copy", ("copy the picture",), "replicate", True, "exact"),
}


def picture(seed: int, size: tuple[int, int] = (64, 48)) -> np.ndarray:
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
    return cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 4), None, 20, 235, cv2.NORM_MINMAX)


def encoded(pixels: np.ndarray, kind: str = "png") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, {"png": "PNG", "jpg": "JPEG"}[kind])
    return buffer.getvalue()


def worn(pixels: np.ndarray, strength: float, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, 1, pixels.shape)
    return np.clip(pixels + strength * noise, 0, 255).astype(np.uint8)


def dotted(pixels: np.ndarray) -> np.ndarray:
    return cv2.circle(pixels.copy(), (20, 20), 12, (255, 0, 0), -1)


def source(seed: int) -> Source:
    data = encoded(picture(seed, SIZES[seed]))
    size = SIZES[seed]
    return Source(
        f"source-{seed}", hashlib.sha256(data).hexdigest(), *size, "object", "synthetic", "CC0-1.0", "made here"
    )


def answers(chain: Chain, strength: float) -> list[bytes]:
    """Each round adds as much decay as the one before; forward pictures show the dot."""
    seed = int(chain.source.id.removeprefix("source-"))
    made = []
    for number, round, position, _ in chain.asks():
        pixels = worn(picture(seed, SIZES[seed]), strength * round, number)
        if chain.program.id == "dot" and position == 1:
            pixels = dotted(pixels)
        made.append(encoded(pixels, "jpg" if number % 2 else "png"))
    return made


def keep(
    run: Path, chain: Chain, received: list[bytes | str], reference: bytes | None = None, **about: object
) -> None:
    """Write one chain into a store: `received` holds each step's bytes, or the status of a step without any."""
    seed = int(chain.source.id.removeprefix("source-"))
    start = encoded(picture(seed, SIZES[seed]))
    folder = stores.begin(run, chain, SIDE, start, reference)
    steps = [stored(folder, Step(0, 0, 0, "", "input"), start)]
    end = "complete"
    for (number, round, position, words), data in zip(chain.asks(), received, strict=False):
        if isinstance(data, str):
            end = data
            steps.append(Step(number, round, position, words, data, reason="it would rather not"))
        else:
            steps.append(stored(folder, Step(number, round, position, words, "ok", details=about), data))
    (folder / "steps.jsonl").write_text("".join(canonical(step.to_dict()) + "\n" for step in steps))
    stores.finish(folder, len(steps) - 1, end)


def stored(folder: Path, step: Step, data: bytes) -> Step:
    kind = "jpg" if data[:2] == b"\xff\xd8" else "png"
    return stores.kept(folder, step, data, Image.open(io.BytesIO(data)).size, kind)


def chain(editor: str, seed: int, program: str = "dot", rounds: int = 3, **settings: object) -> Chain:
    return Chain(source(seed), PROGRAMS[program], editor, {"short_side": SIDE, **settings}, 1, rounds)  # type: ignore[dict-item]


def runs(run: Path) -> Path:
    """Two editors on three sources, one of which refuses in the end, and a no-op."""
    for seed in SIZES:
        for editor, strength in (("gentle", 3), ("rough", 25)):
            for program in PROGRAMS:
                one = chain(editor, seed, program)
                received: list[bytes | str] = [*answers(one, strength)]
                if (editor, seed, program) == ("rough", 3, "dot"):
                    received = [*received[:4], "refused"]
                keep(run, one, received)
    idle = chain("idle", 1)
    keep(run, idle, [encoded(picture(1, SIZES[1]))] * 6)
    return run


def built(run: Path, out: Path) -> Path:
    return stores.built(out, run)


def score(
    folder: Path, asked: list[str] | None = None, dtype: str | None = None, batch: int = engine.BATCH
) -> engine.Outcome:
    return engine.run(engine.prepare(folder, asked, "cpu", dtype), batch=batch)


def content(folder: Path) -> list[bytes]:
    return [(folder / "data" / config / "0000.parquet").read_bytes() for config in ("scores", "floors")]


def lpips_weights(cache: Path) -> None:
    """Random weights where LPIPS looks for its own; XDG_CACHE_HOME has to name the cache."""
    from convergebench.metric_modules.lpips import weights
    from random_lpips import random_tensors
    from safetensors.torch import save_file

    tensors, path = random_tensors("alex"), cache / "convergebench" / "lpips_alex.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, {"digest": weights._digest(tensors), "source": "random"})


def clip_model(folder: Path) -> str:
    """A CLIP of 16 numbers a token with random weights and a tokenizer of letters."""
    import json

    import torch
    from transformers import CLIPConfig, CLIPModel, CLIPTokenizer
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({word: place for place, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    vision = {**small, "image_size": 32, "patch_size": 8}
    text = {**small, "vocab_size": len(words), "bos_token_id": 52, "eos_token_id": 53}
    CLIPModel(CLIPConfig(vision_config=vision, text_config=text, projection_dim=8)).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=32).save_pretrained(folder)
    return str(folder)
