"""Peak memory of scoring two chains of 4096x4096 pictures: with every metric but CLIP, and with CLIP ViT-L/14 as well.

CLIP's weights come on top of the pictures: once in bfloat16, and once in float32 for floors and near thresholds.

python tests/benchmarks/scoring_memory.py
"""

import multiprocessing
import resource
import shutil
import tempfile
from pathlib import Path

import scoring

CASES = {"without CLIP": ["psnr", "ssim", "lpips", "registration", "edit_applied"], "with CLIP": None}


def peak(dataset: Path, asked: list[str] | None, clip: str, told: "multiprocessing.Queue[tuple[int, float]]") -> None:
    """Score in a process of its own, whose memory is nothing but the engine's."""
    from convergebench.metric_modules._engine import engine
    from convergebench.metric_modules.clip_similarity import measure

    measure.CHECKPOINT = clip
    outcome = engine.run(engine.prepare(dataset, asked, "cpu", None))
    told.put((outcome.images, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def main() -> None:
    scoring.SIDE = 4096
    with tempfile.TemporaryDirectory() as place:
        scoring.without_network(Path(place))
        dataset = scoring.chains(Path(place), 2, 3)
        clip = scoring.clip_model(Path(place) / "clip")
        context = multiprocessing.get_context("spawn")
        for title, asked in CASES.items():
            for made in ("scores", "floors"):
                shutil.rmtree(dataset / "data" / made, ignore_errors=True)
            told = context.Queue()
            context.Process(target=peak, args=(dataset, asked, clip, told), daemon=True).start()
            images, megabytes = told.get(timeout=1200)
            print(f"{images} pictures of 4096x4096, {title}: peak memory {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
