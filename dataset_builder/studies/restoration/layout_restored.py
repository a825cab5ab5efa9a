"""The layout restored: a folder of restored pictures, each named like its degraded one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from convergebench.generation.records import Program, Source, UserError

from ...importing.chains import Findings, FoundAnswer, FoundChain, Problem, checked_kind, find_pictures
from ...importing.tables import read_rows

PROGRAM = Program(
    id="restored",  # the report recognises this name
    cycle=("[restore the picture; no words were given]",),
    category="restoration",
    closes=True,
    reversibility="invents information",
    reason="what the degradation took away has to be invented; the clean picture tells how well",
)
_COLUMNS = ("name", "clean", "scene", "degradation")


@dataclass(frozen=True)
class Degraded:
    """A picture to be restored, and what is known of it."""

    picture: Path | bytes
    clean: Path | bytes | None = None
    source: Source | None = None  # if it is one of a suite's
    scene: str = ""
    degradation: str = ""
    short_side: int | None = None


def find_inputs(folder: Path, clean: Path | None = None, about: Path | None = None) -> dict[str, Degraded]:
    """The degraded pictures of a folder by name, with their clean ones if `clean` has them.

    CLEAN~DEGRADATION.png belongs to the clean CLEAN.png, unless a row of the table `about` names another one.
    """
    clean_pictures = find_pictures(clean) if clean else {}
    rows = {str(row.get("name")): row for row in read_rows(about)} if about else {}
    for name, row in rows.items():
        if unknown := [key for key in row if key not in _COLUMNS]:
            raise UserError(f"{about} must have the columns {', '.join(_COLUMNS)}, got {unknown[0]!r}")
        if row.get("clean") and Path(str(row["clean"])).stem not in clean_pictures:
            raise UserError(f"{about} names the clean picture {row['clean']!r} of {name!r}, which is not in --clean")
    inputs = {}
    for name, path in find_pictures(folder).items():
        row, (before, _, after) = rows.get(name, {}), name.partition("~")
        inputs[name] = Degraded(
            picture=path,
            clean=clean_pictures.get(Path(str(row["clean"])).stem if row.get("clean") else before),
            scene=str(row.get("scene") or ""),
            degradation=str(row.get("degradation") or after),
        )
    return inputs


def find_chains(folder: Path, editor: str, inputs: Mapping[str, Degraded], kind: str | None = None) -> Findings:
    """One chain of one call for each restored picture; a degraded one that was not restored is a problem."""
    restored = find_pictures(folder)
    if not restored.keys() & inputs.keys():
        raise UserError(
            f"{folder} has no picture with the name of a degraded one, such as {next(iter(inputs), 'NAME')}.png"
        )
    for name in sorted(restored.keys() - inputs.keys()):
        yield Problem(str(restored[name]), "has the name of no degraded picture", is_stray=True)
    for name, degraded in inputs.items():
        if name not in restored:
            yield Problem(str(folder / f"{name}.png"), "is missing: the degraded picture was not restored")
            continue
        settings = {"imported": "restored"}
        yield FoundChain(
            case=name,
            source=name,
            picture=degraded.picture,
            where=str(restored[name]),
            program=PROGRAM,
            editor=editor,
            answers=(FoundAnswer(1, 1, PROGRAM.cycle[0], str(restored[name]), restored[name]),),
            kind=checked_kind(kind or (degraded.source.kind if degraded.source else "scene")),
            settings=settings | ({"short_side": degraded.short_side} if degraded.short_side else {}),
            reference=degraded.clean,
            known_source=degraded.source,
            scene=degraded.scene,
            degradation=degraded.degradation,
        )
