"""Makes a metric folder self-contained, as `build` copies it next to a dataset and as it is published.

`evaluate` downloads only NAME.py and the files that it imports as `from
.sibling import name`. So shared files are copied beside it, imports from
this package become imports of siblings, and NAME.py imports each of them.
"""

import ast
import re
from functools import cache
from pathlib import Path

_PACKAGE = "convergebench"
_ROOT = Path(__file__).resolve().parents[2]  # of the package, in a checkout or an installation
_PAGE = Path(__file__).with_name("page.py")
_IGNORED = ("__pycache__", ".", "test_")  # prefixes of file names


def self_contained(folder: Path) -> dict[str, bytes]:
    """The files of a metric folder by name, with every other file of this package that its code needs."""
    folder = folder.resolve()
    own_files = [
        path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(_IGNORED)
    ]
    files = {path.name: path.read_bytes() for path in own_files if path.suffix != ".py"}
    needed: set[Path] = set()
    waiting = [path for path in own_files if path.suffix == ".py"]
    while waiting:
        path = waiting.pop()
        if path in needed:
            continue
        name = _name_in(folder, path)
        if name in files:
            raise ValueError(f"{folder.name} would get two files {name}; rename {path}")
        text, imported = _with_sibling_imports(path, folder)
        files[name] = text.encode()
        needed.add(path)
        waiting += imported
    module = folder / f"{folder.name}.py"
    if module in needed:
        # evaluate does not follow `from . import x`, so those files are included.
        names = sorted(_name_in(folder, path).removesuffix(".py") for path in needed - {module})
        if names:
            files[module.name] += b"\n# evaluate downloads the files that are imported here\n"
        files[module.name] += "".join(f"from .{name} import __name__ as _{name}\n" for name in names).encode()
        files.setdefault("app.py", _PAGE.read_bytes() + f'\n\ndemo = run("{module.name}")\n'.encode())
    return dict(sorted(files.items()))


def _name_in(folder: Path, path: Path) -> str:
    """A file's name in the folder; for a file of another metric, that metric's name comes first."""
    of_another = (
        path.parent.parent == folder.parent and path.parent != folder and not path.parent.name.startswith("_")
    )
    return f"{path.parent.name}_{path.name}" if of_another else path.name


def _with_sibling_imports(path: Path, folder: Path) -> tuple[str, set[Path]]:
    """The file's text with imports from this package changed to imports of siblings, and the files that it imports."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    imported: set[Path] = set()
    for node in _imports(text):
        if not (place := _imported_path(path, node)):
            continue
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if (file := place.with_suffix(".py")).is_file():
            module = _name_in(folder, file).removesuffix(".py")
            lines[first] = re.sub(r"from\s+\S+\s+import", f"from .{module} import", lines[first], count=1)
            imported.add(file)
            continue
        imports = []  # `from folder import module`: each module becomes an import of a sibling
        for alias in node.names:
            file, bound = place / f"{alias.name}.py", alias.asname or alias.name
            module = _name_in(folder, file).removesuffix(".py")
            imports.append(f"from . import {module}" + f" as {bound}" * (bound != module))
            imported.add(file)
        indent = " " * node.col_offset
        lines[first:last] = [indent + f"\n{indent}".join(imports) + "\n"] + [""] * (last - first - 1)
    return "".join(lines), imported


@cache  # most files are shared by several folders
def _imports(text: str) -> list[ast.ImportFrom]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]


def _imported_path(path: Path, node: ast.ImportFrom) -> Path | None:
    parts = node.module.split(".") if node.module else []
    if node.level:
        return path.parents[node.level - 1].joinpath(*parts)
    return _ROOT.joinpath(*parts[1:]) if parts[:1] == [_PACKAGE] else None
