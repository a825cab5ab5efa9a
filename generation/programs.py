"""Loads the programs: each row of programs.toml, here or in a study's folder, is what one round asks for.

Programs of several edits out and back are composed from the edits of out_and_back.toml.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from . import studies
from .records import Json, Program, UserError, Values, check_fields

_HERE = Path(__file__).parent
OUT_AND_BACK = "out and back"
_REQUIRED = ("id", "cycle", "category", "closes", "reversibility")


@cache
def load() -> dict[str, Program]:
    core, composed, *of_studies = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in (_HERE / "programs.toml", _HERE / "out_and_back.toml", *studies.paths("programs.toml"))
    ]
    rows = [
        *core["program"],
        *_out_and_back(composed),
        *(row for values in of_studies for row in values["program"]),
    ]
    return {row["id"]: from_row(row) for row in rows}


def _out_and_back(table: Values) -> Iterator[Json]:
    edits = table["edits"]
    for name, sequence in table["sequences"].items():
        for depth in table["depths"]:
            chosen = [edits[id] for id in sequence["edits"][:depth]]
            yield {
                "id": f"out-and-back-{depth}-{name}",
                "cycle": [*(edit["out"] for edit in chosen), *(edit["back"] for edit in reversed(chosen))],
                "category": OUT_AND_BACK,
                "closes": True,
                "reversibility": "clear",
                "reason": f"{depth} edits that can each be taken back",
                "fits": sequence["fits"],
                "small": True,
            }


def from_row(row: Values) -> Program:
    check_fields(f"program {row.get('id', '?')!r}", row, Program, required=_REQUIRED)
    return Program.from_dict(row)


def get(name: str) -> Program:
    if name not in load():
        raise UserError(f"no program {name!r}; the programs are {', '.join(load())}")
    return load()[name]
