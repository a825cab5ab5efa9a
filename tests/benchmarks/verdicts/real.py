"""The verdicts on real chains, beside what an eye said of each round before any score was opened."""

import csv
from pathlib import Path

import numpy as np
from convergebench.generation.pictures import resize_to
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.metric_modules.psnr.measure import psnr_and_rmse
from convergebench.metric_modules.ssim.measure import compare as ssim
from convergebench.metric_modules.ssim.measure import reference
from PIL import Image

from .measuring import CYCLE

EYE = Path(__file__).with_name("eye.csv")


def labels() -> list[dict[str, str]]:
    """A row for each round: editor, chain, round, kept or part lost, and what was seen."""
    with EYE.open(newline="") as file:
        return list(csv.DictReader(file))


def judged(folder: Path) -> list[dict[str, object]]:
    """Each labelled round with what the program says of it; `folder` holds EDITOR/CHAIN/I0_source.png and so on."""
    found: list[dict[str, object]] = []
    for row in labels():
        chain, number = folder / row["editor"] / row["chain"], int(row["round"])
        names = [f"I{number - 1}_backward" if number > 1 else "I0_source", *(f"I{number}_{w}" for w in WAYS)]
        shown = [pixels(chain / f"{name}.png") for name in ("I0_source", *names)]
        source, *round = map(look, shown)
        made, back = (
            judge_step(CYCLE, True, k, round[: k + 1], source=source, small="glasses" in row["chain"]) for k in (1, 2)
        )
        verdict = "not applied" if not made.applied else "not undone" if not back.undone else None
        verdict = verdict or ("part lost" if back.part_lost else "kept")
        rule = (back.part_outline or {}).get("rule", "")
        found.append({**row, "program": verdict, "rule": rule, "left": back.undo_ratio})
        found[-1] |= {"colour": back.part_lost_share, "structure": back.part_redrawn_share}
        returned = resize_to(shown[-1], *shown[0].shape[1::-1])
        found[-1] |= {"ssim": ssim(reference(shown[0]), returned), "psnr": psnr_and_rmse(shown[0], returned)["psnr"]}
    return found


WAYS = ("forward", "backward")


def pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))
