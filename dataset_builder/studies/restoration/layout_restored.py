"""The layout restored: a folder of restored pictures, each named like its degraded one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import Program, Step, UserError

from ...importing.chains import Findings, FoundChain, Problem, find_pictures
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
# By name, a degraded picture and what is known of it: fields of FoundChain.
Inputs = Mapping[str, Mapping[str, Any]]


def find_inputs(folder: Path, clean: Path | None = None, about: Path | None = None) -> Inputs:
    """The degraded pictures of a folder.

    CLEAN~DEGRADATION.png belongs to CLEAN.png, unless the table `about` says otherwise.
    """
    clean_pictures = find_pictures(clean) if clean else {}
    rows = {str(row.get("name")): row for row in read_rows(about)} if about else {}
    for name, row in rows.items():
        if unknown := [key for key in row if key not in _COLUMNS]:
            raise UserError(f"{about} must have the columns {', '.join(_COLUMNS)}, got {unknown[0]!r}")
        if row.get("clean") and Path(str(row["clean"])).stem not in clean_pictures:
            named = f"the clean picture {row['clean']!r} of {name!r}"
            raise UserError(f"{about} names {named}, which is not in --clean")
    inputs = {}
    for name, path in find_pictures(folder).items():
        row, (before, _, after) = rows.get(name, {}), name.partition("~")
        inputs[name] = {
            "picture": path,
            "reference": clean_pictures.get(Path(str(row.get("clean") or before)).stem),
            "scene": str(row.get("scene") or ""),
            "degradation": str(row.get("degradation") or after),
        }
    return inputs


def find_chains(folder: Path, editor: str, inputs: Inputs, kind: str | None = None) -> Findings:
    restored = find_pictures(folder)
    if not restored.keys() & inputs.keys():
        example = next(iter(inputs), "NAME")
        raise UserError(f"{folder} has no picture with the name of a degraded one, such as {example}.png")
    for name in sorted(restored.keys() - inputs.keys()):
        yield Problem(str(restored[name]), "has the name of no degraded picture", is_note=True)
    for name, fields in inputs.items():
        if name not in restored:
            yield Problem(str(folder / f"{name}.png"), "is missing: the degraded picture was not restored")
            continue
        source, where = fields.get("known_source"), str(restored[name])
        yield FoundChain(
            case=name,
            source=name,
            where=where,
            program=PROGRAM,
            editor=editor,
            answers=((Step(0, 1, 1, PROGRAM.cycle[0], "ok"), where, restored[name]),),
            kind=kind or (source.kind if source else "scene"),
            **{"settings": {"imported": "restored"}, **fields},
        )
