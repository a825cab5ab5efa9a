"""Seeded mutations of everything that is read, and what came of each: no silent wrong, no traceback, no hang.

    python tests/fuzz/run.py [--mutations 2000] [--seed 1] [--only store] [--number 17]

Prints one table, and each finding with the words that repeat it. Exits with status 1 if there is a finding.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.answers import DOORS
from fuzz.targets import TARGETS
from fuzz.workshop import Workshop, Wrong

SHARES = {name: share for name, (_, share) in TARGETS.items()} | dict.fromkeys(DOORS, 2)
PATIENCE = 600  # seconds that one mutation may take on a busy machine
OUTCOMES = ("named", "the same", "taken", "silent or wrong", "traceback", "hang")


class Hang(Exception):
    """A mutation that does not end."""


def on_alarm(number, frame):
    raise Hang


def try_one(shop, target, seed, number):
    """What came of one mutation, and the finding if there is one."""
    chance = Random(f"{seed} {target} {number}")
    signal.alarm(PATIENCE)
    try:
        if target in DOORS:
            return shop.door(target, DOORS[target]).enter_mutated(chance), ""
        return TARGETS[target][0](shop, chance), ""
    except Wrong as error:
        return ("traceback" if str(error).startswith("traceback") else "silent or wrong"), str(error)
    except Hang:
        return "hang", "".join(traceback.format_exc().splitlines(keepends=True)[-12:])
    except (Exception, RecursionError):  # noqa: BLE001 -- whatever is raised is what we look for
        return "traceback", "".join(traceback.format_exc().splitlines(keepends=True)[-14:])
    finally:
        signal.alarm(0)
        shop.clean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", choices=("", *SHARES))
    parser.add_argument("--number", type=int)
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, on_alarm)
    draw, began, findings = Random(options.seed), time.monotonic(), 0
    names = [options.only] if options.only else list(SHARES)
    counts = defaultdict(Counter)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        shop = Workshop(Path(folder) / "work")
        for target in draw.choices(names, [SHARES[name] for name in names], k=options.mutations):
            number = counts[target].total() if options.number is None else options.number
            outcome, finding = try_one(shop, target, options.seed, number)
            counts[target][outcome] += 1
            if finding:
                findings += 1
                repeat = f"--seed {options.seed} --only {target!r} --number {number} --mutations 1"
                print(repeat, finding, sep="\n", file=sys.stderr, flush=True)
    print(f"seed {options.seed}, {time.monotonic() - began:.0f} s")
    print(" | ".join(("target", "mutations", *OUTCOMES)))
    for name, outcomes in (*sorted(counts.items()), ("all", sum(counts.values(), Counter()))):
        print(" | ".join((name, str(outcomes.total()), *(str(outcomes[outcome]) for outcome in OUTCOMES))))
    print(f"{findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
