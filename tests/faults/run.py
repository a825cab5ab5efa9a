"""Random faults against runs, from outside, and what came of each: nothing lost, no money past a limit, nothing silent.

    python tests/faults/run.py [--faults 500 | --minutes 6] [--seed 1] [--only "bit flip"] [--course 17] [--keep FOLDER]

Each course is a run that is hurt about ten times and then brought to its end. Prints a table, and each finding with the
words that repeat its course. Ends with 1 where there is one. Moments are drawn from the seed; what a process does just
then is the machine's. It runs in a mount namespace of its own, because disks are made full and read-only.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

os.environ |= {"HF_HUB_OFFLINE": "1", "no_proxy": "127.0.0.1", "OMP_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parent.parent))

INSIDE = "CONVERGEBENCH_FAULTS_INSIDE"
A_COURSE = 10  # faults of one


def campaign(root: Path, options: argparse.Namespace) -> int:
    from faults import injuries, vendor
    from faults.dataset_course import DATASET, DatasetCourse, Made
    from faults.store_course import Course, Wrong, write_suite

    vendor.install(root / "site")
    sys.path.insert(0, str(root / "site"))
    os.environ["PYTHONPATH"] = str(root / "site")
    suite = write_suite(root / "suite")
    shop = vendor.Vendor(root, options.seed)
    preload()
    made = Made(root, suite)
    tries: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[str] = []
    money: Counter[str] = Counter()
    done, number, began = 0, options.course or 0, time.monotonic()
    while (done < options.faults) if not options.minutes else time.monotonic() < began + 60 * options.minutes:
        chance = Random(f"{options.seed} {number}")
        kind = options.kind or chance.choices(("money", "free", "dataset"), (5, 3, 2))[0]
        folder = root / f"course-{number}"
        course: Course = DatasetCourse(folder, made, chance)
        faults: Mapping[str, tuple[Callable[..., bool], float]] = DATASET
        if kind != "dataset":
            course = Course(folder, suite, chance, shop if kind == "money" else None, f"{options.seed}-{number}")
            faults = injuries.STORE
        names = [options.only] if options.only else list(faults)
        history: list[str] = []
        try:
            with injuries.small_disk(course.run.parent):
                course.begin()
                for _ in range(A_COURSE):
                    name = chance.choices(names, [faults[each][1] for each in names])[0]
                    history.append(name)
                    tries[name]["tried"] += 1
                    done += 1
                    tries[name]["met"] += faults[name][0](course)
                course.finish()
        except Wrong as error:
            tries[history[-1]]["wrong"] += 1
            findings.append(f"--seed {options.seed} --course {number} --faults 1, after {', '.join(history)}:\n{error}")
        except Exception:  # noqa: BLE001 -- of the campaign itself, and a finding too
            findings.append(
                f"--seed {options.seed} --course {number}, after {', '.join(history)}:\n{traceback.format_exc()}"
            )
        else:
            money["courses"] += 1
        if kind == "money":
            money["paid courses"] += 1
            money["billed"] += shop.billed(course.key).total()
            money["answers lost"] += course.lost.total()
            money["in flight at a kill"] += course.excused
            money["at their limit"] += (course.limit or 0) < 200
        number += 1
        if options.keep and findings:
            shutil.copytree(course.folder, options.keep, dirs_exist_ok=True)
            break
        course.close()
    shop.close()
    print(f"seed {options.seed}, {time.monotonic() - began:.0f} s\n{table_text(tries)}")
    print(money_text(money, vendor.PRICE))
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


class WithoutTorch:
    """As where torch is not installed: it takes seconds to import, and no command of the campaign needs it."""

    def find_spec(self, name: str, *about: object) -> None:
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"no module {name!r}", name="torch")


def preload() -> None:
    """What every command imports, once, before any is forked."""
    sys.meta_path.insert(0, WithoutTorch())
    import httpx  # noqa: F401
    from convergebench.cli import __main__, build, generate, report, score, verify  # noqa: F401
    from convergebench.dataset_builder.publishing import verify as verifying  # noqa: F401
    from convergebench.generation import editors, scheduler, suites  # noqa: F401
    from convergebench.generation.editors import bfl, identity, jpeg, noise, paint  # noqa: F401
    from convergebench.metric_modules._engine import engine  # noqa: F401
    from convergebench.spaces_app.reporting import write  # noqa: F401

    editors.choose("paint")


def table_text(tries: dict[str, Counter[str]]) -> str:
    """A row for each kind of fault."""
    lines = ["fault | tried | met the run under way | wrong"]
    for name, found in (*sorted(tries.items()), ("all", sum(tries.values(), Counter()))):
        lines.append(f"{name} | {found['tried']} | {found['met']} | {found['wrong']}")
    return "\n".join(lines)


def money_text(money: Counter[str], price: float) -> str:
    return (
        f"{money['courses']} courses ended whole; {money['paid courses']} had money, {money['at their limit']} of "
        f"them with a low limit: {money['billed']} calls billed (${money['billed'] * price:.2f}), never past a limit; "
        f"{money['answers lost']} paid answers lost, of at most {money['in flight at a kill']} in flight at a kill"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="", choices=("", "money", "free", "dataset"))
    parser.add_argument("--only", default="")
    parser.add_argument("--course", type=int)
    parser.add_argument("--keep", type=Path, help="leave the first course with a finding there")
    options = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        alone = ["unshare", "--mount", "--propagation", "private"] + ["--map-root-user"] * (os.geteuid() != 0)
        return subprocess.run([*alone, sys.executable, *sys.argv], check=False).returncode
    with (
        tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder,
        contextlib.suppress(KeyboardInterrupt),
    ):
        return campaign(Path(folder), options)
    return 1


if __name__ == "__main__":
    sys.exit(main())
