"""Import layout `edival`: the answers of EdiVal-Bench in its multipass mode, three turns on each picture.

https://github.com/TianyuCodings/EdiVal: a folder has INDEX_input_raw.png or .jpg and
INDEX_input_raw_turn_1.png, _turn_2.png, _turn_3.png; its CSV has the columns
image_index, turns and instructions (a Python list), with a row for each number of turns.
"""

import ast
import csv
import re
from collections.abc import Mapping
from pathlib import Path

from convergebench.generation.records import UserError

from .chains import Findings, Problem, chain_of_turns, check_folder

_SOURCE = re.compile(r"(\d+)_input_raw\.(png|jpg|jpeg)")


def find_chains(
    path: Path, editor: str, words: Path | None = None, originals: Path | None = None, kind: str | None = None
) -> Findings:
    """One open chain for each picture; `words` is the benchmark's CSV, `originals` a folder of the inputs."""
    check_folder(path, "give a model's folder, which holds multipass/")
    if originals:
        check_folder(originals, "it must hold INDEX_input_raw.png or .jpg")
    folder = path / "multipass" if (path / "multipass").is_dir() else path
    sources = {
        int(match[1]): file
        for place in filter(None, (folder, originals))  # originals win: some models' inputs were re-encoded
        for file in sorted(place.iterdir())
        if (match := _SOURCE.fullmatch(file.name))
    }
    instructions_of = _instructions(words) if words else {}
    if not sources:
        raise UserError(f"{folder} holds no INDEX_input_raw.png; give a model's folder or its multipass/")
    for index, source in sorted(sources.items()):
        files = folder.glob(f"{index}_input_raw_turn_*.png")
        turns = sorted((int(file.stem.rpartition("_")[2]), file) for file in files)
        numbers = [number for number, _ in turns]
        if not turns or numbers != list(range(1, len(turns) + 1)):
            yield Problem(str(source), f"needs turns numbered 1, 2, ... without a gap, got {numbers or 'none'}")
            continue
        instructions = instructions_of.get(index, []) + [""] * len(turns)
        answers = [
            (f"turn {number}", instruction, str(file), file)
            for (number, file), instruction in zip(turns, instructions, strict=False)
        ]
        yield chain_of_turns("edival", str(index), f"edival-{index}", source, answers, editor, kind)


def _instructions(path: Path) -> Mapping[int, list[str]]:
    """The longest list of instructions of each picture; the rows with fewer turns only repeat its beginning."""
    longest: dict[int, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 1):
            try:
                index, words = int(row["image_index"]), ast.literal_eval(row["instructions"])
            except (KeyError, ValueError, SyntaxError) as error:
                raise UserError(f"{path}, row {number}: needs image_index and instructions, a list") from error
            longest[index] = max(longest.get(index, []), [str(word) for word in words], key=len)
    return longest
