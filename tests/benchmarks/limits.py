"""The cost model of docs/limits.md, fitted on this machine: what a picture costs to score by 1, 2 and 4 processes.

python tests/benchmarks/limits.py           measures, fits and prints: about three minutes where nothing else runs
python tests/benchmarks/limits.py --write   writes the tables of docs/limits.md too

Seconds of the processor are fitted, which other programs disturb less than the clock; what is measured is measured in
several turns, and the least of each counts. How far the turns are apart is said, and so is what other programs took.
LPIPS has random weights, and CLIP is counted by its multiplications: see `scoring.py` for what this machine makes of
them.
"""

import argparse
import os
import platform
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import scoring
from timing import Spent, remove_scores, run_programs, write_between

ASKED = "psnr,ssim,lpips"
PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
GPUS = {  # multiplications and additions a second in bfloat16 without sparsity, as the maker states; bytes a second
    "L4": (121e12, 300e9),
    "A100": (312e12, 1555e9),
    "H100": (989e12, 3350e9),
}
REACHED = 0.4  # of a stated peak, by a transformer on batches of 32; an assumption, not a measurement
CORES = 8  # of a machine, beside each GPU; an assumption
STEPS = 10_000_000
TURNS = 3
FEW, MANY = (4, 4), (4, 32)  # chains, and pictures of each; as many originals are compared with each other in both
SIZES = (300, 1_000, 10_000)  # pictures


class Fit(NamedTuple):
    """Seconds of the processor: so many for each process before its first picture, and so many for a picture."""

    processes: int
    start: float
    picture: float
    clock: float  # pictures a second, between the two sizes of job


def busy() -> float:
    """Seconds that all cores together were at work since the machine started; 0 where the system does not say."""
    try:
        words = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return 0.0
    idle, waiting = int(words[3]), int(words[4])
    return (sum(map(int, words[:8])) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def command(dataset: Path, *words: str) -> list[str]:
    """The program that scores a dataset anew."""
    remove_scores(dataset)
    scored = [sys.executable, "-m", "convergebench.cli", "score", str(dataset), "--metrics", ASKED, "--device", "cpu"]
    return [*scored, "--dtype", "float32", "--json", *words]


def score(dataset: Path, processes: int) -> Spent:
    os.environ["LOCAL_WORLD_SIZE"] = str(processes)
    parts = [command(dataset, "--shard", f"{part}/{processes}") for part in range(processes)]
    return run_programs(*((part, None) for part in parts))


def fit_scores(few: Path, many: Path) -> tuple[list[Fit], float]:
    """A line through two sizes for each number of processes, and by how much turns differ in the median."""
    sizes = {few: FEW[0] * FEW[1], many: MANY[0] * MANY[1]}
    seen: dict[tuple[int, Path], list[Spent]] = defaultdict(list)
    for turn in range(TURNS):
        for processes in (1, 2, 4):
            for dataset in sizes:
                seen[processes, dataset].append(score(dataset, processes))
        print(f"turn {turn + 1} of {TURNS}", file=sys.stderr)
    found = []
    for processes in (1, 2, 4):
        turns = [seen[processes, dataset] for dataset in sizes]
        less, more = (min(spent.processor for spent in each) for each in turns)
        quick, long = (min(spent.clock for spent in each) for each in turns)
        between = sizes[many] - sizes[few]
        picture = (more - less) / between
        start = max(0.0, less - picture * sizes[few]) / processes
        found.append(Fit(processes, start, picture, between / (long - quick)))
    spread = [max(turn.processor for turn in turns) / min(turn.processor for turn in turns) for turns in seen.values()]
    return found, statistics.median(spread) - 1


def parts_of_a_picture(dataset: Path) -> dict[str, float]:
    """Seconds of one core for each part of scoring one picture of this size."""
    from convergebench.metric_modules._engine import engine, worker

    worker.count_cores = lambda: 1
    asked, turns = ["psnr", "ssim", "lpips", "registration", "edit_applied"], []
    for _ in range(TURNS):
        shutil.rmtree(dataset / "data" / "scores", ignore_errors=True)
        job, started = engine.prepare(dataset, asked, "cpu", "float32"), time.process_time()
        outcome = engine.run(job)
        turns.append((time.process_time() - started, outcome))
    seconds, outcome = min(turns, key=lambda turn: turn[0])
    return {name: share * seconds / outcome.images for name, share in outcome.shares.items() if name != "floors"}


def decode_seconds(dataset: Path) -> tuple[float, int]:
    """Seconds of one core to read and decode a picture, and its bytes."""
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.generation.pictures import decode_array

    reader = Reader(dataset)
    data = [reader.picture_at(place, "image") for place in reader.places("steps")]
    turns = []
    for _ in range(TURNS):
        started = time.process_time()
        for each in data:
            decode_array(each)
        turns.append(time.process_time() - started)
    return min(turns) / len(data), sum(map(len, data)) // len(data)


def table(rows: list[list[object]], *titles: str) -> str:
    lines = [list(titles), ["---", *["--:"] * (len(titles) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def speedup(one: Fit, many: Fit, pictures: int) -> float:
    """How many times as fast so many processes are as one, each on a core that nobody else uses."""
    alone = one.start + pictures * one.picture
    return alone / (many.start + pictures * many.picture / many.processes)


def hours(seconds: float) -> str:
    return f"{seconds / 3600:,.0f} h" if seconds >= 7200 else f"{seconds / 60:,.1f} min"


def tables(fits: list[Fit], noise: str, parts: dict[str, float], decode: float, size: int) -> str:
    """What was measured, and what it says for machines that are not here."""
    first = fits[0]
    found = [
        f"Measured on {platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}; pictures "
        f"of {scoring.SIDE}x{scoring.SIDE}, {size / 1e6:.2f} MB each as PNG; metrics {ASKED} in float32. {noise}",
        table(
            [[f.processes, f"{f.start:.1f}", f"{1000 * f.picture:.0f}", f"{f.picture / first.picture:.2f}",
              f"{f.clock:.1f}"] for f in fits],
            "processes", "start, s of the processor each", "a picture, ms of the processor", "beside one process",
            "pictures/s by the clock",
        ),
        "Two processes on two cores that nobody else uses are, by this fit, so many times as fast as one: "
        + ", ".join(f"{speedup(first, fits[1], count):.2f} for {count:,} pictures" for count in SIZES) + ".",
        f"One picture on one core, ms: decoding {1000 * decode:.0f}, "
        + ", ".join(f"{name} {1000 * seconds:.0f}" for name, seconds in parts.items()) + ".",
    ]  # fmt: skip
    own = decode + sum(seconds for name, seconds in parts.items() if name != "lpips")
    work = {"CLIP": scoring.CLIP, "LPIPS": scoring.ALEXNET * (scoring.SIDE / 1024) ** 2}
    rows: list[list[object]] = []
    for name, (speed, _) in GPUS.items():
        networks = sum(work.values()) / (speed * REACHED)
        for count in (1, 8, 64):
            cores = STEPS * own / (CORES * count)
            rows.append([f"{count} x {name}", hours(STEPS * networks / count), hours(cores),
                         f"{cores * count / (STEPS * networks):.0f} x"])  # fmt: skip
    found.append(f"Ten million steps of this size, with every metric ({CORES} cores beside each GPU):")
    found.append(table(rows, "GPUs", "networks, GPU at work", "the rest, cores at work", "cores busy longer by"))
    return "\n\n".join(found)


def main() -> str:
    scoring.SIDE = 512
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        scoring.without_network(place)
        for folder in ("few", "many"):
            (place / folder).mkdir()
        few, many = scoring.chains(place / "few", *FEW), scoring.chains(place / "many", *MANY)
        began, before = busy(), time.perf_counter()
        fits, spread = fit_scores(few, many)
        ours = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = (time.perf_counter() - before) * (os.cpu_count() or 1)
        others = max(0.0, busy() - began - ours.ru_utime - ours.ru_stime) / whole
        noise = (
            f"The least of {TURNS} turns, {spread:.0%} apart in the median; other programs took {others:.0%} of the "
            "machine meanwhile."
        )
        decode, size = decode_seconds(few)
        return tables(fits, noise, parts_of_a_picture(few), decode, size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into docs/limits.md")
    options = parser.parse_args()
    text = main()
    print(text)
    if options.write:
        write_between(PAGE, "fit", text)
