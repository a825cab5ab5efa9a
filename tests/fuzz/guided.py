"""Bytes that look for new paths through whatever reads bytes from outside, by two engines.

    python tests/fuzz/guided.py [--minutes 10] [--seed 1] [--only steps] [--engine atheris|hypothesis|both]
    python tests/fuzz/guided.py --only steps --repeat FILE

atheris, which is installed apart (pip install atheris), follows the branches that bytes take; hypothesis makes
documents of the right form with parts of them exchanged. The minutes are shared out: slow doors with much behind them
have more of them (SHARES). What a door may do is in doors.py; anything else is a finding, is printed with its bytes,
and ends in 1.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parent.parent))

if TYPE_CHECKING:
    from fuzz.doors import Door

SHOWN = 1500  # bytes of a finding that are printed
SHARES = {"parquet": 4, "uploads": 4, "endpoints": 4, "manifest": 4}  # the other doors have one share of the time each


def doors() -> "dict[str, type[Door]]":
    """All doors by their names."""
    from fuzz import doors, people_doors

    return {**doors.DOORS, **people_doors.DOORS}


def by_atheris(name: str, folder: Path, seconds: float, seed: int) -> None:
    """In a process of its own, which ends with the search: libFuzzer writes down what it found."""
    import atheris

    with atheris.instrument_imports(include=["convergebench"]):
        known = doors()
    door = known[name](folder / "door")
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(door.seeds):
        (corpus / f"{number:03d}").write_bytes(data)
    words = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed}", "-max_len=20000", "-timeout=60"]
    words += [
        f"-artifact_prefix={folder}/found-",
        "-rss_limit_mb=4000",
        "-print_final_stats=1",
        "-report_slow_units=10000",
    ]
    atheris.Setup([sys.argv[0], *words, str(corpus)], door.enter)
    atheris.Fuzz()


def by_hypothesis(name: str, folder: Path, seconds: float, seed: int) -> None:
    """Documents with other parts, the smallest one that is a finding last."""
    import hypothesis
    from fuzz.documents import documents

    door = doors()[name](folder / "door")
    until, count = time.monotonic() + seconds, 0

    class TimeIsUp(BaseException):
        """The end of the search."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=10**7,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    )
    @hypothesis.given(documents(door.seeds))
    def search(data: bytes) -> None:
        nonlocal count
        if time.monotonic() > until:
            raise TimeIsUp
        count += 1
        try:
            door.enter(data)
        except Exception:
            (folder / "found-shaped").write_bytes(data)
            raise

    try:
        search()
    except TimeIsUp:
        pass
    except Exception:  # noqa: BLE001 -- whatever is raised is what we look for
        print(traceback.format_exc()[-4000:], file=sys.stderr)
    print(f"stat::number_of_executed_units: {count}", file=sys.stderr)


def search(engine: str, name: str, seconds: float, seed: int) -> tuple[int, list[str]]:
    """How many bytes were tried at a door, and the findings."""
    with tempfile.TemporaryDirectory(prefix="guided-") as made:
        folder = Path(made)
        words = [sys.executable, __file__, "--inside", engine, str(folder), str(seconds), "--only", name]
        done = subprocess.run(
            [*words, "--seed", str(seed)], capture_output=True, timeout=seconds * 3 + 300, check=False
        )
        said = (done.stdout + done.stderr).decode(errors="replace")
        tried = re.search(r"stat::number_of_executed_units:\s+(\d+)", said)
        found = []
        for path in sorted(folder.glob("found-[!s]*")) + sorted(folder.glob("found-shaped")):
            data = path.read_bytes()
            why = said.partition("Uncaught Python exception")[2][:1800] or said[-1800:]
            found.append(f"{name} by {engine}, {len(data)} bytes: {data[:SHOWN]!r}\n{why}")
        if not tried and not found:
            found.append(f"{name} by {engine} did not run: {said[-1500:]}")
        return int(tried[1]) if tried else 0, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--engine", choices=("atheris", "hypothesis", "both"), default="both")
    parser.add_argument("--repeat", type=Path, help="only these bytes")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        engine, folder, seconds = given.inside
        (by_atheris if engine == "atheris" else by_hypothesis)(given.only[0], Path(folder), float(seconds), given.seed)
        return 0
    if given.repeat:
        with tempfile.TemporaryDirectory() as made:
            doors()[given.only[0]](Path(made) / "door").enter(given.repeat.read_bytes())
        return 0
    engines = ("atheris", "hypothesis") if given.engine == "both" else (given.engine,)
    names = given.only or list(doors())
    shares = {name: SHARES.get(name, 1) for name in names}
    seconds = 60 * given.minutes / sum(shares.values()) / len(engines)
    findings: list[str] = []
    print(f"seed {given.seed}\ndoor | engine | seconds | tried | findings")
    for name in names:
        for engine in engines:
            tried, found = search(engine, name, seconds * shares[name], given.seed)
            findings += found
            print(f"{name} | {engine} | {seconds * shares[name]:.0f} | {tried:,} | {len(found)}", flush=True)
            for each in found:
                print(each, file=sys.stderr, flush=True)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
