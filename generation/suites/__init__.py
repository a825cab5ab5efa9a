"""Suites as data: which sources, programs, rounds and runs."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from typing import Any

from .. import programs, sources
from ..records import Program, Setting, Source, UserError


@dataclass(frozen=True)
class Variant:
    """The same cases under other settings; empty lists mean all sources or programs of the suite."""

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


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
    variants: tuple[Variant, ...] = (Variant("default"),)


def names() -> tuple[str, ...]:
    """The suites there are, by their files."""
    return tuple(sorted(path.name[:-5] for path in files(__package__).iterdir() if path.name.endswith(".toml")))


def load(name: str) -> Suite:
    """The suite of that name, with every source and program it names checked to exist."""
    if name not in names():
        raise UserError(f"no suite {name!r}; the suites are {', '.join(names())}")
    values = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    allowed = [item.name for item in fields(Suite) if item.name != "name"]
    unknown = [key for key in values if key not in allowed]
    if unknown:
        raise UserError(f"suite {name!r} has no use for {', '.join(unknown)}; its fields are {', '.join(allowed)}")
    suite = Suite(name=name, **{key: frozen(key, value) for key, value in values.items()})
    for id in suite.sources:
        sources.row(id)
    for id in suite.programs:
        programs.get(id)
    return suite


def frozen(key: str, value: Any) -> Any:
    if key == "variants":
        return tuple(
            Variant(row["name"], row.get("settings", {}), tuple(row.get("sources", ())), tuple(row.get("programs", ())))
            for row in value
        )
    if key == "only":
        return {program: tuple(chosen) for program, chosen in value.items()}
    return tuple(value) if isinstance(value, list) else value


def cases(suite: Suite, variant: Variant | None = None) -> list[tuple[Source, Program]]:
    """The fitting pairs, source by source: the program suits the source's kind, and the suite and variant want both."""
    wanted_sources = variant.sources if variant and variant.sources else suite.sources
    wanted_programs = variant.programs if variant and variant.programs else suite.programs
    return [
        (sources.record(source), programs.get(program))
        for source in wanted_sources
        for program in wanted_programs
        if sources.row(source).kind in programs.get(program).fits and source in suite.only.get(program, wanted_sources)
    ]
