"""How large the program is: lines, public functions, classes, `Any`.

python tests/size.py [FOLDER ...]
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).parents[1]
# The core is what a round trip needs from the plan to the screen. These are outside it, and each can be deleted:
# tests/whole/test_studies_are_optional.py tries it.
OUTSIDE = {
    "studies": r".*\bstudies/(?!__init__\.py)",
    "Inspect": "harness/",
    "bringing in": r"cli/bring_in/|dataset_builder/importing/|generation/sources/collected\.py",
    "sharing": "(cli/share|dataset_builder/publishing|spaces_app/publishing)/",
    "looking up": r"cli/look_up/|metric_modules/_engine/pairs\.py",
    "modules of evaluate": r"metric_modules/(_evaluate/|([a-z]\w*)/\2\.py)|dataset_builder/publishing/beside",
    "judges": r"metric_modules/_judges/|\w+/studies/judges/",
    "hosted and local editors": r"generation/(vendors|editors)/\w|generation/local_models\.py",
    "somebody's own function": "generation/own/",
    "policies": r"generation/policies/\w",
    "the paper": "paper/",
    "many machines": r"generation/(cluster|tasks)\.py|metric_modules/_engine/parts\.py",
}
SHARED = ("generation/policies/__init__.py", "generation/editors/__init__.py")  # of all policies, of all editors
EMBEDDED = re.compile(r"generation/editors/(paint|oracle|undo_h|_ref)")  # which the core may import
STUDY = re.compile('"study"|"optional": True')  # in the spec of a metric that is no part of the core


def files_of(*folders: str) -> list[str]:
    words = ["git", "ls-files", "*.py", "*.js", "*.css"]
    listed = subprocess.check_output(words, cwd=HOUSE, text=True).split()
    return [name for name in listed if name.startswith(folders or "") and (HOUSE / name).exists()]


def is_core(name: str) -> bool:
    spec = (HOUSE / name).with_name("spec.py")
    if spec.exists() and STUDY.search(spec.read_text(encoding="utf-8")):
        return False
    return name in SHARED or not any(re.match(kind, name) for kind in OUTSIDE.values())


def size(*folders: str) -> dict[str, float]:
    """The figures of the whole program, or of its files whose names begin like one of `folders`."""
    ours = [name for name in files_of(*folders) if not name.startswith("docs/")]
    texts = {name: (HOUSE / name).read_text(encoding="utf-8") for name in ours}
    lines = {name: text.count("\n") for name, text in texts.items()}
    tests = [name for name in ours if name.startswith("tests/") and name.endswith(".py")]
    pages = [name for name in ours if name.endswith((".js", ".css")) and not name.startswith("tests/")]
    product = [name for name in ours if name.endswith(".py") and not name.startswith("tests/")]
    nodes = [node for name in product for node in ast.walk(ast.parse(texts[name]))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # What is defined inside a function cannot be called from outside it: it is not public, whatever its name.
    inner = {node for outer in functions for node in ast.walk(outer) if node is not outer}
    public = [node for node in functions if not node.name.startswith("_") and node not in inner]
    written = [len(line) for name in product for line in texts[name].splitlines()]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    return {
        "product": sum(lines[name] for name in product),
        "core": sum(lines[name] for name in product if is_core(name)),
        "public functions": len(public),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        "Any": sum("Any" in (getattr(node, "id", ""), getattr(node, "attr", "")) for node in nodes),
        "mean line": round(sum(written) / max(1, len(written)), 1),
        "mean function": round(sum(lengths) / max(1, len(lengths)), 2),
        "JS and CSS": sum(lines[name] for name in pages),
        "tests": sum(lines[name] for name in tests),
    }


if __name__ == "__main__":
    for figure, value in size(*sys.argv[1:]).items():
        print(f"{figure:17} {value:>9,}")
