"""Seeded mutations of everything that is read, and what came of each: no silent wrong, no traceback, no hang.

    python tests/fuzz/run.py [--mutations 2000 | --minutes 10] [--seed 1] [--only store] [--number 17]

Prints one table, and each finding with the words that repeat it. Ends with 1 where there is one.
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

from fuzz.targets import TARGETS
from fuzz.workshop import Workshop, Wrong

PATIENCE = 90  # seconds of work that one mutation may take
LONGEST = 900  # seconds by the clock, on a busy machine
OUTCOMES = ("named", "the same", "taken", "silent or wrong", "traceback", "hang")


class Hang(Exception):
    """A mutation that does not end."""


def on_alarm(number: int, frame: object) -> None:
    raise Hang


def try_one(shop: Workshop, target: str, seed: int, number: int) -> tuple[str, str]:
    """What came of one mutation, and the finding where there is one."""
    chance = Random(f"{seed} {target} {number}")
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(LONGEST)
    try:
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


def campaign(
    root: Path, mutations: int = 0, minutes: float = 0, seed: int = 1, only: str = "", number: int | None = None
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Counts of outcomes by target, and the findings."""
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGPROF, on_alarm)
    shop = Workshop(root)
    draw = Random(seed)
    names = [only] if only else list(TARGETS)
    shares = [TARGETS[name][1] for name in names]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    findings = []
    until = time.monotonic() + 60 * minutes
    done = 0
    while done < mutations if mutations else time.monotonic() < until:
        target = draw.choices(names, shares)[0]
        place = number if number is not None else sum(counts[target].values())
        outcome, finding = try_one(shop, target, seed, place)
        counts[target][outcome] += 1
        done += 1
        if finding:
            findings.append(f"--seed {seed} --only {target!r} --number {place} --mutations 1\n{finding}")
            print(findings[-1], file=sys.stderr, flush=True)
    return counts, findings


def table_text(counts: dict[str, Counter[str]]) -> str:
    """A row for each target with its outcomes."""
    lines = [" | ".join(("target", "mutations", *OUTCOMES))]
    for name, found in (*sorted(counts.items()), ("all", sum(counts.values(), Counter()))):
        lines.append(" | ".join((name, str(found.total()), *(str(found[each]) for each in OUTCOMES))))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", choices=("", *TARGETS))
    parser.add_argument("--number", type=int)
    given = parser.parse_args()
    amount = {"minutes": given.minutes} if given.minutes else {"mutations": given.mutations or 2000}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        counts, findings = campaign(
            Path(folder) / "work", **amount, seed=given.seed, only=given.only, number=given.number
        )
    print(f"seed {given.seed}, {time.monotonic() - began:.0f} s\n{table_text(counts)}\n{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
