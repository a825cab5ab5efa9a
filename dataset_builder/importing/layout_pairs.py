"""Import layout `edit-converge-bench`: one folder for each case."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from convergebench.generation.records import KINDS, Step, UserError

from .chains import MOST_ANSWERS, Findings, FoundChain, Problem, check_folder, imported_program
from .tables import json_file

_ANSWER = re.compile(r"I([1-9]\d*)_(forward|backward)\.(png|jpg|jpeg|webp)")
_SOURCE = re.compile(r"I0_source\.(png|jpg|jpeg|webp)")
_DIRECTIONS = ("forward", "backward")
_PROMPTS_FORM = (
    'it must be {"NAME": {"forward": "Add ...", "backward": "Remove ..."}} by the name of the case or the pair, or a '
    'list of {"name": ..., "forward": ..., "backward": ...}, as in that repository'
)
_KIND_OF_IMAGE = {"portrait": "face", "landscape": "scene"} | {kind: kind for kind in KINDS}


def find_chains(path: Path, editor: str, prompts: Path | None = None, kind: str | None = None) -> Findings:
    """One chain for each folder IMAGE_PAIR with I0_source.png, I1_forward.png and so on.

    `prompts` is a JSON file with the instructions of each pair: under the name of the case or pair
    at any depth, in a list of such entries, or as that repository's own files of pairs or results.
    """
    entries = _prompts_by_name(prompts, editor) if prompts else {}
    check_folder(path, "give the folder that holds one editor's cases")
    folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
    cases = [path] if _source_of(path) else list(filter(_source_of, folders))
    if not cases:
        deeper = [folder for folder in folders if any(map(_source_of, folder.iterdir()))]
        hint = f"give one editor's folder, such as {deeper[0]}" if deeper else "a case's folder has I0_source.png"
        raise UserError(f"{path} holds no case; {hint}")
    for stray in sorted(set(path.iterdir()) - set(cases)) if cases != [path] else []:
        if not stray.name.startswith("."):
            yield Problem(str(stray), "is not a case of this layout: it has no I0_source.png", is_note=True)
    names = {case: case.resolve().name for case in cases}
    entry_of = {
        case: entries.get(name) or entries.get(_split_case(name)[1]) or {} for case, name in names.items()
    }
    if prompts and not any(entry_of.values()):
        some = f"these cases, such as {names[cases[0]]}"
        raise UserError(f"{prompts} has no instructions for {some}; {_PROMPTS_FORM}")
    for case, entry in entry_of.items():
        yield from _find_chain(case, entry, editor, kind)


def _source_of(folder: Path) -> Path | None:
    files = folder.iterdir() if folder.is_dir() else ()
    return next((path for path in files if _SOURCE.fullmatch(path.name)), None)


def _find_chain(folder: Path, entry: Mapping[str, Any], editor: str, kind: str | None) -> Findings:
    image, pair = _split_case(folder.resolve().name)
    instructions = [entry.get(d) or f"[{d} of {pair}; the words were not recorded]" for d in _DIRECTIONS]
    files = {}
    for path in sorted(folder.iterdir()):
        if match := _ANSWER.fullmatch(path.name):
            files[int(match[1]), match[2]] = path
        elif not _SOURCE.fullmatch(path.name) and not path.name.startswith("."):
            yield Problem(str(path), "is not a part of this layout", is_note=True)
    rounds = max((round for round, _ in files), default=0)
    if not files or 2 * rounds > MOST_ANSWERS:
        too_many = f"has more than {MOST_ANSWERS:,} answers by the numbers of its files"
        yield Problem(str(folder), too_many if files else "has a source but no answer")
        return
    answers = []
    for round in range(1, rounds + 1):
        for position, (direction, instruction) in enumerate(zip(_DIRECTIONS, instructions, strict=True), 1):
            file = files.get((round, direction))
            where = str(file or folder / f"I{round}_{direction}.png")
            status = "ok" if file else "unpublished"
            answers.append((Step(0, round, position, instruction, status), where, file))
    prefix = re.split(r"[_-]", image)[0].casefold()
    yield FoundChain(
        case=folder.resolve().name,
        source=image,
        picture=_source_of(folder) or folder,
        where=str(folder),
        program=imported_program(pair, instructions, entry),
        editor=editor,
        answers=tuple(answers),
        kind=str(kind or entry.get("kind") or _KIND_OF_IMAGE.get(prefix, "object")),
        settings={"imported": "edit-converge-bench"},
    )


def _split_case(name: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.+?_\d+)_(.+)", name)
    return (match[1], match[2]) if match else (name, name)


def _prompts_by_name(path: Path, editor: str) -> dict[str, dict[str, Any]]:
    by_name: dict[str, dict[str, Any]] = {}
    values = json_file(path)
    editor_values = values.get(editor) if isinstance(values, dict) else None
    for name, entry in [*_entries(editor_values), *_entries(values)]:
        instructions = {way: entry.get(way, entry.get(f"{way}_prompt")) for way in _DIRECTIONS}
        if not all(isinstance(text, str) and text.strip() for text in instructions.values()):
            raise UserError(f"{path} has no words for forward and backward of {name!r}; {_PROMPTS_FORM}")
        category = entry.get("category", entry.get("edit_category"))
        metadata = {"category": category} if isinstance(category, str) else {}
        by_name.setdefault(name, entry | instructions | metadata)
    if not by_name:
        raise UserError(f"{path} has no words of any pair; {_PROMPTS_FORM}")
    return by_name


def _entries(values: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(values, dict):
        if {"forward", "backward", "forward_prompt", "backward_prompt"} & values.keys():
            yield name or str(values.get("edit_pair_name", values.get("name"))), values
            if "image_filename" in values:
                yield f"{Path(str(values['image_filename'])).stem}_{values.get('edit_pair_name')}", values
            return
        for key, value in values.items():
            yield from _entries(value, key)
    elif isinstance(values, list):
        for value in values:
            yield from _entries(value)
