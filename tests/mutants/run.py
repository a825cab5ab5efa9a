"""Small faults put into what decides or displays a number: which of them does a test notice?

python tests/mutants/run.py                 520 mutants, from each file of files.toml by its share
python tests/mutants/run.py --count 60      a seeded sample of as many
python tests/mutants/run.py --only cli/x    every mutant of the files whose path begins so
python tests/mutants/run.py --resume        those that the last run killed are not tried again

A mutant is one change of one operator, number or condition. It is tried on a copy of the package: first by the tests
that files.toml names for its file, up to the first that fails; what survives these, by `also`. At the end the tests
that failed must pass without a mutant. Exits with status 1 if fewer than 95% are killed. A mutant that changes nothing
that anybody could notice is in `equivalent`, with its reason.
"""

import argparse
import ast
import compileall
import json
import os
import random
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from py_compile import PycInvalidationMode

sys.path.insert(0, str(Path(__file__).parent.parent))

from house_copy import HOUSE, HouseCopy

FOLDER = HOUSE / "build" / "mutants"
RESULTS = FOLDER / "killed.json"
LEAST = 0.95  # share of mutants to be killed
SECONDS = 300  # for the tests of one mutant; a mutant that never ends is killed
# Loaded once: every attempt is a fork of this process, and saves the seconds that these take.
LOADED_ONCE = (
    "pytest accelerate cv2 datasets evaluate gradio hypothesis jinja2 matplotlib.pyplot pyarrow.parquet scipy.stats "
    "skimage.metrics torch transformers"
)
SWAPPED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
RENAMED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "mean": "median",
    "median": "mean",
    "sum": "max",
}
# Of these nobody sees the value: places on a page, sizes of caches, checks of our own.
UNSEEN = ("order", "maxsize", "strict", "repr", "compare")


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
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(row: int, column: int) -> int:
        """Columns of ast are in bytes."""
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    def changes(node: ast.AST) -> Iterator[tuple[int, int, str]]:
        for left, operator, right in _operators(node):
            if pair := SWAPPED.get(type(operator)):
                place = source.find(pair[0], span(left)[1], span(right)[0])
                if place >= 0:
                    yield place, place + len(pair[0]), pair[1]
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield *span(node), str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield *span(node), str(node.value + 1 if isinstance(node.value, int) else node.value * 1.6)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            if not isinstance(node.operand, ast.Constant):
                yield span(node)[0], span(node.operand)[0], ""
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in RENAMED:
                end = span(node.func)[1]
                yield end - len(name), end, RENAMED[name]
        for test in [*getattr(node, "ifs", ()), getattr(node, "test", None)]:
            if isinstance(test, ast.expr) and not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
                yield *span(test), f"(not ({source[slice(*span(test))]}))"

    made = set()
    for node in _that_run(ast.parse(source)):
        for start, end, after in changes(node):
            line = source.count("\n", 0, start) + 1
            made.add(Mutant(file, start, end, after, source[start:end], line, lines[line - 1].strip()))
    return sorted(made)


def _operators(node: ast.AST) -> list[tuple[ast.expr, ast.AST, ast.expr]]:
    if isinstance(node, ast.Compare):
        return list(zip([node.left, *node.comparators], node.ops, node.comparators, strict=False))
    if isinstance(node, ast.BinOp):
        return [(node.left, node.op, node.right)]
    if isinstance(node, ast.BoolOp):
        return [(left, node.op, right) for left, right in zip(node.values, node.values[1:], strict=False)]
    return []


def _that_run(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below this one, but for annotations, texts, decorators, errors, and what nobody sees."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Raise):
                continue
            if isinstance(child, ast.keyword) and child.arg in UNSEEN:
                continue
            if isinstance(child, ast.Assign) and "ORDER" in ast.unparse(child.targets[0]):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            yield from _that_run(child)


@dataclass
class Attempt:
    """The tests of one mutant as they run in a process of their own, on a copy of the package."""

    mutant: Mutant | None
    copy: HouseCopy
    tests: list[list[str]]  # one list after the other, as long as none falls
    process: int = 0
    started: float = field(default_factory=time.monotonic)

    def start(self) -> None:
        self.output = self.copy.work / "output.txt"
        if mutant := self.mutant:
            source = (HOUSE / mutant.file).read_text(encoding="utf-8")
            self.copy.write(mutant.file, source[: mutant.start] + mutant.after + source[mutant.end :])
        self.process = os.fork()
        if not self.process:
            os._exit(self._test())

    def _test(self) -> int:
        os.setsid()
        descriptor = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(descriptor, stream)
        os.chdir(HOUSE)
        os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(self.copy.site)}
        sys.dont_write_bytecode = True
        sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(finder)]
        sys.path.insert(0, str(self.copy.site))
        import pytest

        code = 0
        for tests in self.tests:
            options = ["-q", "-x", "-n", "0", "--tb=no", "-p", "no:cacheprovider", *tests]
            code = code or int(bool(tests) and pytest.main([*options, f"--basetemp={self.copy.work / 'tmp'}"]))
        imported = getattr(sys.modules.get("convergebench"), "__file__", None)
        if imported and not Path(imported).is_relative_to(self.copy.site):
            print(f"FAILED: the tests imported {imported}")
            return 99
        sys.stdout.flush()
        return code

    def killer(self) -> str | None:
        """The first test that failed, or '' if all passed; None as long as they run."""
        ended, status = os.waitpid(self.process, os.WNOHANG)
        is_late = time.monotonic() - self.started > SECONDS
        if not ended and not is_late:
            return None
        with suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)  # with what its tests have started
        if not ended:
            os.waitpid(self.process, 0)
        if self.mutant:
            self.copy.write(self.mutant.file, (HOUSE / self.mutant.file).read_text(encoding="utf-8"))
        if not ended:
            return "no end"
        if os.waitstatus_to_exitcode(status) == 0:
            return ""
        lines = self.output.read_text(errors="replace").splitlines()
        failed = [line.split(" - ")[0].partition(" ")[2] for line in lines if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed else "\n".join(lines[-5:])


def attempt_all(chosen: list[Mutant], settings: dict, workers: int) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with what killed it, or ''; in the order in which they end."""
    waiting, running = list(reversed(chosen)), []
    copies = [HouseCopy(FOLDER / f"{os.getpid()}-{number}") for number in range(workers)]
    for copy in copies:
        compileall.compile_dir(copy.site, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    while waiting or running:
        while copies and waiting:
            mutant = waiting.pop()
            running.append(Attempt(mutant, copies.pop(), [settings["tests"][mutant.file], settings["also"]]))
            running[-1].start()
        time.sleep(0.05)
        for attempt in list(running):
            killer = attempt.killer()
            if killer is not None:
                running.remove(attempt)
                copies.append(attempt.copy)
                assert attempt.mutant
                yield attempt.mutant, killer


def tests_of_files(table: dict[str, list[str]]) -> dict[str, list[str]]:
    """The tests for each file; a name that ends with a slash is a folder, and what follows is more exact."""
    tests: dict[str, list[str]] = {}
    for name, its_tests in table.items():
        files = sorted((HOUSE / name).rglob("*.py")) if name.endswith("/") else [HOUSE / name]
        tests |= {path.relative_to(HOUSE).as_posix(): its_tests for path in files}
    return tests


def choose(options: argparse.Namespace, files: list[str]) -> list[Mutant]:
    """Every mutant of the files asked for, or a sample with a share of each file."""
    if options.only:
        return [mutant for file in files if file.startswith(options.only) for mutant in mutants(file)]
    every = [mutant for file in files for mutant in mutants(file)]
    chance, step = random.Random(options.seed), len(every) / options.count
    return [every[int((number + chance.random()) * step)] for number in range(options.count)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=520, help="how many, of all files together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="how the path begins of the files of which every mutant is tried")
    parser.add_argument("--resume", action="store_true", help="do not try what is in killed.json")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    settings = tomllib.loads(Path(__file__).with_name("files.toml").read_text(encoding="utf-8"))
    settings["tests"] = tests_of_files(settings["tests"])
    chosen = choose(options, list(settings["tests"]))
    reasons = {(row["file"], row["line"], row["after"]) for row in settings["equivalent"]}
    tried = [mutant for mutant in chosen if (mutant.file, mutant.text, mutant.after) not in reasons]
    known = json.loads(RESULTS.read_text()) if options.resume and RESULTS.exists() else {}
    killers = {str(mutant): known[str(mutant)] for mutant in tried if str(mutant) in known}
    os.environ["OMP_NUM_THREADS"] = "1"  # before they are loaded
    for name in LOADED_ONCE.split():
        __import__(name)
    for mutant, killer in attempt_all(
        [each for each in tried if str(each) not in killers], settings, options.workers
    ):
        if killer:
            killers[str(mutant)] = killer
            RESULTS.write_text(json.dumps(known | killers, indent=1))
        else:
            print(f"SURVIVED {mutant}", flush=True)
    count, killed = Counter(mutant.file for mutant in tried), Counter(name.partition(":")[0] for name in killers)
    for file in count:
        print(f"{killed[file]:4d} of {count[file]:4d} killed  {file}")
    share = killed.total() / max(1, len(tried))
    print(f"{killed.total()} of {len(tried)} killed ({share:.1%}), {len(chosen) - len(tried)} equivalent")
    return int(share < LEAST) or not _pass_alone(sorted(set(killers.values())))


def _pass_alone(killers: list[str]) -> bool:
    """Whether the tests that failed pass where nothing was changed."""
    check = Attempt(
        None, HouseCopy(FOLDER / f"{os.getpid()}-clean"), [[name for name in killers if name != "no end"]]
    )
    check.start()
    while (failed := check.killer()) is None:
        time.sleep(0.1)
    if failed:
        print(f"fails without a mutant too: {failed}")
    return not failed


if __name__ == "__main__":
    sys.exit(main())
