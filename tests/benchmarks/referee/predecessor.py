"""The predecessor's published PSNR and SSIM: the values its repository holds for each return, computed again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .measuring import psnr_and_ssim
from .sections import Claim, Section, origin, table

TITLE = "The predecessor's published PSNR and SSIM"
WHAT = "a clone of Qianli-ion/edit-converge-bench"
SAME = 1e-6


class Published(NamedTuple):
    chain: str
    round: int
    folder: Path
    psnr: float
    ssim: float


def run(path: Path) -> Section:
    section = Section(TITLE, [f"Compared: {origin(path)}."])
    rows, gaps, absent, total = [], {"psnr": 0.0, "ssim": 0.0}, 0, 0.0
    for each in published(path):
        pictures = [each.folder / "I0_source.png", each.folder / f"I{each.round}_backward.png"]
        if not all(picture.is_file() for picture in pictures):
            absent += 1
            continue
        ours = psnr_and_ssim(*pictures, "uniform7")
        total += ours["psnr"]
        own = {"psnr": abs(ours["psnr"] - each.psnr), "ssim": abs(ours["ssim"] - each.ssim)}
        gaps = {name: max(gaps[name], own[name]) for name in gaps}
        rows.append([each.chain, each.round, each.psnr, ours["psnr"], each.ssim, ours["ssim"]])
    if not rows:
        section.claims.append(Claim(f"{path.name} holds published returns with their pictures", False))
        return section
    for name, worst in gaps.items():
        words = f"{name.upper()} of all {len(rows)} returns is the published one within {SAME:g}"
        section.claims.append(Claim(f"{words} (largest gap {worst:.1e})", worst <= SAME))
    if absent:
        section.text.append(f"{absent} published returns have no picture here.")
    words = (
        'Their SSIM has the uniform window of 7 pixels: the metric `ssim` computes it with `window="uniform7"`.'
    )
    section.text.append(words)
    if len(rows) <= 40:
        head = ["chain", "round", "PSNR published", "ours", "SSIM published", "ours"]
        section.text.append(table(head, rows))
    section.measured[f"{len(rows)} returns of edit-converge-bench"] = total
    return section


def published(path: Path) -> Iterator[Published]:
    """The published values of a folder with published_scores.json, or of a clone with its files of results."""
    short = path / "published_scores.json"
    if short.is_file():
        for editor, chains in json.loads(short.read_text()).items():
            for name, about in chains.items():
                for each in about["rounds"]:
                    folder = path / editor / name
                    yield Published(f"{editor} {name}", each["round"], folder, each["psnr"], each["ssim"])
        return
    for results in sorted(path.glob("results*/results_*.json")):
        for about in json.loads(results.read_text())["evaluations"]:
            name = f"{Path(about['image_filename']).stem}_{about['edit_pair_name']}"
            for each in about["rounds"]:
                if each.get("success"):
                    quality = each["quality"]
                    yield Published(
                        f"{about['model']} {name}",
                        each["round"],
                        results.parent / name,
                        quality["psnr"],
                        quality["ssim"],
                    )
