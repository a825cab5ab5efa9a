"""The README's lists, from their sources: the tree, in each file's first words, and the verbs. Run it to write them."""

import ast
import subprocess
from pathlib import Path

HOUSE = Path(__file__).parent.parent
TOLD = {
    "LICENSE": "Apache-2.0",
    "Makefile": "the commands: setup, demo, test, check, space, bench",
    "constraints.txt": "every distribution, pinned",
    "pyproject.toml": "what is installed, with which extras; the linters' settings",
    ".ci/run": "what every change must pass",
    ".gitignore": "what the commands leave behind",
    "CHANGELOG.md": "what changed for users",
    "CITATION.cff": "how to cite",
    "CONTRIBUTING.md": "how to add an editor, a metric, a program",
    "README.md": "this page",
    "dataset_card.md": "the dataset's card, from which each build makes its own",
    "requirements.txt": "what the folder needs as a Space",
}


def files() -> list[Path]:
    words = ["git", "ls-files"]
    listed = subprocess.run(words, cwd=HOUSE, capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted((HOUSE / name for name in listed if name and (HOUSE / name).exists()), key=lambda path: path.parts)


def words(path: Path) -> str:
    """What a file says of itself in its first sentence."""
    name = path.relative_to(HOUSE).as_posix()
    if path.is_symlink():
        return f"the same file as {path.resolve().relative_to(HOUSE)}"
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n")[0]
    if name in TOLD or path.name in TOLD:
        return TOLD.get(name) or TOLD[path.name]
    lines = path.read_text(errors="ignore").splitlines() if path.suffix in (".md", ".toml") else []
    titled = [line for line in lines if line.startswith(("# ", "title ="))]
    return titled[0].lstrip("# ").removeprefix("title =").strip().strip('"') if titled else path.suffix[1:]


def tree() -> str:
    lines, folder = [], HOUSE
    for path in files():
        if path.parent != folder and path.parent != HOUSE:
            lines.append(f"{path.parent.relative_to(HOUSE).as_posix()}/")
        folder = path.parent
        indent = "" if folder == HOUSE else "    "
        lines.append(f"{indent + path.name:34} {words(path)}".rstrip())
    return "\n".join(lines)


def verbs() -> str:
    """A line per verb, in the words of its help."""
    from convergebench.cli.__main__ import main

    names = main.list_commands(None)
    return "\n".join(
        f"convergebench {name:14} {main.get_command(None, name).get_short_help_str(200)}" for name in names
    )


LISTS = {"tree": tree, "verbs": verbs}


def written(name: str) -> str:
    """A list as README.md has it."""
    inside = (HOUSE / "README.md").read_text().split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0]
    return inside.strip().removeprefix("```text").removesuffix("```").strip()


if __name__ == "__main__":
    readme = HOUSE / "README.md"
    for name, made in LISTS.items():
        text, begin, end = readme.read_text(), f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, after = text.split(begin)[0], text.split(end)[1]
        readme.write_text(f"{before}{begin}\n\n```text\n{made()}\n```\n\n{end}{after}")
