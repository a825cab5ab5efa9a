"""Scoring 1024x1024 chains: the usual way, the best peer of each metric, ours, and what this machine could do at most.

(a) the usual way: Pillow, scikit-image's PSNR and SSIM, the package lpips, transformers' CLIP; pair by pair, float32.
(b) for each metric the fastest of pytorch-msssim, torchmetrics, piq and pyiqa; CLIP has no other peer than (a)'s.
(c) ours: `convergebench score`, on chains whose reference never changes.
(d) the limit: one decode and the networks' multiplications for one picture, at the speed of a large matrix product.

All take turns in one run, and the fastest turn of each counts; the machine's speed in float32 and bfloat16, on which
the ratios depend, stands beside each. Networks have random weights, and nothing is fetched: it runs without a network.
`make bench` makes the peers' environment.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIDE = 1024
PEERS = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
ALEXNET = 2 * sum(  # multiplications and additions at 1024x1024: weights of each convolution x places
    weights * places**2
    for weights, places in ((64 * 3 * 121, 255), (192 * 64 * 25, 127), (384 * 192 * 9, 63), (256 * 384 * 9, 63))
) + 2 * (256 * 256 * 9 * 63**2)
DTYPES = ("float32", "bfloat16")
TOKENS, WIDTH = 257, 1024
CLIP = 24 * (2 * TOKENS * 12 * WIDTH**2 + 4 * TOKENS**2 * WIDTH) + 2 * 256 * 588 * WIDTH


def without_network(place: Path) -> None:
    """Random weights where LPIPS looks for its own, and nothing fetched; before a library that fetches is imported."""
    os.environ |= {"XDG_CACHE_HOME": str(place / "cache"), "HF_HUB_OFFLINE": "1"}
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import scored

    scored.lpips_weights(place / "cache")


def photograph(seed: int) -> np.ndarray:
    """As hard to decode as a photograph: soft shapes with a sensor's noise."""
    import cv2

    noise = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
    shapes = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 12), None, 0, 255, cv2.NORM_MINMAX)
    return cv2.addWeighted(shapes, 0.93, cv2.GaussianBlur(noise, (0, 0), 1), 0.07, 0)


def chains(folder: Path, count: int, steps: int) -> Path:
    """A dataset of chains, with their pictures once more as files for the peers."""
    import scored

    scored.SIDE, scored.SIZES = SIDE, dict.fromkeys(range(1, count + 1), (SIDE, SIDE))
    scored.picture = lambda seed, size: photograph(seed)
    (folder / "pictures").mkdir()
    for seed in scored.SIZES:
        chain = scored.chain("bench", seed, "copy", steps)
        answers = [scored.encoded(scored.worn(photograph(seed), 2 + number / 2, number)) for number in range(steps)]
        scored.keep(folder / "run", chain, answers)
        if seed == 1:
            for number, data in enumerate([scored.encoded(photograph(1)), *answers]):
                (folder / "pictures" / f"{number:04d}.png").write_bytes(data)
    return scored.built(folder / "run", folder / "dataset")


def clip_model(folder: Path) -> str:
    """ViT-L/14 with random weights; the text side is small, for it is not used."""
    from transformers import CLIPConfig, CLIPModel
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    vision = {"hidden_size": WIDTH, "intermediate_size": 4 * WIDTH, "num_hidden_layers": 24, "num_attention_heads": 16}
    small = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(vision_config={**vision, "image_size": 224, "patch_size": 14}, text_config=small)
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessorPil().save_pretrained(folder)
    return str(folder)


def ours(dataset: Path, asked: list[str]) -> float:
    """Seconds a picture, from the files to the scores, without loading the networks."""
    import shutil

    from convergebench.metric_modules._engine import engine

    shutil.rmtree(dataset / "data" / "scores", ignore_errors=True)
    made = engine.prepare(dataset, asked, "cpu", None)
    started = time.perf_counter()
    outcome = engine.run(made)
    return (time.perf_counter() - started) / outcome.images


def flops(dtype: str) -> float:
    """Of a large product in a dtype."""
    import torch

    matrix = torch.randn(3072, 3072).to(getattr(torch, dtype))
    matrix @ matrix
    started = time.perf_counter()
    matrix @ matrix
    return 2 * 3072**3 / (time.perf_counter() - started)


def decode(data: bytes) -> float:
    from convergebench.generation.pictures import decode_array

    started = time.perf_counter()
    decode_array(data)
    return time.perf_counter() - started


def rows_a_time(dataset: Path, count: int = 28_000) -> float:
    """Seconds to write so many rows of scores and to read them back."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.dataset.schema import write_listed
    from convergebench.metric_modules.scores import SCORES

    rows = Reader(dataset).table("scores").to_pylist()
    many = [{**rows[number % len(rows)], "chain": f"{number:016x}"} for number in range(count)]
    started = time.perf_counter()
    write_listed(dataset, "data/scores/0000.parquet", SCORES, iter(many))
    back = Reader(dataset).table("scores").to_pylist()
    seconds = time.perf_counter() - started
    assert back == many
    return seconds


class Peers:
    """The other environment, asked one line at a time."""

    def __init__(self, pictures: Path):
        script = Path(__file__).parent / "peers" / "scoring.py"
        self.process = subprocess.Popen(
            [PEERS, script, pictures], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.about = json.loads(self.process.stdout.readline())  # type: ignore[union-attr]

    def seconds(self, method: str, pairs: int) -> float:
        self.process.stdin.write(f"{method} {pairs}\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return json.loads(self.process.stdout.readline())  # type: ignore[union-attr]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--chains", type=int, default=2)
    options.add_argument("--steps", type=int, default=40, help="of a chain; as many as v1 has")
    options.add_argument("--no-clip", action="store_true", help="leave CLIP out, which takes most of the time")
    given = options.parse_args()
    if not PEERS.exists():
        sys.exit(f"there is no {PEERS}; `make bench` makes it")
    with tempfile.TemporaryDirectory() as place:
        without_network(Path(place))
        run(Path(place), given)


def run(folder: Path, given: argparse.Namespace) -> None:
    from convergebench.metric_modules.clip_similarity import measure

    dataset = chains(folder, given.chains, given.steps)
    peers = Peers(folder / "pictures")
    names = ["psnr", "ssim", "lpips"]
    asks = {"without CLIP": names}
    if not given.no_clip:
        measure.CHECKPOINT = clip_model(folder / "clip")
        asks["with CLIP"] = [*names, "clip"]
    example = (folder / "pictures" / "0001.png").read_bytes()
    seen: dict[str, list[float]] = {}
    for turn in range(given.turns):
        for method in peers.about["methods"]:
            if "clip" not in method or not given.no_clip:
                seen.setdefault(method, []).append(peers.seconds(method, 2))
        for title, asked in asks.items():
            seen.setdefault(f"ours {title}", []).append(ours(dataset, asked))
        for dtype in DTYPES:
            seen.setdefault(dtype, []).append(1 / flops(dtype))
        seen.setdefault("one decode", []).append(decode(example))
        print(f"turn {turn + 1} of {given.turns}", file=sys.stderr)
    report({name: min(values) for name, values in seen.items()}, asks, peers.about["left out"])
    print(f"28,000 rows of scores written and read back: {min(rows_a_time(dataset) for _ in range(3)):.2f} s")
    print("spread, slowest over fastest turn:", round(statistics.median(max(v) / min(v) for v in seen.values()), 2))


def report(best: dict[str, float], asks: dict[str, list[str]], left_out: dict[str, str]) -> None:
    from convergebench.metric_modules._engine.metrics import fast_dtype

    speeds = " and ".join(f"{1e-9 / best[dtype]:.0f} GFLOPS in {dtype}" for dtype in DTYPES)
    engine = f"ours computes in {fast_dtype('cpu')}"
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {speeds}; {engine}; ms per pair:")
    for name, seconds in best.items():
        if name not in DTYPES:
            print(f"  {name:32} {seconds * 1e3:9.1f}")
    for name, reason in left_out.items():
        print(f"  left out: {name} ({reason})")
    for title, asked in asks.items():
        usual = best["decode"] + sum(best[f"usual {name}"] for name in asked)
        peer = best["decode"]
        for name in asked:
            others = [
                seconds for method, seconds in best.items() if method.endswith(f" {name}") and "ours" not in method
            ]
            peer += min(others)
        limit = best["one decode"] + (ALEXNET + CLIP * ("clip" in asked)) * best[fast_dtype("cpu")]
        mine = best[f"ours {title}"]
        print(
            f"{title}: ours {mine * 1e3:.0f} ms; {usual / mine:.2f}x the throughput of the usual way "
            f"({usual * 1e3:.0f} ms), {peer / mine:.2f}x of the best peers ({peer * 1e3:.0f} ms), "
            f"{mine / limit:.2f}x the time of the limit ({limit * 1e3:.0f} ms, {usual / limit:.2f}x of the usual way); "
            f"{speeds}"
        )


if __name__ == "__main__":
    main()
