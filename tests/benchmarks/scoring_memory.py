"""Peak memory of scoring two chains of 4096x4096 pictures: with every metric but CLIP, and with CLIP ViT-L/14 as well.

CLIP's weights come on top of the pictures: once in bfloat16, and once in float32 for floors and near thresholds.

python tests/benchmarks/scoring_memory.py
"""

import tempfile
from pathlib import Path

import scoring
from timing import in_own_process, remove_scores

CASES = {"without CLIP": ["psnr", "ssim", "lpips", "registration", "edit_applied"], "with CLIP": None}


def score(dataset: Path, asked: list[str] | None, clip: str) -> None:
    from convergebench.metric_modules._engine import engine
    from convergebench.metric_modules.clip_similarity import measure

    measure.CHECKPOINT = clip
    engine.run(engine.prepare(dataset, asked, "cpu", None))


if __name__ == "__main__":
    scoring.SIDE = 4096
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        scoring.without_network(place)
        dataset, clip = scoring.chains(place, 2, 3), scoring.clip_model(place / "clip")
        for title, asked in CASES.items():
            remove_scores(dataset)
            spent = in_own_process(score, dataset, asked, clip)
            print(f"6 pictures of 4096x4096, {title}: peak memory {spent.megabytes:.0f} MB")
