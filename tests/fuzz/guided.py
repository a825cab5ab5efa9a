"""Bytes that follow new branches through whatever reads bytes from outside, found by atheris.

    python tests/fuzz/guided.py [--minutes 10] [--seed 1] [--only LedgerLines]

atheris is installed apart (`make fuzz-guided` does). doors.py says what may become of bytes; anything else is a
finding: it is printed with its bytes, and the exit status is 1.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parent.parent))

SHOWN = 1500  # bytes of a finding that are printed
SHARES = dict.fromkeys(("Card", "Table", "Endpoints", "vendors"), 4)  # slow doors; others have one share of time


def search_inside(name, folder, seconds, seed):
    """Search in this process, which ends with the search: libFuzzer writes down what it found."""
    import atheris

    with atheris.instrument_imports(include=["convergebench"]):
        from fuzz.answers import DOORS
        from fuzz.mutations import mutate
    door = DOORS[name](folder / "door")

    def change(data, most, number):
        """Half of the time JSON stays JSON and a table a table: libFuzzer's own bytes seldom pass a parser."""
        chance = Random(number)
        start = chance.choice((data, chance.choice(door.seeds)))
        changed = mutate(start, chance, door.seeds, text=True) if chance.random() < 0.5 else None
        return (changed or atheris.Mutate(data, len(data) or 1))[:most]

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(door.seeds):
        (corpus / f"{number:03d}").write_bytes(data)
    options = {"max_total_time": max(1, round(seconds)), "seed": seed, "max_len": 20000, "timeout": 60,
               "artifact_prefix": f"{folder}/found-", "rss_limit_mb": 4000, "print_final_stats": 1}  # fmt: skip
    words = [f"-{option}={value}" for option, value in options.items()]
    atheris.Setup([sys.argv[0], *words, str(corpus)], door.enter, custom_mutator=change)
    atheris.Fuzz()


def search(name, seconds, seed):
    """How many bytes were tried at a door, and the findings."""
    with tempfile.TemporaryDirectory(prefix="guided-") as folder:
        words = [sys.executable, __file__, "--inside", folder, str(seconds), "--only", name, "--seed", str(seed)]
        done = subprocess.run(words, capture_output=True, timeout=seconds * 3 + 300, check=False)
        output = (done.stdout + done.stderr).decode(errors="replace")
        tried = re.search(r"stat::number_of_executed_units:\s+(\d+)", output)
        reason = output.partition("Uncaught Python exception")[2][:1800] or output[-1800:]
        findings = [
            f"{name}, {path.stat().st_size} bytes: {path.read_bytes()[:SHOWN]!r}\n{reason}"
            for path in sorted(Path(folder).glob("found-*"))
        ]
        if not tried and not findings:
            findings.append(f"{name} did not run: {output[-1500:]}")
        return int(tried[1]) if tried else 0, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a door of doors.py or answers.py")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        folder, seconds = options.inside
        search_inside(options.only[0], Path(folder), float(seconds), options.seed)
        return 0
    from fuzz.answers import DOORS

    names = options.only or list(DOORS)
    seconds = 60 * options.minutes / sum(SHARES.get(name, 1) for name in names)
    findings = []
    print(f"seed {options.seed}\ndoor | seconds | tried | findings")
    for name in names:
        tried, found = search(name, seconds * SHARES.get(name, 1), options.seed)
        findings += found
        print(f"{name} | {seconds * SHARES.get(name, 1):.0f} | {tried:,} | {len(found)}", flush=True)
        print("\n".join(found), file=sys.stderr, flush=True)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
