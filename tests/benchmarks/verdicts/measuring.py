"""What the verdicts say of pictures whose truth is known: one dictionary for each pair or round that was judged."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import cv2
import numpy as np
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.metric_modules._shared.looks import look
from convergebench.metric_modules.edit_applied.judge import judge_forward, judge_part, judge_step
from convergebench.metric_modules.psnr.measure import psnr_and_rmse
from convergebench.metric_modules.registration.align import anchors, locate
from convergebench.metric_modules.ssim.measure import compare as ssim
from convergebench.metric_modules.ssim.measure import reference

from . import truth
from .wear import ON_TOP, TWENTY_ROUNDS

SIZES = (0.001, 0.003, 0.006, 0.01, 0.02, 0.05, 0.1, 0.2)
EYE = Path(__file__).with_name("eye.csv")  # each round: kept or part lost, and what was seen
WAYS = ("forward", "backward")
CYCLE = ("add a thing", "remove the thing")
UNDER = ("none", "JPEG 40", "noise 12", "colour cast 30%", "like an autoencoder")  # wear of edits and their undos
LOOKED_AT = (1, 3, 5, 10, 20)  # rounds

Pictures = Mapping[str, np.ndarray]
Rows = Iterator[dict[str, Any]]


def chance_of(*words: object) -> np.random.Generator:
    """The same numbers for the same words, on any machine."""
    return np.random.default_rng(crc32(" ".join(map(str, words)).encode()))


def another(pictures: Pictures, name: str, further: int = 1) -> np.ndarray:
    names = list(pictures)
    return pictures[names[(names.index(name) + further) % len(names)]]


def parts(pictures: Pictures, sizes: tuple[float, ...] = SIZES) -> Rows:
    """Parts pasted in and painted out under every wear, and the same wear alone: lost? applied?"""
    for name, shown in pictures.items():
        source, cases = look(shown), [("alone", 0.0, shown, 0.0)]
        for size in sizes:
            made = {"pasted": truth.pasted(shown, another(pictures, name), size, chance_of(name, size))}
            if size <= 0.1:
                made["painted out"] = truth.painted_out(shown, size, chance_of(name, size, "out"))
            cases += [(kind, size, part[0], part[2]) for kind, part in made.items() if part]
        for kind, size, changed, contrast in cases:
            for wear, worn in ON_TOP.items():
                after = look(worn(changed, chance_of(name, size, kind, wear)))
                part, edit = judge_part(source, after), judge_forward(source, after)
                about = {"picture": name, "kind": kind, "size": size, "contrast": contrast, "wear": wear}
                shares = {"colour": part["part_lost_share"], "structure": part["part_redrawn_share"]}
                yield about | shares | {"applied": edit["region_share"]}


def drifting(pictures: Pictures, rounds: int = 20) -> Rows:
    """Wear alone, round after round: is a part called lost, and was quality still kept?"""
    for name, shown in pictures.items():
        source, known, side = look(shown), anchors(shown), reference(shown)
        others = [cv2.resize(other, shown.shape[1::-1]) for key, other in pictures.items() if key != name]
        rmse_floor = float(np.median([rmse(shown, other) for other in others])) if others else 90.0
        ssim_floor = float(np.median([ssim(side, other) for other in others])) if others else 0.0
        for wear, worn in TWENTY_ROUNDS.items():
            chance, changed = chance_of(name, wear), shown
            accused, counted, kept = False, False, True
            for number in range(1, rounds + 1):
                changed = worn(changed, chance)
                if number not in LOOKED_AT:
                    continue
                moved = locate(known, changed)
                place = (
                    (moved.x / shown.shape[1], moved.y / shown.shape[0], moved.scale) if moved.accepted else None
                )
                part = judge_part(source, look(changed), place)
                quality = (
                    1 - rmse(shown, changed) / rmse_floor,
                    (ssim(side, changed) - ssim_floor) / (1 - ssim_floor),
                )
                kept = kept and min(quality) >= 0.5
                accused = accused or bool(part["part_lost"])
                counted = counted or (kept and bool(part["part_lost"]))
                yield {"picture": name, "wear": wear, "round": number, "accused": accused, "counted": counted}


def rmse(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.sqrt(np.square(first.astype(np.float32) - second).mean()))


def undoing(pictures: Pictures, sizes: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1)) -> Rows:
    """A part is pasted in as an edit; something comes back: undone, not undone, or another part lost?"""
    for name, shown in pictures.items():
        source = look(shown)
        for size in sizes:
            part = truth.pasted(shown, another(pictures, name), size, chance_of(name, size, "edit"))
            if part is None:
                continue
            forward, mask, contrast = part
            half = mask & (np.arange(mask.shape[1]) < np.median(np.nonzero(mask)[1]))
            third = truth.elsewhere(shown, another(pictures, name, 2), chance_of(name, size, "third"))
            backs = {
                "the original": shown,
                "half faded": truth.laid_in(shown, forward, mask, 0.5),
                "half of its area": truth.laid_in(shown, forward, half),
                "the edit itself": forward,
                "a third picture's part": truth.laid_in(shown, third, mask),
            }
            for wear in UNDER:
                chance = chance_of(name, size, wear)
                there = look(ON_TOP[wear](forward, chance))
                for back, picture in backs.items():
                    looks = [source, there, look(ON_TOP[wear](picture, chance))]
                    judged = judge_step(CYCLE, True, 2, looks, source=source)
                    about = {"picture": name, "size": size, "contrast": contrast, "wear": wear, "back": back}
                    yield about | {"undone": _number(judged["undone"]), "part_lost": judged["part_lost"]}


def judged(folder: Path) -> list[dict[str, object]]:
    """Each labelled round with what the program says of it; `folder` holds EDITOR/CHAIN/I0_source.png and so on."""
    rows: list[dict[str, object]] = []
    for row in csv.DictReader(EYE.read_text().splitlines()):
        chain, number = folder / row["editor"] / row["chain"], int(row["round"])
        names = [f"I{number - 1}_backward" if number > 1 else "I0_source", *(f"I{number}_{w}" for w in WAYS)]
        shown = [decode_array((chain / f"{name}.png").read_bytes()) for name in ("I0_source", *names)]
        source, *round = map(look, shown)
        made, back = (
            judge_step(CYCLE, True, k, round[: k + 1], source=source, small="glasses" in row["chain"])
            for k in (1, 2)
        )
        verdict = "not applied" if made["applied"] != 1 else "not undone" if back["undone"] != 1 else None
        verdict = verdict or ("part lost" if back["part_lost"] else "kept")
        rule = back["part_outline"]["rule"] if back["part_lost"] else ""
        rows.append({**row, "program": verdict, "rule": rule, "left": _number(back["undo_ratio"])})
        rows[-1] |= {"colour": back["part_lost_share"], "structure": back["part_redrawn_share"]}
        returned = resize_to(shown[-1], *shown[0].shape[1::-1])
        rows[-1] |= {
            "ssim": ssim(reference(shown[0]), returned),
            "psnr": psnr_and_rmse(shown[0], returned)["psnr"],
        }
    return rows


def _number(value: float | str) -> float | None:
    return None if isinstance(value, str) else value
