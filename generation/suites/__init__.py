"""Loads suites: which sources, programs, rounds and runs a study uses.

A user's own suite is a file of the same form, which may add programs and pictures of its own.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast

from .. import programs, reversibility, studies
from ..files import read_toml
from ..plugins import plugins
from ..records import Json, Program, Setting, Source, UserError, Values, check_fields, unique
from ..sources import catalogue

# Defaults of a user's own suite, and of a program in it.
_OWN = {"version": "1", "short_side": 512, "rounds": 10, "runs": 1, "sources": []}
_OWN_PROGRAM = {"category": "own", "closes": True, "reversibility": "clear"}


@dataclass(frozen=True)
class Suite:
    """The cases of a run: fitting pairs of a source and a program."""

    name: str
    title: str
    version: str
    short_side: int  # the evaluation size: the shorter side in pixels
    rounds: int
    runs: int
    sources: tuple[str, ...]
    programs: tuple[str, ...]
    editors: tuple[str, ...] = ("paint",)
    # By program, the only sources it is used with.
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Suites of some of the cases under their own settings; by default the suite itself.
    variants: tuple["Suite", ...] = field(default=(), compare=False, repr=False)
    # Settings for the editors; one that lacks them skips the variant.
    settings: Mapping[str, Setting] = field(default_factory=dict)
    steps: int = 0  # if above 0, a chain has as many whole rounds as fit into so many steps
    audit: bool = True  # if False, no chain is disturbed to find editors that remember
    own_programs: Mapping[str, Program] = field(default_factory=dict)
    own_pictures: Mapping[str, catalogue.Row] = field(default_factory=dict)
    # Draws an own picture that has no file.
    draw: Callable[[catalogue.Row], bytes] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.variants:
            object.__setattr__(self, "variants", (self,))

    @property
    def header(self) -> dict[str, str | int]:
        """What a run's folder says of its suite."""
        return {"suite": self.name, "suite_version": self.version, "short_side": self.short_side}

    def rounds_of(self, program: Program) -> int:
        return max(1, self.steps // len(program.cycle)) if self.steps else self.rounds

    def program(self, id: str) -> Program:
        return self.own_programs[id] if id in self.own_programs else programs.get(id)

    def source(self, id: str) -> Source:
        return catalogue.as_source(self.own_pictures[id]) if id in self.own_pictures else catalogue.source(id)

    def read(self, id: str) -> bytes:
        if id not in self.own_pictures:
            return catalogue.read(id)
        picture = self.own_pictures[id]
        if self.draw:
            return self.draw(picture)
        data = Path(picture.path).read_bytes()
        if hashlib.sha256(data).hexdigest() != picture.sha256:
            raise UserError(f"{picture.path} was changed since the run was planned; give the same command again")
        return data

    def fits(self, source: str, program: Program) -> bool:
        row = self.own_pictures[source] if source in self.own_pictures else catalogue.row(source)
        return row.kind in program.fits and program.id not in row.unfit


_NOT_WRITTEN = ("name", "settings", "own_programs", "own_pictures", "draw")
_FIELDS = [item.name for item in fields(Suite) if item.name not in _NOT_WRITTEN]
_OF_VARIANTS = ("name", "settings", "sources", "programs", "rounds", "runs", "steps")


@cache
def _files() -> dict[str, Path]:
    return {path.stem: path for path in (*Path(__file__).parent.glob("*.toml"), *studies.paths("suites/*.toml"))}


def names() -> tuple[str, ...]:
    drawn = (name for module in studies.modules("drawn_suites") for name in module.NAMES)
    return tuple(sorted({*_files(), *drawn, *plugins("suites")}))


def load(name: str, pictures: str | Path | None = None, kind: str | None = None) -> Suite:
    """A shipped suite, or one from a .toml file; `pictures`, if given, replace its sources."""
    if name in plugins("suites"):  # a file NAME.toml in the package that the entry point names
        name = str(resources.files(plugins("suites")[name].value) / f"{name}.toml")
    suite = _read_own(Path(name)) if str(name).endswith(".toml") else _load_shipped(name)
    if pictures is None:
        return suite
    folder = Path(pictures)
    rows = catalogue.find_own(folder, (), kind)
    _refuse_taken({}, rows)
    own: Json = {"sources": tuple(rows), "only": {}, "own_pictures": rows}
    variants = tuple(replace(variant, **own) for variant in suite.variants)
    return replace(suite, name=f"{suite.name}-{folder.resolve().name}", variants=variants, **own)


@cache
def _load_shipped(name: str) -> Suite:
    for module in studies.modules("drawn_suites"):
        if (suite := module.make_suite(name)) is not None:
            return cast(Suite, suite)
    if name not in names():
        allowed = f"{', '.join(names())}, or a file of yours ending in .toml"
        raise UserError(f"no suite {name!r}; the suites are {allowed}")
    return from_values(name, read_toml(_files()[name]))


def _read_own(path: Path) -> Suite:
    values = read_toml(path)
    if path.stem in _files():
        raise UserError(f"{path} has the name of a shipped suite; give it another")
    variants = values.get("variants", [])
    tables = {name: values.pop(name, []) for name in ("program", "picture")}
    for name, table in [*tables.items(), ("variants", variants)]:
        if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
            raise UserError(f"{path} needs tables for {name}; each begins with [[{name}]]")
    rows = [_read_own_program(row) for row in tables["program"]]
    own_programs = unique("program", ((row.id, row) for row in rows))
    folder = values.pop("pictures", None)
    if not isinstance(folder, str | None):
        raise UserError(f"{path} has {folder!r} for pictures; it must be the name of a folder")
    if tables["picture"] and folder is None:
        raise UserError(f'{path} has [[picture]] rows; it also needs pictures = "FOLDER"')
    pictures = {} if folder is None else catalogue.find_own(path.parent / folder, tables["picture"])
    _refuse_taken(own_programs, pictures)
    values = {"title": path.stem, "programs": list(own_programs), **_OWN, **values}
    suite = from_values(path.stem, values, own_programs, pictures)
    if not suite.programs or not suite.sources:
        what = "sources" if suite.programs else "programs"
        raise UserError(f"{path} names no {what}")
    return suite


def _read_own_program(row: Values) -> Program:
    """If a program's author does not say how reversible it is, its instructions are classified."""
    program = programs.from_row({**_OWN_PROGRAM, **row})
    if "reversibility" in row:
        return program
    name, reason = reversibility.classify(program.cycle, program.closes)
    is_unsure = name == reversibility.UNSURE
    reason = f"{reversibility.UNSURE}: {reason}" if is_unsure else program.reason or reason
    return replace(program, reversibility="partial" if is_unsure else name, reason=reason)


def _refuse_taken(own_programs: Mapping[str, Program], pictures: Mapping[str, catalogue.Row]) -> None:
    for what, ids, taken in (
        ("program", own_programs, programs.load()),
        ("picture", pictures, catalogue.manifest()),
    ):
        if both := [id for id in ids if id in taken]:
            raise UserError(f"{what} {both[0]!r} has the name of a shipped one; give yours another")


def from_values(
    name: str,
    values: Values,
    own_programs: Mapping[str, Program] | None = None,
    pictures: Mapping[str, catalogue.Row] | None = None,
) -> Suite:
    check_fields(f"suite {name!r}", {**values, "variants": ()}, Suite, _FIELDS)
    if "steps" in values:
        values = {**values, "rounds": values["steps"]}
    for key in ("steps", "rounds", "runs", "short_side"):
        if values.get(key, 1) < 1:
            raise UserError(f"{key} of suite {name!r} must be a whole number from 1, got {values[key]}")
    whole = _with_tuples({key: value for key, value in values.items() if key != "variants"})
    whole["sources"] = (*(pictures or {}), *(id for id in whole["sources"] if id not in (pictures or {})))
    whole["only"] = _with_tuples(values.get("only", {}))
    suite = Suite(name=name, **whole, own_programs=own_programs or {}, own_pictures=pictures or {})
    variants = tuple(_read_variant(suite, row) for row in values.get("variants", ()))
    suite = replace(suite, variants=variants)
    for part in (suite, *variants):
        for id in part.sources:
            suite.source(id)
        for id in (*part.programs, *part.only):
            suite.program(id)
    return suite


def _with_tuples(values: Values) -> Json:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _read_variant(suite: Suite, row: Values) -> Suite:
    check_fields(f"variant {row.get('name')!r} of suite {suite.name!r}", row, Suite, _OF_VARIANTS)
    steps = 0 if "rounds" in row else suite.steps
    return replace(suite, variants=(), **{"steps": steps, **_with_tuples(row)})


def cases(suite: Suite, variant: Suite | None = None) -> list[tuple[Source, Program]]:
    chosen = variant or suite
    return [
        (source, suite.program(program))
        for source in map(suite.source, chosen.sources)
        for program in chosen.programs
        if suite.fits(source.id, suite.program(program)) and source.id in suite.only.get(program, chosen.sources)
    ]
