"""Suites as data: which sources, programs, rounds and runs."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any

from .. import programs
from ..records import Program, Setting, Source, UserError
from ..sources import catalogue


@dataclass(frozen=True)
class Variant:
    """Some of the suite's cases under settings of their own; an editor without such a setting leaves it out."""

    name: str
    settings: Mapping[str, Setting]
    sources: tuple[str, ...]
    programs: tuple[str, ...]
    rounds: int
    runs: int


@dataclass(frozen=True)
class Suite:
    """What a run is made of: every fitting pair of a source and a program, so many rounds, so many times."""

    name: str
    title: str
    version: str
    short_side: int  # the evaluation size: the shorter side in pixels
    rounds: int
    runs: int
    sources: tuple[str, ...]
    programs: tuple[str, ...]
    editors: tuple[str, ...] = ("paint",)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # program: the sources it is planned for
    variants: tuple[Variant, ...] = ()

    def __post_init__(self) -> None:
        if not self.variants:
            everything = Variant("default", {}, self.sources, self.programs, self.rounds, self.runs)
            object.__setattr__(self, "variants", (everything,))


def names() -> tuple[str, ...]:
    """The suites there are, by their files."""
    return tuple(sorted(path.name[:-5] for path in files(__package__).iterdir() if path.name.endswith(".toml")))


@cache
def load(name: str) -> Suite:
    """The suite of that name, with every source and program it names checked to exist."""
    if name not in names():
        raise UserError(f"no suite {name!r}; the suites are {', '.join(names())}")
    return from_values(name, tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")))


def from_values(name: str, values: Mapping[str, Any]) -> Suite:
    """A suite's file as a Suite, or one sentence that says what is wrong with it."""
    refuse_unknown(f"suite {name!r}", values, [item.name for item in fields(Suite) if item.name != "name"])
    whole: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    whole["variants"] = tuple(read_variant(name, row, whole) for row in values.get("variants", ()))
    whole["only"] = {program: tuple(chosen) for program, chosen in values.get("only", {}).items()}
    suite = Suite(name=name, **whole)
    for id in {*suite.sources, *(id for each in suite.variants for id in each.sources)}:
        catalogue.source(id)
    for id in {*suite.programs, *suite.only, *(id for each in suite.variants for id in each.programs)}:
        programs.get(id)
    return suite


def read_variant(suite: str, row: Mapping[str, Any], whole: Mapping[str, Any]) -> Variant:
    """A variant says what differs; the rest is the suite's."""
    refuse_unknown(f"variant {row.get('name')!r} of suite {suite!r}", row, [item.name for item in fields(Variant)])
    rest = {"settings": {}, **{key: whole[key] for key in ("sources", "programs", "rounds", "runs")}}
    return Variant(
        **{**rest, **{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}}
    )


def refuse_unknown(what: str, values: Mapping[str, Any], allowed: list[str]) -> None:
    if unknown := [key for key in values if key not in allowed]:
        raise UserError(f"{what} has no use for {', '.join(unknown)}; its fields are {', '.join(allowed)}")


def cases(suite: Suite, variant: Variant | None = None) -> list[tuple[Source, Program]]:
    """The fitting pairs, source by source: the program suits the source, and the suite and variant want both."""
    chosen = variant or Variant("", {}, suite.sources, suite.programs, suite.rounds, suite.runs)
    return [
        (catalogue.source(source), programs.get(program))
        for source in chosen.sources
        for program in chosen.programs
        if fits(source, programs.get(program)) and source in suite.only.get(program, chosen.sources)
    ]


def fits(source: str, program: Program) -> bool:
    """Whether the program makes sense for the picture: by its kind, and by what the manifest says of it alone."""
    row = catalogue.row(source)
    return row.kind in program.fits and program.id not in row.unfit
