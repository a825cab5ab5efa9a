"""The layout edit-converge-bench: a folder for each case, with a file for each answer."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError

from .chains import MOST_ANSWERS, Findings, FoundAnswer, FoundChain, Problem, checked_kind, imported_program
from .tables import json_file

ANSWER = re.compile(r"I([1-9]\d*)_(forward|backward)\.(png|jpg|jpeg|webp)")
SOURCE = re.compile(r"I0_source\.(png|jpg|jpeg|webp)")
KIND_BY_NAME = {
    "portrait": "face",
    "face": "face",
    "scene": "scene",
    "landscape": "scene",
    "texture": "texture",
    "text": "text",
}


def find_chains(path: Path, editor: str, prompts: Path | None = None, kind: str | None = None) -> Findings:
    """Folders IMAGE_PAIR with I0_source.png and, for each round n, I{n}_forward.png and I{n}_backward.png.

    `prompts` is a JSON file that somewhere under the case's or the pair's name says {"forward": ..., "backward": ...}.
    """
    words_by_name = json_file(prompts) if prompts else {}
    if not path.is_dir():
        raise UserError(f"{path} is not a folder; give the folder that holds one editor's cases")
    cases = [path] if source_of(path) else sorted(each for each in path.iterdir() if each.is_dir() and source_of(each))
    if not cases:
        deeper = next(
            (each for each in sorted(path.iterdir()) if each.is_dir() and any(map(source_of, each.iterdir()))), None
        )
        hint = f"; give one editor's folder, such as {deeper}" if deeper else "; a case has I0_source.png in its folder"
        raise UserError(f"{path} holds no case{hint}")
    for other in sorted(set(path.iterdir()) - set(cases)) if cases != [path] else []:
        if not other.name.startswith("."):
            yield Problem(str(other), "is no case of this layout: there is no I0_source.png in it")
    for case in cases:
        yield from find_chain(case, editor, words_by_name, kind)


def source_of(folder: Path) -> Path | None:
    """The picture that a case starts from; None where the folder is no case."""
    found = [path for path in folder.iterdir() if SOURCE.fullmatch(path.name)] if folder.is_dir() else []
    return found[0] if found else None


def find_chain(folder: Path, editor: str, words_by_name: Mapping[str, Any], kind: str | None) -> Findings:
    """One case: its image and its pair of edits by its folder's name, its answers by their files' names."""
    image, name = split_case(folder.resolve().name)
    about = find_entry(words_by_name, folder.resolve().name, editor) or find_entry(words_by_name, name, editor) or {}
    words = [about.get(way) or f"[{way} of {name}; the words were not recorded]" for way in ("forward", "backward")]
    files = {}
    for path in sorted(folder.iterdir()):
        if found := ANSWER.fullmatch(path.name):
            files[int(found[1]), found[2]] = path
        elif not SOURCE.fullmatch(path.name) and not path.name.startswith("."):
            yield Problem(str(path), "is no part of this layout")
    if 2 * max((round for round, _ in files), default=0) > MOST_ANSWERS:
        yield Problem(str(folder), f"has more than {MOST_ANSWERS:,} answers by the numbers of its files")
        return
    answers = []
    for round in range(1, max((round for round, _ in files), default=0) + 1):
        for position, way in enumerate(("forward", "backward"), 1):
            file = files.get((round, way))
            where = str(file or folder / f"I{round}_{way}.png")
            answers.append(FoundAnswer(round, position, words[position - 1], where, file))
    if not answers:
        yield Problem(str(folder), "has a source but no answer")
        return
    prefix = re.split(r"[_-]", image)[0].casefold()
    yield FoundChain(
        case=folder.resolve().name,
        source=image,
        picture=source_of(folder) or folder,
        where=str(folder),
        program=imported_program(name, words, about),
        editor=editor,
        answers=tuple(answers),
        kind=checked_kind(kind or about.get("kind") or KIND_BY_NAME.get(prefix, "object")),
        settings={"imported": "edit-converge-bench"},
    )


def split_case(name: str) -> tuple[str, str]:
    """portrait_01_glasses_add_remove is the image portrait_01 and the pair glasses_add_remove."""
    found = re.fullmatch(r"(.+?_\d+)_(.+)", name)
    return (found[1], found[2]) if found else (name, name)


def find_entry(values: Any, name: str, editor: str) -> dict[str, Any] | None:
    """The entry of that name at any depth, an entry under the editor's own name before others."""
    if not isinstance(values, dict):
        return None
    if isinstance(values.get(name), dict):
        return values[name]
    inner = [values[editor]] if editor in values else []
    return next((found for each in [*inner, *values.values()] if (found := find_entry(each, name, editor))), None)
