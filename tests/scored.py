"""Datasets to be scored in tests: chains with known damage, built as every dataset is, and networks at random."""

import hashlib

import cv2
import numpy as np
import stores
from convergebench.generation.records import Chain, Program, Source
from convergebench.metric_modules._engine import engine
from PIL import Image

stored = stores.kept
SIDE = 48
SIZES = {1: (64, 48), 2: (48, 64), 3: (64, 48)}
PICTURES = 58  # to be scored in what `runs` makes
PROGRAMS = {
    "dot": Program("dot", ("add a red dot", "remove the red dot"), "objects", True, "clear", shows="a red dot"),
    "copy": Program("copy", ("copy the picture",), "replicate", True, "exact"),
}


def picture(seed, size=(64, 48)):
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
    return cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 4), None, 20, 235, cv2.NORM_MINMAX)


def encoded(pixels, kind="png"):
    return stores.encoded(Image.fromarray(pixels), {"png": "PNG", "jpg": "JPEG"}[kind])


def worn(pixels, strength, seed=0):
    noise = np.random.default_rng(seed).normal(0, 1, pixels.shape)
    return np.clip(pixels + strength * noise, 0, 255).astype(np.uint8)


def dotted(pixels):
    return cv2.circle(pixels.copy(), (20, 20), 12, (255, 0, 0), -1)


def source(seed):
    data = encoded(picture(seed, SIZES[seed]))
    size = SIZES[seed]
    return Source(
        f"source-{seed}", hashlib.sha256(data).hexdigest(), *size, "object", "synthetic", "CC0-1.0", "made here"
    )


def answers(chain, strength):
    """Each round adds as much decay as the one before; forward pictures show the dot."""
    seed = int(chain.source.id.removeprefix("source-"))
    made = []
    for number, round, position, _ in chain.asks():
        pixels = worn(picture(seed, SIZES[seed]), strength * round, number)
        if chain.program.id == "dot" and position == 1:
            pixels = dotted(pixels)
        made.append(encoded(pixels, "jpg" if number % 2 else "png"))
    return made


def keep(run, chain, received, reference=None):
    """Write one chain into a store: `received` holds each step's bytes, or the status of a step without any."""
    seed = int(chain.source.id.removeprefix("source-"))
    start = encoded(picture(seed, SIZES[seed]))
    folder = stores.begin(run, chain, SIDE, start, reference)
    stores.fill(folder, chain, start, received, reason="it would rather not")


def chain(editor, seed, program="dot", rounds=3):
    return Chain(source(seed), PROGRAMS[program], editor, {"short_side": SIDE}, 1, rounds)


def runs(run):
    """Two editors on three sources, one of which refuses in the end, and a no-op."""
    for seed in SIZES:
        for editor, strength in (("gentle", 3), ("rough", 25)):
            for program in PROGRAMS:
                one = chain(editor, seed, program)
                received = [*answers(one, strength)]
                if (editor, seed, program) == ("rough", 3, "dot"):
                    received = [*received[:4], "refused"]
                keep(run, one, received)
    idle = chain("idle", 1)
    keep(run, idle, [encoded(picture(1, SIZES[1]))] * 6)
    return run


def built(run, out):
    return stores.built(out, run)


def score(folder, asked=None, dtype=None, batch=engine.BATCH):
    return engine.run(engine.prepare(folder, asked, "cpu", dtype), batch=batch)


def content(folder):
    return [(folder / "data" / config / "0000.parquet").read_bytes() for config in ("scores", "floors")]


def lpips_weights(cache):
    """Random weights where LPIPS looks for its own; XDG_CACHE_HOME has to name the cache."""
    from convergebench.metric_modules.lpips import weights
    from random_lpips import random_tensors
    from safetensors.torch import save_file

    tensors, path = random_tensors("alex"), cache / "convergebench" / "lpips_alex.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, {"digest": weights._digest(tensors), "source": "random"})


def clip_model(folder):
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
