"""Loads the programs: each row of programs.toml, here or in a study's folder, is what one round asks for."""

from functools import cache
from pathlib import Path

from . import studies
from .files import read_toml
from .records import Program, UserError, Values, check_fields

_REQUIRED = ("id", "cycle", "category", "closes", "reversibility")


@cache
def load() -> dict[str, Program]:
    core, *of_studies = (
        read_toml(path)["program"]
        for path in (Path(__file__).with_name("programs.toml"), *studies.paths("programs.toml"))
    )
    composed = (module.compose() for module in studies.modules("composed_programs"))
    return {row["id"]: from_row(row) for rows in (core, *composed, *of_studies) for row in rows}


def from_row(row: Values) -> Program:
    check_fields(f"program {row.get('id', '?')!r}", row, Program, required=_REQUIRED)
    return Program.from_dict(row)


def get(name: str) -> Program:
    if name not in load():
        raise UserError(f"no program {name!r}; the programs are {', '.join(load())}")
    return load()[name]
