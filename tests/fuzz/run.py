"""Seeded mutations of everything that is read, and what came of each: no silent wrong, no traceback, no hang.

    python tests/fuzz/run.py [--mutations 2000 | --minutes 10] [--seed 1] [--only store] [--number 17]

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
PATIENCE = 90  # seconds of work that one mutation may take
LONGEST = 900  # seconds by the clock, on a busy machine
OUTCOMES = ("named", "the same", "taken", "silent or wrong", "traceback", "hang")


class Hang(Exception):
    """A mutation that does not end."""


def on_alarm(number: int, frame: object) -> None:
    raise Hang


def try_one(shop: Workshop, target: str, seed: int, number: int) -> tuple[str, str]:
    """What came of one mutation, and the finding if there is one."""
    chance = Random(f"{seed} {target} {number}")
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(LONGEST)
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
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        shop.clean()


def campaign(root: Path, options: argparse.Namespace) -> tuple[dict[str, Counter[str]], list[str]]:
    """Counts of outcomes by target, and the findings."""
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGPROF, on_alarm)
    shop = Workshop(root)
    draw = Random(options.seed)
    names = [options.only] if options.only else list(SHARES)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[str] = []
    until, done = time.monotonic() + 60 * options.minutes, 0
    while time.monotonic() < until if options.minutes else done < options.mutations:
        target = draw.choices(names, [SHARES[name] for name in names])[0]
        number = counts[target].total() if options.number is None else options.number
        outcome, finding = try_one(shop, target, options.seed, number)
        counts[target][outcome] += 1
        done += 1
        if finding:
            findings.append(f"--seed {options.seed} --only {target!r} --number {number} --mutations 1\n{finding}")
            print(findings[-1], file=sys.stderr, flush=True)
    return counts, findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", choices=("", *SHARES))
    parser.add_argument("--number", type=int)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        counts, findings = campaign(Path(folder) / "work", options)
    print(f"seed {options.seed}, {time.monotonic() - began:.0f} s")
    print(" | ".join(("target", "mutations", *OUTCOMES)))
    for name, outcomes in (*sorted(counts.items()), ("all", sum(counts.values(), Counter()))):
        print(" | ".join((name, str(outcomes.total()), *(str(outcomes[outcome]) for outcome in OUTCOMES))))
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
