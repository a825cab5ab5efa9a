"""Throughput of scoring on two cores beside one: eight tasks by datatrove on this machine, and one process on one core.

python tests/benchmarks/scaling.py

Both take turns, and the fastest turn of each counts, with all that starting costs. Wanted: at least 1.7.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import limits
import scoring

TURNS, CHAINS, STEPS = 2, 32, 12


def seconds(dataset: Path, cores: int, *words: str) -> float:
    """From the start of the program to its end, on so many of the cores."""
    for made in ("data/scores", "data/floors", ".scoring"):
        shutil.rmtree(dataset / made, ignore_errors=True)
    mine = sorted(os.sched_getaffinity(0))[:cores]
    command = [sys.executable, "-m", "convergebench.cli", "score", str(dataset), "--metrics", limits.ASKED, *words]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--device", "cpu", "--dtype", "float32", "--json"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, mine),
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.perf_counter() - started


def main() -> None:
    scoring.SIDE = 512
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        sys.path.insert(0, str(Path(__file__).parents[1]))
        import scored

        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        scored.lpips_weights(place / "cache")
        dataset = scoring.chains(place, CHAINS, STEPS)
        one, two, tasks = [], [], []
        for _ in range(TURNS):
            one.append(seconds(dataset, 1))
            two.append(seconds(dataset, 2))
            tasks.append(seconds(dataset, 2, "--executor", "local", "--tasks", "8"))
    pictures = CHAINS * STEPS
    print(f"{pictures} pictures of 512x512, {limits.ASKED}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for title, values in (("one core", one), ("two cores, threads", two), ("two cores, eight tasks", tasks)):
        best = min(values)
        print(f"  {title:24} {best:6.1f} s, {pictures / best:5.1f} pictures/s, {min(one) / best:4.2f} x one core")


if __name__ == "__main__":
    main()
