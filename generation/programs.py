"""The programs, kept as data: one row of programs.toml is one thing that is asked in a round."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from .records import Program, UserError

REQUIRED = ("id", "cycle", "category", "closes", "reversibility")


@cache
def load() -> dict[str, Program]:
    """Every program by its id, in the order of the file."""
    rows = tomllib.loads(files(__package__).joinpath("programs.toml").read_text(encoding="utf-8"))["program"]
    programs: dict[str, Program] = {}
    for row in rows:
        program = from_row(row)
        if program.id in programs:
            raise UserError(f"program {program.id!r} stands twice in programs.toml; every id is used once")
        programs[program.id] = program
    return programs


def from_row(row: Mapping[str, Any]) -> Program:
    """One row as a Program, or one sentence that says what is wrong with it."""
    allowed = [field.name for field in fields(Program)]
    unknown = [key for key in row if key not in allowed]
    missing = [key for key in REQUIRED if key not in row]
    if unknown or missing:
        wrong = f"has no use for {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise UserError(f"program {row.get('id', '?')!r} {wrong}; its fields are {', '.join(allowed)}")
    return Program.from_dict(row)


def get(name: str) -> Program:
    if name not in load():
        raise UserError(f"no program {name!r}; the programs are {', '.join(load())}")
    return load()[name]
