"""Makes the folder that is published as a Space: the app on top, and beside it every module of ours that it imports."""

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOM = Path(__file__).parent.parent
HOUSE = ROOM.parent  # the rooms lie side by side, in a checkout and where they are installed
TOP = ("app.py", "README.md", "requirements.txt")
PACKAGE = "convergebench"
OWN_REPO = "convergebench/convergebench"  # the Space's and the dataset's, as the files here have it
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", *TOP)
DATA = (".css", ".csv", ".html", ".js", ".json", ".svg")  # data files of the folders that modules are taken from


def copy_space_to(out: Path, repo: str = OWN_REPO, dataset: str = OWN_REPO, revision: str | None = None) -> Path:
    """Everything that the Space needs, in `out`; an earlier copy there is replaced.

    The copy shows this dataset at this revision, and its card names them and the Space's own repository.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name in TOP:
        shutil.copyfile(ROOM / name, out / name)
    ours = out / PACKAGE
    shutil.rmtree(ours, ignore_errors=True)
    shutil.copytree(ROOM, ours / ROOM.name, ignore=LEFT_OUT)
    for module in modules_of_other_rooms():
        data = [path for path in module.parent.iterdir() if path.suffix in DATA]
        for path in (module, *data):
            copy = ours / path.relative_to(HOUSE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    names = json.dumps({"dataset": dataset, "revision": revision})
    (ours / ROOM.name / "space" / "published.json").write_text(f"{names}\n", encoding="utf-8")
    card = out / "README.md"
    card.write_text(card_with_names(card.read_text(encoding="utf-8"), repo, dataset), encoding="utf-8")
    return out


def card_with_names(card: str, repo: str, dataset: str) -> str:
    """The Space's card with the names of its own repository and of its dataset in place of ours."""
    parts = card.split(f'Client("{OWN_REPO}")')
    return f'Client("{repo}")'.join(part.replace(OWN_REPO, dataset) for part in parts)


def modules_of_other_rooms() -> set[Path]:
    """The files that this room imports from other rooms, directly or through each other."""
    found: set[Path] = set()
    waiting = [name for path in ROOM.rglob("*.py") for name in imported_names(path)]
    while waiting:
        path = file_of_module(waiting.pop())
        if path is None or path in found or path.is_relative_to(ROOM):
            continue
        found.add(path)
        waiting += imported_names(path)
        if path == HOUSE / "metric_modules" / "specs.py":  # it finds the specs by their place
            specs = set(path.parent.glob("*/spec.py"))
            found |= specs
            waiting += [name for spec in specs for name in imported_names(spec)]
    return found


def imported_names(path: Path) -> Iterator[tuple[str, ...]]:
    """What a file imports of ours, as the parts of absolute names; the last may be a name inside a module."""
    package = (PACKAGE, *path.parent.relative_to(HOUSE).parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module.split(".") if node.module else ()))
            names = [module, *((*module, alias.name) for alias in node.names)]
        else:
            continue
        for name in names:
            if name[0] == PACKAGE:
                yield name
                yield name[:-1]  # the package, whose __init__ is executed as well


def file_of_module(name: tuple[str, ...]) -> Path | None:
    """The module's file. A room's own __init__ is left out: it offers what the whole room does."""
    place = HOUSE.joinpath(*name[1:])
    if place.with_suffix(".py").is_file():
        return place.with_suffix(".py")
    return place / "__init__.py" if len(name) > 2 and (place / "__init__.py").is_file() else None
