"""The README's tree: a line per file, in the file's own first words. Run it to write the tree anew."""

import ast
import subprocess
from pathlib import Path

HOUSE = Path(__file__).parent.parent
BEGIN, END = "<!-- tree -->", "<!-- end of tree -->"
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
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
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


def written() -> str:
    """The tree as README.md has it."""
    text = (HOUSE / "README.md").read_text()
    return text.split(BEGIN)[1].split(END)[0].strip().removeprefix("```text").removesuffix("```").strip()


if __name__ == "__main__":
    readme = HOUSE / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    readme.write_text(f"{before}{BEGIN}\n\n```text\n{tree()}\n```\n\n{END}{rest.split(END)[1]}")
