"""Small faults put into what decides or displays a number: which of them does a test notice?

python tests/mutants/run.py                 520 mutants, from each file of files.toml by its share
python tests/mutants/run.py --only cli/x    every mutant of the files whose path begins so

A mutant is one change of one operator, number or condition, on a copy of the package. First it meets the tests that
files.toml names for its file, then those in `also`. At the end the tests that failed must pass without a mutant.
Exits with status 1 if fewer than 95% are killed, or than --least. Mutants that nobody could notice are in `equivalent`,
with a reason.
"""

import argparse
import ast
import compileall
import contextlib
import gc
import importlib
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

sys.path.insert(0, str(Path(__file__).parent.parent))

from house_copy import HOUSE, HouseCopy

FOLDER = HOUSE / "build" / "mutants"
EXAMPLES = "tests/whole/test_docstrings.py::test_the_examples_are_right[{}]"
LEAST = 0.95  # share of mutants to be killed
SECONDS = 60  # of processor time for the tests of one mutant: five times what the slowest takes
WAITED = 300  # seconds, for what waits for ever and uses no processor time
# Loaded once: every attempt is a fork of this process, and saves the seconds that these take.
LOADED_ONCE = (
    *("pytest", "accelerate", "cv2", "datasets", "evaluate", "gradio", "hypothesis", "matplotlib.pyplot"),
    *("pyarrow.parquet", "scipy.stats", "skimage.metrics", "torch", "transformers"),
)
SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not", ast.Add: "+", ast.Sub: "-", ast.Mult: "*",
    ast.Div: "/", ast.And: "and", ast.Or: "or",
}  # fmt: skip
TWINS = [*zip([*SIGNS.values()][::2], [*SIGNS.values()][1::2], strict=True)]
SWAPPED = dict(TWINS) | {after: before for before, after in TWINS}
RENAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "mean": "median", "median": "mean"}
RENAMED["sum"] = "max"
SMALL = 1e-5  # a tolerance: nobody could tell 1e-9 from 1.6e-9
# Of these nobody sees the value: places on a page, sizes of caches, checks of our own, examples of a card.
UNSEEN = ("order", "maxsize", "strict", "repr", "compare", "example")


@dataclass(frozen=True, order=True)
class Mutant:
    file: str
    start: int  # offsets in the file's text
    end: int
    after: str
    before: str
    line: int
    text: str  # the line, without its indentation

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before!r} -> {self.after!r} in `{self.text}`"


def mutants(file: str) -> list[Mutant]:
    source = (HOUSE / file).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)

    def offset(row: int, column: int) -> int:
        """Columns of ast are in bytes."""
        return sum(map(len, lines[: row - 1])) + len(lines[row - 1].encode()[:column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        return offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)

    def changes(node: ast.AST) -> Iterator[tuple[int, int, str]]:
        for left, operator, right in _operators(node):
            sign = SIGNS.get(type(operator), "")
            place = source.find(sign, span(left)[1], span(right)[0])
            if sign and place >= 0:
                yield place, place + len(sign), SWAPPED[sign]
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield *span(node), str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield *span(node), str(_another(node.value))
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            yield span(node)[0], span(node.operand)[0], ""
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in RENAMED:
                yield span(node.func)[1] - len(name), span(node.func)[1], RENAMED[name]
        for test in [*getattr(node, "ifs", ()), getattr(node, "test", None)]:
            if isinstance(test, ast.expr) and not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
                yield *span(test), f"(not ({source[slice(*span(test))]}))"

    made = set()
    for node in _that_run(ast.parse(source)):
        for start, end, after in changes(node):
            line = source.count("\n", 0, start) + 1
            made.add(Mutant(file, start, end, after, source[start:end], line, lines[line - 1].strip()))
    return sorted(made)


def _another(number: float) -> float:
    if isinstance(number, int):
        return number + 1
    return number * 1.6 if number > SMALL else 1.0


def _operators(node: ast.AST) -> list[tuple[ast.expr, ast.AST, ast.expr]]:
    if isinstance(node, ast.Compare):
        return list(zip([node.left, *node.comparators], node.ops, node.comparators, strict=False))
    if isinstance(node, ast.BoolOp):
        return [(left, node.op, right) for left, right in zip(node.values, node.values[1:], strict=False)]
    return [(node.left, node.op, node.right)] if isinstance(node, ast.BinOp) else []


def _that_run(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below this one, but for annotations, texts, decorators, errors, examples, and what nobody sees."""
    keys = [getattr(key, "value", None) for key in node.keys] if isinstance(node, ast.Dict) else []
    hidden = [value for key, value in zip(keys, getattr(node, "values", ()), strict=False) if key in UNSEEN]
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            skipped = (
                name in ("annotation", "returns", "decorator_list")
                or child in hidden
                or not isinstance(child, ast.AST)
                or isinstance(child, ast.JoinedStr | ast.Raise)
                or (isinstance(child, ast.keyword) and child.arg in UNSEEN)
                or (isinstance(child, ast.AnnAssign) and ast.unparse(child.target) == "example")
                or (isinstance(child, ast.Assign) and "ORDER" in ast.unparse(child.targets[0]))
                or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
            )
            if not skipped:
                yield child
                yield from _that_run(child)


def killer(copy: HouseCopy, tests: list[str], mutant: Mutant | None = None) -> str:
    """The first test that fails on a copy of the package, in a process of its own; '' if all pass."""
    source = copy.path(mutant.file).read_text(encoding="utf-8") if mutant else ""
    if mutant:
        copy.write(mutant.file, source[: mutant.start] + mutant.after + source[mutant.end :])
    output, until = copy.work / "output.txt", time.monotonic() + WAITED
    process = os.fork()
    if not process:
        os._exit(_test(copy, tests, output))
    ended, status = 0, 1
    while not ended and time.monotonic() < until:
        time.sleep(0.02)
        ended, status = os.waitpid(process, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # with what its tests have started
    if mutant:
        copy.write(mutant.file, source)
    if not ended:
        os.waitpid(process, 0)
    if not ended or os.WIFSIGNALED(status):
        return "no end"
    lines = output.read_text(errors="replace").splitlines() if status else []
    failed = [line.split(" - ")[0].partition(" ")[2] for line in lines if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else "\n".join(lines[-5:])


def _test(copy: HouseCopy, tests: list[str], output: Path) -> int:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.chdir(HOUSE)
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy.site)}
    sys.dont_write_bytecode = True
    # An editable install would come before the copy.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(finder)]
    sys.path.insert(0, str(copy.site))
    words = f"-q -x -n 0 --tb=no --assert=plain -p no:cacheprovider --basetemp={copy.work}/tmp".split()
    code = int(importlib.import_module("pytest").main([*words, *tests]))
    imported = getattr(sys.modules.get("convergebench"), "__file__", copy.site)
    if not Path(imported).is_relative_to(copy.site):
        code = print(f"FAILED the tests imported {imported}") or 99
    sys.stdout.flush()
    return code


def new_copy(name: str) -> HouseCopy:
    copy = HouseCopy(FOLDER / f"{os.getpid()}-{name}")
    compileall.compile_dir(copy.site, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return copy


def tests_of_files(table: dict[str, list[str]]) -> dict[str, list[str]]:
    """The tests for each file; a name that ends with a slash is a folder, and what follows is more exact."""
    tests: dict[str, list[str]] = {}
    for name, its_tests in table.items():
        files = sorted((HOUSE / name).rglob("*.py")) if name.endswith("/") else [HOUSE / name]
        tests |= {path.relative_to(HOUSE).as_posix(): its_tests for path in files}
    examples = {name for name in tests if ">>> " in (HOUSE / name).read_text(encoding="utf-8")}
    return tests | {name: [EXAMPLES.format(name), *tests[name]] for name in examples}


def choose(files: list[str], count: int, only: str) -> list[Mutant]:
    """Every mutant of the files asked for, or a sample with a share of each file."""
    every = [mutant for file in files if file.startswith(only) for mutant in mutants(file)]
    chance, step = random.Random(0), len(every) / count
    return every if only else [every[int((number + chance.random()) * step)] for number in range(count)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=520, help="how many, of all files together")
    parser.add_argument("--only", default="", help="how the paths of files begin whose mutants are all tried")
    parser.add_argument("--least", type=float, default=LEAST, help="the share that must be killed")
    options = parser.parse_args()
    settings = tomllib.loads(Path(__file__).with_name("files.toml").read_text(encoding="utf-8"))
    tests = tests_of_files(settings["tests"])
    chosen = choose(list(tests), options.count, options.only)
    equivalent = {(row["file"], row["line"], row["after"]) for row in settings["equivalent"]}
    tried = [mutant for mutant in chosen if (mutant.file, mutant.text, mutant.after) not in equivalent]
    killers = {}
    os.environ["OMP_NUM_THREADS"] = "1"  # before they are loaded
    for name in LOADED_ONCE:
        importlib.import_module(name)
    compileall.compile_dir(HOUSE / "tests", quiet=1)
    gc.freeze()  # or every attempt spends a second on looking for garbage among these
    with multiprocessing.get_context("fork").Pool(None, _begin, (tests, settings["also"])) as pool:
        for mutant, failed in pool.imap_unordered(_attempt, tried):
            if failed:
                killers[str(mutant)] = failed
            else:
                print(f"SURVIVED {mutant}", flush=True)
    count, killed = Counter(mutant.file for mutant in tried), Counter(name.partition(":")[0] for name in killers)
    for file in count:
        print(f"{killed[file]:4d} of {count[file]:4d} killed  {file}")
    share = killed.total() / max(1, len(tried))
    print(f"{killed.total()} of {len(tried)} killed ({share:.1%}), {len(chosen) - len(tried)} equivalent")
    alone = killer(new_copy("alone"), sorted({name for name in killers.values() if name.startswith("tests/")}))
    print(f"fails without a mutant too: {alone}" if alone else "without a mutant these tests pass")
    return int(share < options.least or bool(alone))


def _begin(tests: dict[str, list[str]], also: list[str]) -> None:
    global _copy, _tests, _also
    _copy, _tests, _also = new_copy("copy"), tests, also


def _attempt(mutant: Mutant) -> tuple[Mutant, str]:
    return mutant, killer(_copy, _tests[mutant.file], mutant) or killer(_copy, _also, mutant)


if __name__ == "__main__":
    sys.exit(main())
