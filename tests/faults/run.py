"""Random faults against runs, from outside, and what came of each: nothing lost, no money past a limit, nothing silent.

    python tests/faults/run.py [--faults 500] [--seed 1] [--course 17]

Each course is a run that is hurt about ten times and then brought to its end. Prints a table, and each finding with the
words that repeat its course. Ends with 1 where there is one. Moments are drawn from the seed; what a process does just
then is the machine's. It runs in a mount namespace of its own, because disks are made full and read-only.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

os.environ |= {"HF_HUB_OFFLINE": "1", "no_proxy": "127.0.0.1", "OMP_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parent.parent))

import stores
from faults import injuries, vendor
from faults.course import Course, Wrong
from faults.dataset_course import DatasetCourse

INSIDE = "CONVERGEBENCH_FAULTS_INSIDE"
A_COURSE = 10  # faults of one


def campaign(root, options):
    """Courses one after the other, and what came of them."""
    suite = stores.own_suite(root / "suite", Path(__file__).with_name("faults.toml").read_text())
    shop = vendor.Vendor(root, options.seed)
    preload()
    tries = defaultdict(Counter)
    findings = []
    number, began = options.course or 0, time.monotonic()
    while sum(found["tried"] for found in tries.values()) < options.faults:
        name, chance = f"{options.seed}-{number}", Random(f"{options.seed} {number}")
        kind = chance.choices(("money", "free", "dataset"), (6, 3, 1))[0]
        folder, faults = root / f"course-{number}", injuries.STORE
        if kind == "dataset":
            faults = injuries.DATASET
            course = DatasetCourse(folder, suite, chance, name)
        else:
            course = Course(folder, suite, chance, shop if kind == "money" else None, name)
        print(f"course {number}, {kind} ...", file=sys.stderr, flush=True)
        history, wrong = one_course(course, faults, tries)
        if wrong:
            repeat = f"--seed {options.seed} --course {number} --faults 1"
            findings.append(f"{repeat}, after {', '.join(history)}:\n{wrong}")
        print(f"course {number}, {kind}: {', '.join(history)}: {wrong or 'whole'}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        number += 1
    print(f"seed {options.seed}, {time.monotonic() - began:.0f} s")
    print("fault | tried | met the run under way | wrong")
    for name, found in (*sorted(tries.items()), ("all", sum(tries.values(), Counter()))):
        print(f"{name} | {found['tried']} | {found['met']} | {found['wrong']}")
    print(*findings, sep="\n", file=sys.stderr)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


def one_course(course, faults, tries):
    """One run or dataset: about ten faults, its end, and what was wrong."""
    history = []
    try:
        with injuries.small_disk(course.disk):
            course.begin()
            while len(history) < A_COURSE:
                name = course.chance.choices(list(faults), [share for _, share in faults.values()])[0]
                history.append(name)
                tries[name]["tried"] += 1
                tries[name]["met"] += faults[name][0](course)
            course.finish()
    except Wrong as error:
        tries[history[-1]]["wrong"] += 1
        return history, str(error)
    except Exception:  # noqa: BLE001 -- of the campaign itself, and a finding too
        return history, traceback.format_exc()
    return history, ""


def preload():
    """What every command imports, once, before any is forked; and small pictures, so that a course is short."""
    # As where torch is not installed: it takes seconds to import, and no command of the campaign needs it.
    sys.modules["torch"] = None
    import httpx2  # noqa: F401
    from convergebench.cli import __main__, build, generate, report, score  # noqa: F401
    from convergebench.dataset_builder.publishing import verify as verifying  # noqa: F401
    from convergebench.generation import editors, scheduler, suites  # noqa: F401
    from convergebench.generation.editors import bfl, paint  # noqa: F401
    from convergebench.metric_modules._engine import engine  # noqa: F401
    from convergebench.spaces_app.reporting import write  # noqa: F401

    bfl.Editor.sizes = lambda editor: ()
    editors.choose("paint")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--course", type=int)
    options = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        alone = ["unshare", "--mount", "--propagation", "private"] + ["--map-root-user"] * (os.geteuid() != 0)
        return subprocess.run([*alone, sys.executable, *sys.argv], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        return campaign(Path(folder), options)


if __name__ == "__main__":
    sys.exit(main())
