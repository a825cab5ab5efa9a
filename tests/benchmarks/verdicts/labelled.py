"""Rounds of real editors, labelled by eye before any score was opened, and the verdicts of the rules on them."""

import csv
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from convergebench.generation.pictures import decode_array, resize_to
from convergebench.metric_modules._shared.looks import seen
from convergebench.metric_modules.damage import measure as damage
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.metric_modules.halflife.causes import CAUSES, PART, Limits
from convergebench.metric_modules.registration.align import anchors, locate

DATA = Path(__file__).parents[4] / "shared" / "data"
LABELS = DATA / "labels"
CHAINS = DATA / "real_chains"
# Rounds that the labels' README lists apart: eyes were redrawn and still look right.
APART = {
    ("portrait_01_glasses", "2"), ("portrait_01_glasses", "3"),
    *((name, number) for name in ("portrait_01_sunglasses", "portrait_03_sunglasses") for number in "123"),
}  # fmt: skip
Row = dict[str, Any]


def rows_of(table: str) -> list[Row]:
    text = (LABELS / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def is_apart(row: Row) -> bool:
    name = row.get("case", "").removesuffix("_add_remove"), row["round"]
    return row.get("editor", "").startswith("flux") and row["kept"] == "1" and name in APART


def pair(row: Row) -> tuple[Path, Path]:
    """The source and the return of a labelled round."""
    if "path" in row:
        shown = DATA / row["path"]
        return min(shown.parent.glob("*step_0*.png")), shown
    folder = CHAINS / row["editor"] / row["case"]
    return folder / "I0_source.png", folder / f"I{row['round']}_backward.png"


def picture(path: Path) -> np.ndarray:
    return decode_array(path.read_bytes())


def fitted(shown: np.ndarray, like: np.ndarray) -> np.ndarray:
    return resize_to(shown, *like.shape[1::-1])


def network() -> damage.lpips.Model:
    return damage.Scorer("cpu", "float32", {}).model


def judged(model: damage.lpips.Model, rows: Sequence[Row]) -> Iterator[Row]:
    """Each labelled round with its damage, its verdict, and whether that is undecided."""
    for row in rows:
        source, shown = map(picture, pair(row))
        shown = fitted(shown, source)
        place = locate(anchors(source), shown)
        moved = place if place.accepted and not place.still else None
        worst = damage.compare(model, damage.prepare(model, source), shown)[0]
        values: Row = {"damage": worst, "part": worst}
        if "case" in row:
            thing = row["case"].split("_", 2)[2].removesuffix("_add_remove").replace("_", " ")
            folder, number = CHAINS / row["editor"] / row["case"], int(row["round"])
            names = [f"I{number - 1}_backward.png" if number > 1 else "I0_source.png", f"I{number}_forward.png"]
            round = [*(fitted(picture(folder / name), source) for name in names), shown]
            height, width = source.shape[:2]
            given = {"source": seen(source), "small": "glasses" in thing}
            given["placement"] = moved and (moved.x / width, moved.y / height, moved.scale)
            cycle, round = (f"add {thing}", f"remove {thing}"), list(map(seen, round))
            steps = [judge_step(cycle, True, k, round[: k + 1], **given) for k in (1, 2)]
            values |= {"changed": steps[0]["changed"], "undone": steps[1]["undone"]}
        else:
            steps = [judge_step(("copy",), True, 1, [seen(source), seen(shown)], source=seen(source))]
        values["colour_shift"] = steps[-1]["colour_shift"]
        sure = [loss(values, Limits(undecided=way)) for way in ("kept", "lost")]
        values |= {"verdict": loss(values, Limits()), "undecided": (sure[0] is None) != (sure[1] is None)}
        yield row | values


def loss(values: Row, limits: Limits) -> str | None:
    """The first cause, in the order of the table, that these values decide."""
    for cause in CAUSES.values():
        value = values.get(cause.decided_by) if cause.decided_by not in ("quality", "meaning") else None
        if isinstance(value, float) and cause.is_lost(value, limits):
            return cause.name
    return None


def left_out(rows: Sequence[Row]) -> float:
    """Agreement where each picture is judged by the damage limit chosen on the others: midway, in logarithms, between
    the lowest and the highest limit that agree best there."""
    pictures = sorted({"_".join(row["case"].split("_")[:2]) for row in rows})
    right = 0
    for name in pictures:
        own = [row for row in rows if row["case"].startswith(name)]
        others = [row for row in rows if not row["case"].startswith(name)]
        seen = sorted({row["damage"] for row in others})
        limits = [(low + high) / 2 for low, high in pairwise(seen)]
        hits = [sum((row["damage"] >= limit) == (row["kept"] == "0") for row in others) for limit in limits]
        best = [limit for limit, count in zip(limits, hits, strict=True) if count == max(hits)]
        limit = float(np.sqrt(best[0] * best[-1]))
        right += sum((row["damage"] >= limit) == (row["kept"] == "0") for row in own)
    return right / len(rows)


def as_asked() -> list[Row]:
    """Each labelled step of real edits, with what is said of the words."""
    rows, before = [], {}
    for row in rows_of("applied"):
        path = DATA / row["path"]
        start = next(file for file in path.parent.iterdir() if file.name[0].isdigit())
        given, shown = picture(before.get(row["chain"], start) if row["step"] != "1" else start), picture(path)
        before[row["chain"]] = path
        round = [seen(given), seen(fitted(shown, given))]
        step = judge_step((row["instruction"], "undo"), True, 1, round, source=round[0])
        rows.append(row | {name: step[name] for name in ("changed", "as_asked", "asked_by")})
    return rows


def first_lost(chain: str) -> int:
    """The first round of an autoencoder's chain whose damage reaches the limit, of all that are stored."""
    folder = DATA / "referee" / "reed_vae" / chain
    frames = sorted(folder.glob("*step_*.png"), key=lambda path: int(path.stem.rpartition("_")[2]))
    model, source = network(), picture(frames[0])
    reference = damage.prepare(model, source)
    lost = (damage.compare(model, reference, fitted(picture(path), source))[0] >= PART.limit for path in frames)
    return next(number for number, is_lost in enumerate(lost) if is_lost)
