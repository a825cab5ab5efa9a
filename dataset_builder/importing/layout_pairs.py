"""The layout edit-converge-bench: a folder for each case, with a file for each answer."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError

from .chains import Call, Found, Given, Problem, one_kind, program
from .tables import json_file

ANSWER = re.compile(r"I([1-9]\d*)_(forward|backward)\.(png|jpg|jpeg|webp)")
SOURCE = re.compile(r"I0_source\.(png|jpg|jpeg|webp)")
NAMES = {
    "portrait": "face",
    "face": "face",
    "scene": "scene",
    "landscape": "scene",
    "texture": "texture",
    "text": "text",
}


def edit_converge_bench(path: Path, editor: str, prompts: Path | None = None, kind: str | None = None) -> Found:
    """Folders IMAGE_PAIR with I0_source.png and, for each round n, I{n}_forward.png and I{n}_backward.png.

    `prompts` is a JSON file that somewhere under the case's or the pair's name says {"forward": ..., "backward": ...}.
    """
    known = json_file(prompts) if prompts else {}
    if not path.is_dir():
        raise UserError(f"{path} is not a folder; give the folder that holds one editor's cases")
    cases = [path] if source_of(path) else sorted(one for one in path.iterdir() if one.is_dir() and source_of(one))
    if not cases:
        deeper = next(
            (one for one in sorted(path.iterdir()) if one.is_dir() and any(map(source_of, one.iterdir()))), None
        )
        hint = f"; give one editor's folder, such as {deeper}" if deeper else "; a case has I0_source.png in its folder"
        raise UserError(f"{path} holds no case{hint}")
    for stranger in sorted(set(path.iterdir()) - set(cases)) if cases != [path] else []:
        if not stranger.name.startswith("."):
            yield Problem(str(stranger), "is no case of this layout: there is no I0_source.png in it")
    for case in cases:
        yield from pair(case, editor, known, kind)


def source_of(folder: Path) -> Path | None:
    found = [path for path in folder.iterdir() if SOURCE.fullmatch(path.name)] if folder.is_dir() else []
    return found[0] if found else None


def pair(folder: Path, editor: str, known: Mapping[str, Any], kind: str | None) -> Found:
    """One case: its image and its pair of edits by its folder's name, its answers by their files' names."""
    image, name = split_case(folder.resolve().name)
    about = find(known, folder.resolve().name, editor) or find(known, name, editor) or {}
    words = [about.get(way) or f"[{way} of {name}; the words were not recorded]" for way in ("forward", "backward")]
    answers = {}
    for path in sorted(folder.iterdir()):
        if found := ANSWER.fullmatch(path.name):
            answers[int(found[1]), found[2]] = path
        elif not SOURCE.fullmatch(path.name) and not path.name.startswith("."):
            yield Problem(str(path), "is no part of this layout")
    calls = []
    for round in range(1, max((round for round, _ in answers), default=0) + 1):
        for position, way in enumerate(("forward", "backward"), 1):
            answer = answers.get((round, way))
            where = str(answer or folder / f"I{round}_{way}.png")
            calls.append(Call(round, position, words[position - 1], where, answer))
    if not calls:
        yield Problem(str(folder), "has a source but no answer")
        return
    prefix = re.split(r"[_-]", image)[0].casefold()
    yield Given(
        case=folder.resolve().name,
        source=image,
        picture=source_of(folder) or folder,
        where=str(folder),
        program=program(name, words, about),
        editor=editor,
        calls=tuple(calls),
        kind=one_kind(kind or about.get("kind") or NAMES.get(prefix, "object")),
        settings={"imported": "edit-converge-bench"},
    )


def split_case(name: str) -> tuple[str, str]:
    """portrait_01_glasses_add_remove is the image portrait_01 and the pair glasses_add_remove."""
    found = re.fullmatch(r"(.+?_\d+)_(.+)", name)
    return (found[1], found[2]) if found else (name, name)


def find(values: Any, name: str, editor: str) -> dict[str, Any] | None:
    """The entry of that name at any depth, an entry under the editor's own name before others."""
    if not isinstance(values, dict):
        return None
    if isinstance(values.get(name), dict):
        return values[name]
    inner = [values[editor]] if editor in values else []
    return next((found for one in [*inner, *values.values()] if (found := find(one, name, editor))), None)
