"""Does wear on top of a lost return make it a kept one? Over stored returns of paint, MI-GAN and the labelled chains.

python -m benchmarks.verdicts.worn    make the chains in build/wear and print what was found
"""

import csv
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import cv2
import numpy as np
from convergebench.generation.pictures import resize_to
from convergebench.generation.store_reader import find_finished
from convergebench.metric_modules.damage import measure as damage
from convergebench.metric_modules.halflife.causes import PART

from . import labelled, wear

FOLDER = Path(__file__).parents[3] / "build" / "wear"
SUITE = Path(__file__).with_name("worn.toml")
SIDE = 512  # of the labelled pictures
Row = dict[str, Any]
Chain = tuple[str, np.ndarray, dict[int, np.ndarray]]  # id, source, and returns by round


def _made() -> Iterator[Chain]:
    """Chains of paint, worn and not, and of MI-GAN, at 256 pixels; what is in build/wear already is not made again."""
    words = ["generate", "--suite", str(SUITE), "--limit", "36", "--out", str(FOLDER), "--no-audit"]
    subprocess.run([sys.executable, "-m", "convergebench", *words], check=True)
    for chain in find_finished([FOLDER]).done.values():
        if not chain.program.closes:
            continue
        length = len(chain.program.cycle)
        files = {number: chain.folder / f"{number * length:04d}.png" for number in range(chain.rounds + 1)}
        shown = {number: labelled.picture(path) for number, path in files.items() if path.is_file()}
        yield f"{chain.editor} {chain.id}", shown.pop(0), shown


def _labelled() -> Iterator[Chain]:
    for folder in sorted(labelled.CHAINS.glob("*/*")):
        source = labelled.picture(folder / "I0_source.png")
        height, width = source.shape[:2]
        zoom = SIDE / min(height, width)
        source = resize_to(source, round(width * zoom), round(height * zoom))
        backs = {k: labelled.picture(folder / f"I{k}_backward.png") for k in (1, 2, 3)}
        yield f"{folder.parent.name} {folder.name}", source, backs


def simulate() -> Iterator[Row]:
    """Of every lost return, its damage before and after each wear. Of kept returns one row without a kind."""
    model = labelled.network()
    for name, source, returns in (*_labelled(), *_made()):
        reference = damage.prepare(model, source)
        for number, shown in returns.items():
            shown = labelled.fitted(shown, source)
            row = {"chain": name, "round": number, "before": damage.compare(model, reference, shown)[0]}
            if row["before"] < PART.limit:
                yield row | {"kind": ""}
                continue
            for kind, put_on in wear.STRENGTHS.items():
                chance = np.random.default_rng(crc32(f"{name} {number} {kind}".encode()))
                after = damage.compare(model, reference, put_on(shown, chance))[0]
                yield row | {"kind": kind.split(" ")[0].strip(","), "wear": kind, "after": after}


def violations(rows: Iterable[Row]) -> list[Row]:
    """What was lost for certain and, with wear on top, would count as kept for certain."""
    return [row for row in rows if row["kind"] and row["before"] >= PART.high and row["after"] < PART.low]


def labelled_by_eye() -> dict[tuple[str, int], bool]:
    """Whether an eye calls grainy returns kept, by chain and round."""
    lines = Path(__file__).with_name("grainy.csv").read_text(encoding="utf-8").splitlines()
    return {(row["chain"], int(row["round"])): row["kept"] == "1" for row in csv.DictReader(lines)}


def main() -> int:
    cv2.setNumThreads(1)
    rows = list(simulate())
    found = violations(rows)
    print(json.dumps({"returns": len({(row["chain"], row["round"]) for row in rows}), "violations": found}))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
