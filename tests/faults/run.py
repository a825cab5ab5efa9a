"""Random faults against runs, from outside, and what came of each: nothing lost, no money past a limit, nothing silent.

    python tests/faults/run.py [--faults 500] [--seed 1] [--course 17]

Each course is a run that is hurt about ten times and then brought to its end. Prints a table, and each finding with the
words that repeat its course. Ends with 1 where there is one. Moments are drawn from the seed; what a process does just
then is the machine's. It runs in a mount namespace of its own, because disks are made full and read-only.
"""

import argparse
import contextlib
import functools
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

os.environ |= {"HF_HUB_OFFLINE": "1", "no_proxy": "127.0.0.1", "OMP_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parent.parent))

if TYPE_CHECKING:
    from faults.dataset_course import Made

INSIDE = "CONVERGEBENCH_FAULTS_INSIDE"
A_COURSE = 10  # faults of one


class Campaign:
    """Courses one after the other, and what came of them."""

    def __init__(self, root: Path, options: argparse.Namespace):
        from faults import vendor
        from faults.course import write_suite

        vendor.install(root / "site")
        sys.path.insert(0, str(root / "site"))
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(root / "site"), os.environ.get("PYTHONPATH")])
        )
        self.root, self.options = root, options
        self.suite = write_suite(root / "suite")
        self.shop = vendor.Vendor(root, options.seed)
        preload()
        self.tries: dict[str, Counter[str]] = defaultdict(Counter)
        self.findings: list[str] = []
        self.money: Counter[str] = Counter()
        self.done, self.began = 0, time.monotonic()

    @functools.cached_property
    def made(self) -> "Made":
        from faults.dataset_course import Made

        return Made(self.root, self.suite)

    def run(self) -> int:
        number = self.options.course or 0
        while self.done < self.options.faults:
            self.one_course(number)
            number += 1
        self.shop.close()
        seconds = time.monotonic() - self.began
        print(f"seed {self.options.seed}, {seconds:.0f} s\n{table_text(self.tries)}\n{self.money_text()}")
        for finding in self.findings:
            print(finding, file=sys.stderr)
        print(f"{len(self.findings)} findings")
        return 1 if self.findings else 0

    def one_course(self, number: int) -> None:
        """One run or dataset: about ten faults, and its end."""
        from faults import injuries
        from faults.course import Course, Wrong
        from faults.dataset_course import DatasetCourse

        chance = Random(f"{self.options.seed} {number}")
        kind = chance.choices(("money", "free", "dataset"), (6, 3, 1))[0]
        folder = self.root / f"course-{number}"
        course: Course
        if kind == "dataset":
            course, faults = DatasetCourse(folder, self.made, chance), injuries.DATASET
        else:
            shop = self.shop if kind == "money" else None
            course, faults = (
                Course(folder, self.suite, chance, shop, f"{self.options.seed}-{number}"),
                injuries.STORE,
            )
        print(f"course {number}, {kind} ...", file=sys.stderr, flush=True)
        shares = [share for _, share in faults.values()]
        history: list[str] = []
        wrong = ""
        try:
            with injuries.small_disk(course.disk):
                course.begin()
                while len(history) < A_COURSE:
                    name = chance.choices(list(faults), shares)[0]
                    history.append(name)
                    self.tries[name]["tried"] += 1
                    self.tries[name]["met"] += faults[name][0](course)
                course.finish()
        except Wrong as error:
            self.tries[history[-1]]["wrong"] += 1
            wrong = str(error)
        except Exception:  # noqa: BLE001 -- of the campaign itself, and a finding too
            wrong = traceback.format_exc()
        self.done += len(history)
        self.money["courses"] += not wrong
        if wrong:
            repeat = f"--seed {self.options.seed} --course {number} --faults 1"
            self.findings.append(f"{repeat}, after {', '.join(history)}:\n{wrong}")
        if kind == "money":
            self.money["paid courses"] += 1
            self.money["billed"] += self.shop.billed(course.key).total()
            self.money["answers lost"] += course.lost.total()
            self.money["in flight at a kill"] += course.excused
            self.money["at their limit"] += (course.limit or 0) < 200
        print(f"course {number}, {kind}: {', '.join(history)}: {wrong or 'whole'}", file=sys.stderr, flush=True)
        course.close()

    def money_text(self) -> str:
        from faults.vendor import PRICE

        known = self.money
        return (
            f"{known['courses']} courses ended whole; {known['paid courses']} had money, {known['at their limit']} of "
            f"them with a low limit: {known['billed']} calls billed (${known['billed'] * PRICE:.2f}), never past a "
            f"limit; {known['answers lost']} paid answers lost, of at most {known['in flight at a kill']} in flight "
            "at a kill"
        )


class WithoutTorch:
    """As where torch is not installed: it takes seconds to import, and no command of the campaign needs it."""

    def find_spec(self, name: str, *about: object) -> None:
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"no module {name!r}", name="torch")


def preload() -> None:
    """What every command imports, once, before any is forked."""
    sys.meta_path.insert(0, WithoutTorch())
    import httpx2  # noqa: F401
    from convergebench.cli import __main__, build, generate, report, score  # noqa: F401
    from convergebench.dataset_builder.publishing import verify as verifying  # noqa: F401
    from convergebench.generation import editors, scheduler, suites  # noqa: F401
    from convergebench.generation.editors import bfl, paint  # noqa: F401
    from convergebench.metric_modules._engine import engine  # noqa: F401
    from convergebench.spaces_app.reporting import write  # noqa: F401

    editors.choose("paint")


def table_text(tries: dict[str, Counter[str]]) -> str:
    """A row for each kind of fault."""
    lines = ["fault | tried | met the run under way | wrong"]
    for name, found in (*sorted(tries.items()), ("all", sum(tries.values(), Counter()))):
        lines.append(f"{name} | {found['tried']} | {found['met']} | {found['wrong']}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--course", type=int)
    options = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        alone = ["unshare", "--mount", "--propagation", "private"] + ["--map-root-user"] * (os.geteuid() != 0)
        return subprocess.run([*alone, sys.executable, *sys.argv], check=False).returncode
    with (
        tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder,
        contextlib.suppress(KeyboardInterrupt),
    ):
        return Campaign(Path(folder), options).run()
    return 1


if __name__ == "__main__":
    sys.exit(main())
