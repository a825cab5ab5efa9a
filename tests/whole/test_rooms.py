"""The house stands as it was drawn: who may import whom, and what stays light."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from size import EMBEDDED, is_core

HOUSE = Path(__file__).parents[2]
ROOMS = ("generation", "dataset_builder", "metric_modules", "spaces_app", "harness", "cli")
METRICS = sorted(path.parent.name for path in (HOUSE / "metric_modules").glob("*/spec.py"))

SHARED_FILES = ["plugins", "records", "pictures", "files", "store"]
SHARED_FILES += ["store_reader", "progress", "shares", "cluster"]
SHARED = tuple(f"generation.{name}" for name in SHARED_FILES)
OF_JUDGES = ["calls", "editors", "ledger", "options", "local_models", "vendors"]
OF_JUDGES += ["files", "keys", "pictures", "plugins", "progress", "records"]
# What each room may import of ours, by the beginning of the module's name below `convergebench`.
ALLOWED = {
    "generation": ("generation",),
    "dataset_builder": ("dataset_builder", "metric_modules._evaluate.self_contained", *SHARED),
    "metric_modules": ("metric_modules", "dataset_builder.dataset", "dataset_builder.building.card", *SHARED),
    # The judges ask vendors and pay, as editors do.
    "metric_modules._judges": (
        "metric_modules._judges",
        "metric_modules.edit_applied",
        "dataset_builder.dataset",
        "dataset_builder.building.card",
        *(f"generation.{name}" for name in OF_JUDGES),
    ),
    "spaces_app": (
        "spaces_app",
        "metric_modules._judges.answers",
        "metric_modules._judges.drift",
        "metric_modules._engine",
        *(f"metric_modules.{name}" for name in ("specs", "scores", *METRICS)),
        "dataset_builder.dataset",
        "dataset_builder.studies",
        *SHARED,
    ),
    "harness": ("harness", "generation", "dataset_builder", "metric_modules", "spaces_app"),
    "cli": ("cli", "bench", "generation", "dataset_builder", "metric_modules", "spaces_app"),
}


def imported(path):
    parts = path.relative_to(HOUSE).with_suffix("").parts
    package = parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        start = [*filter(None, [getattr(node, "module", None)])]
        if level := getattr(node, "level", 0):
            start = ["convergebench", *package[: len(package) - level + 1], *start]
        names = [".".join([*start, alias.name]) for alias in node.names]
        yield from (name.removeprefix("convergebench.") for name in names if name.startswith("convergebench."))


def files(room):
    return sorted((HOUSE / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_it_may(room):
    wrong = []
    for path in files(room):
        allowed = ALLOWED[room]
        if path.name == "__main__.py":
            allowed = (*allowed, "cli")  # running a room as a program is entering by the front door
        if path.is_relative_to(HOUSE / "metric_modules" / "_judges"):
            allowed = ALLOWED["metric_modules._judges"]
        if room == "metric_modules" and path.parent.name in (*METRICS, "_shared", "_evaluate"):
            # What a published folder gets a copy of; of generation only files without imports of their own.
            copied = ("generation.studies.honesty.marks", "generation.packages", "generation.pictures")
            # Their truths are drawn; they are no modules of their own.
            if path.parent.name in ("exact", "steering"):
                copied = ("generation.studies.exact",)
            modules = [f"metric_modules.{name}" for name in ("_shared", "_evaluate", *METRICS)]
            allowed = (*modules, *copied)
        for name in imported(path):
            if not any(name == start or name.startswith(start + ".") for start in allowed):
                wrong.append(f"{path.relative_to(HOUSE)} imports {name}")
    assert files(room)
    assert wrong == []


HEAVY = {"torch", "datasets", "evaluate", "transformers", "gradio", "pandas", "matplotlib", "scipy", "skimage"}
HEAVY |= {"asyncio", "httpx2"}
HELPED = ["report --help", "score --help", "generate --help", "space --help", "publish --help"]
LIGHT = ["list policies", "list prices", "list suites", "weights", "status nosuch", "verify nosuch"]
LIGHT += ["plan --suite v1", "list editors", "list metrics", "build nosuch", "submit nosuch"]
ABSENT = ["report nosuch", "score nosuch", "space nosuch"]
STARTED = """
import contextlib, importlib, io, sys
from convergebench.cli.__main__ import main
importlib.import_module("convergebench.generation.records")
for line in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(line.split())
print(*sys.modules)
"""


@pytest.mark.parametrize(
    ("lines", "heavy"),
    [(HELPED, {*HEAVY, "numpy", "PIL"}), (LIGHT, HEAVY), (ABSENT, {*HEAVY, "numpy", "pyarrow"})],
)
def test_a_verb_starts_without_what_it_does_not_need(lines, heavy):
    done = subprocess.run([sys.executable, "-c", STARTED, *lines], capture_output=True, text=True, check=True)
    loaded = {*done.stdout.split()}
    assert "convergebench.generation.records" in loaded
    assert not heavy & loaded


def test_the_scheduler_starts_without_heavy_packages():
    code = "import sys, convergebench.generation.scheduler; print(*sys.modules)"
    assert not HEAVY & {*subprocess.check_output([sys.executable, "-c", code], text=True).split()}


STUDIES = {path.name for room in ROOMS for path in (HOUSE / room).glob("studies/*") if any(path.glob("**/*.py"))}


def study_of(path):
    """The study that a file belongs to: by its folder, or as its metric's spec says; None in the core."""
    parts = path.relative_to(HOUSE).parts
    if "studies" in parts[:-2]:
        return parts[parts.index("studies") + 1]
    spec = path.parent / "spec.py"
    declared = re.search(r'"study": "(\w+)"', spec.read_text()) if spec.exists() else None
    return declared and declared[1]


def studies_named(name):
    metric = re.match(r"metric_modules\.([a-z]\w*)", name)
    owner = metric and study_of(HOUSE / "metric_modules" / metric[1] / "spec.py")
    return {study for study in re.findall(r"\bstudies\.(\w+)", name) if study in STUDIES} | (
        {owner} if owner else set()
    )


def test_the_core_imports_no_study_and_no_study_another():
    wrong = [
        f"{path.relative_to(HOUSE)} imports {name}"
        for room in ROOMS
        for path in files(room)
        for name in imported(path)
        if studies_named(name) - {study_of(path)}
    ]
    assert len(STUDIES) > 5
    assert wrong == []


# Loaded when they are asked for: by a verb of the front door, or by --executor.
ON_REQUEST = ("package/", "generation/cluster.py", "generation/tasks.py", "metric_modules/_engine/parts.py")


def test_the_core_imports_nothing_outside_it():
    paths = {path.relative_to(HOUSE).as_posix(): path for room in (*ROOMS, "package") for path in files(room)}
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in paths}
    wrong = [
        f"{name} imports {other}"
        for name, path in paths.items()
        if is_core(name) and not name.startswith(ON_REQUEST)
        for parts in [words.split(".") for words in imported(path)]
        for other in [modules.get(".".join(parts[:length])) for length in range(2, len(parts) + 1)]
        if other and not is_core(other) and not other.startswith(ON_REQUEST) and not EMBEDDED.match(other)
    ]
    assert sum(map(is_core, paths)) > 100
    assert wrong == []


def test_there_is_no_symbolic_link_in_git():
    listed = subprocess.check_output(["git", "ls-files", "-s"], cwd=HOUSE, text=True).splitlines()
    assert len(listed) > 100
    assert [line for line in listed if line.startswith("120000")] == []


NAMED = {"os._exit", "_typeshed.DataclassInstance"}  # documented all the same, or for type checkers alone


def private_names(path):
    """The private names of other packages that a file imports, or reads from a module that it imports."""
    nodes, modules = [*ast.walk(ast.parse(path.read_text()))], set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            for alias in node.names:
                name = ".".join(filter(None, [getattr(node, "module", None), alias.name]))
                if not name.startswith(("convergebench", "__future__")):
                    modules.add(alias.asname or alias.name.partition(".")[0])
                    yield from [name] * bool(re.search(r"(^|\.)_[a-z]", name))
    for node in nodes:
        if isinstance(node, ast.Attribute) and re.match("_[a-zA-Z]", node.attr):
            base = re.fullmatch(r"(\w+)(\.\w+)*", ast.unparse(node.value))
            if base and base[1] in modules:
                yield f"{base[0]}.{node.attr}"


def test_no_private_name_of_a_library_is_used():
    found = {}
    for path in [path for room in ROOMS for path in files(room)]:
        found |= dict.fromkeys(private_names(path), path)
    assert {name: path for name, path in found.items() if name not in NAMED} == {}
    assert found.keys() == NAMED, "a name is not used any more, or nothing is looked at"


def test_no_file_is_longer_than_four_hundred_lines():
    lengths = {path: len(path.read_text().splitlines()) for room in ROOMS for path in files(room)}
    assert {str(path): length for path, length in lengths.items() if length > 400} == {}
