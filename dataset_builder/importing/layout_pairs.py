"""The layout edit-converge-bench: a folder for each case, with a file for each answer."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError

from .chains import MOST_ANSWERS, Findings, FoundAnswer, FoundChain, Problem, checked_kind, imported_program
from .tables import json_file

ANSWER = re.compile(r"I([1-9]\d*)_(forward|backward)\.(png|jpg|jpeg|webp)")
SOURCE = re.compile(r"I0_source\.(png|jpg|jpeg|webp)")
WAYS = ("forward", "backward")
PROMPTS_FORM = (
    'it is {"NAME": {"forward": "Add ...", "backward": "Remove ..."}} by the name of the case or the pair, or a list '
    'of {"name": ..., "forward": ..., "backward": ...}, as in that repository'
)
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

    `prompts` is a JSON file with the words of each pair: under the case's or the pair's name at any depth, or in a list
    of such entries, or in that repository's own files of pairs or of results.
    """
    words_by_name = prompts_by_name(prompts, editor) if prompts else {}
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
            yield Problem(str(other), "is no case of this layout: there is no I0_source.png in it", is_stray=True)
    names = {case: case.resolve().name for case in cases}
    if prompts and not any(words_of(words_by_name, name) for name in names.values()):
        raise UserError(f"{prompts} has the words of none of these cases, such as {names[cases[0]]}; {PROMPTS_FORM}")
    for case in cases:
        yield from find_chain(case, words_of(words_by_name, names[case]), editor, kind)


def source_of(folder: Path) -> Path | None:
    """The picture that a case starts from; None where the folder is no case."""
    found = [path for path in folder.iterdir() if SOURCE.fullmatch(path.name)] if folder.is_dir() else []
    return found[0] if found else None


def find_chain(folder: Path, about: Mapping[str, Any], editor: str, kind: str | None) -> Findings:
    """One case: its image and its pair of edits by its folder's name, its answers by their files' names."""
    image, name = split_case(folder.resolve().name)
    words = [about.get(way) or f"[{way} of {name}; the words were not recorded]" for way in ("forward", "backward")]
    files = {}
    for path in sorted(folder.iterdir()):
        if found := ANSWER.fullmatch(path.name):
            files[int(found[1]), found[2]] = path
        elif not SOURCE.fullmatch(path.name) and not path.name.startswith("."):
            yield Problem(str(path), "is no part of this layout", is_stray=True)
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


def words_of(words_by_name: Mapping[str, Mapping[str, Any]], case: str) -> Mapping[str, Any]:
    """What the prompts say of a case, or else of its pair; nothing where they say nothing."""
    return words_by_name.get(case) or words_by_name.get(split_case(case)[1]) or {}


def prompts_by_name(path: Path, editor: str) -> dict[str, dict[str, Any]]:
    """The entries of a file of prompts by the name of their case or pair, those under the editor's own name first."""
    found: dict[str, dict[str, Any]] = {}
    values = json_file(path)
    own = values.get(editor) if isinstance(values, dict) else None
    for name, entry in [*entries(own), *entries(values)]:
        words = {way: entry.get(way, entry.get(f"{way}_prompt")) for way in WAYS}
        if not all(isinstance(each, str) and each.strip() for each in words.values()):
            raise UserError(f"{path} has for {name!r} no words for forward and backward; {PROMPTS_FORM}")
        category = entry.get("category", entry.get("edit_category"))
        about = entry | words | ({"category": category} if isinstance(category, str) else {})
        found.setdefault(name, about)
    if not found:
        raise UserError(f"{path} has no words of any pair; {PROMPTS_FORM}")
    return found


def entries(values: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry at any depth with its name: the key above it, or what it calls itself in a list."""
    if isinstance(values, dict):
        if {"forward", "backward", "forward_prompt", "backward_prompt"} & values.keys():
            yield name or str(values.get("edit_pair_name", values.get("name"))), values
            if "image_filename" in values:
                yield f"{Path(str(values['image_filename'])).stem}_{values.get('edit_pair_name')}", values
            return
        for key, each in values.items():
            yield from entries(each, key)
    elif isinstance(values, list):
        for each in values:
            yield from entries(each)
