"""Pictures per second of scoring on two cores beside one, and what the machine allows: two jobs of one core each.

python tests/benchmarks/scaling.py     under four minutes if nothing else runs; docs/limits.md has what it printed

Two sizes of job tell the start (imports, networks, the index) from the time of each picture. All ways take turns, and
the fastest turn of each counts.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import scoring
from timing import remove_scores

ASKED, SIDE, TURNS = "psnr,ssim,lpips", 512, 2
CHAINS = 8  # as many in both sizes, so that the originals are compared with each other as often
STEPS = (6, 60)  # of each chain
WAYS = {
    "one core": [("one", "0")],
    "two cores, threads": [("one", "0,1")],
    "two jobs": [("one", "0"), ("two", "1")],
}
OPTIONS = ["--metrics", ASKED, "--device", "cpu", "--dtype", "float32"]


def seconds(folder: Path, jobs: list[tuple[str, str]]) -> float:
    """Wall seconds of scoring these datasets at once, each on its cores."""
    for name, _ in jobs:
        remove_scores(folder / name)
    started, command = time.perf_counter(), [sys.executable, "-m", "convergebench", "score"]
    running = [
        subprocess.Popen(["taskset", "-c", cores, *command, folder / name, *OPTIONS], stdout=subprocess.DEVNULL)
        for name, cores in jobs
    ]
    statuses = [process.wait() for process in running]
    assert not any(statuses)
    return time.perf_counter() - started


def main(place: Path) -> None:
    scoring.without_network(place)
    folders = {CHAINS * steps: place / str(steps) for steps in STEPS}
    for steps, folder in zip(STEPS, folders.values(), strict=True):
        folder.mkdir()
        shutil.copytree(scoring.chains(folder, CHAINS, steps, SIDE).rename(folder / "one"), folder / "two")
    spent: dict[tuple[str, int], float] = {}
    for way, size in [*product(WAYS, folders)] * TURNS:
        spent[way, size] = min(seconds(folders[size], WAYS[way]), spent.get((way, size), float("inf")))
    few, many = folders
    print(f"{few} and {many} pictures of {SIDE}x{SIDE}, {ASKED} in float32; load {os.getloadavg()[0]:.1f}")
    print(f"{'':24}{f'{few}, s':>9}{f'{many}, s':>9}{'start, s':>10}{'pictures/s':>12}")
    rates = {}
    for way, jobs in WAYS.items():
        seconds_per_picture = (spent[way, many] - spent[way, few]) / (many - few)
        rates[way] = len(jobs) / seconds_per_picture
        start = spent[way, few] - few * seconds_per_picture
        print(f"{way:24}{spent[way, few]:9.1f}{spent[way, many]:9.1f}{start:10.1f}{rates[way]:12.1f}")
    for way in list(WAYS)[1:]:
        print(f"{way}: {rates[way] / rates['one core']:.2f} x one core in pictures a second")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
