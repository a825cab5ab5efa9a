"""Throughput of scoring on two cores beside one: by the threads of one process, and what the machine allows.

python tests/benchmarks/scaling.py [--turns 2] [--steps 6 60]     under four minutes where nothing else runs
python tests/benchmarks/scaling.py --write                        writes what it prints into docs/limits.md too

A job has a price for starting (imports, networks, the index) and one for each picture. Two sizes of job tell them
apart: pictures per second are those between the two sizes, and the whole job stands beside them with all that starting
costs. All ways take turns, and the fastest turn of each counts. What the machine allows are two jobs of one core each,
which share nothing: where they hinder each other, no program can do better.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import scoring
from timing import Spent, remove_scores, run_programs, write_between

ASKED = "psnr,ssim,lpips"
SIDE = 512
PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
CHAINS = 8  # as many in both sizes, so that the originals are compared with each other as often
LONG = 10_000  # pictures of a job that is predicted from the two
ALLOWED = "two jobs, a core each"


def score_command(dataset: Path) -> list[str]:
    remove_scores(dataset)
    command = [sys.executable, "-m", "convergebench", "score", str(dataset), "--metrics", ASKED, "--device", "cpu"]
    return [*command, "--dtype", "float32", "--json"]


def main(turns: int, few: int, many: int) -> str:
    first, second = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        scoring.without_network(place)
        datasets = {}
        for steps in (few, many):
            (place / str(steps)).mkdir()
            datasets[CHAINS * steps] = scoring.chains(place / str(steps), CHAINS, steps, SIDE)
        twins = {size: shutil.copytree(path, path.with_name("twin")) for size, path in datasets.items()}
        both = {first, second}
        ways: dict[str, Callable[[int], Spent]] = {
            "one core": lambda size: run_programs((score_command(datasets[size]), {first})),
            "two cores, threads": lambda size: run_programs((score_command(datasets[size]), both)),
            ALLOWED: lambda size: run_programs(
                (score_command(datasets[size]), {first}), (score_command(twins[size]), {second})
            ),
        }
        seen: dict[tuple[str, int], list[Spent]] = defaultdict(list)
        for turn in range(turns):
            for size in datasets:
                for title, way in ways.items():
                    seen[title, size].append(way(size))
            print(f"turn {turn + 1} of {turns}", file=sys.stderr)
        return report(list(ways), sorted(datasets), seen)


def report(ways: list[str], sizes: list[int], seen: dict[tuple[str, int], list[Spent]]) -> str:
    """Each way beside one core: the larger job as a whole, and what it does once it has started."""
    few, many = sizes
    lines = [
        f"{few} and {many} pictures of 512x512, {ASKED} in float32; load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores; fastest of {len(seen[ways[0], few])} turns; cpu is seconds of the processor",
        f"{'':24}{f'{few}, s':>9}{f'{many}, s':>9}{'start, s':>10}{'pictures/s':>12}{'cpu ms/picture':>16}"
        f"{'cpu start, s':>14}",
    ]
    rates, wholes, starts = {}, {}, {}
    for title in ways:
        copies = 2 if title == ALLOWED else 1
        clocks = [min(each.clock for each in seen[title, size]) for size in sizes]
        cpu = [min(each.processor for each in seen[title, size]) for size in sizes]
        picture, work = (clocks[1] - clocks[0]) / (many - few) / copies, (cpu[1] - cpu[0]) / (many - few) / copies
        rates[title], wholes[title], starts[title] = 1 / picture, clocks[1] / copies, clocks[0] - few * picture * copies
        lines.append(
            f"{title:24}{clocks[0]:9.1f}{clocks[1]:9.1f}{starts[title]:10.1f}{rates[title]:12.1f}"
            f"{1000 * work:16.1f}{(cpu[0] - few * work * copies) / copies:14.1f}"
        )
    one = ways[0]
    for title in ways[1:]:
        long = (starts[one] + LONG / rates[one]) / (starts[title] + LONG / rates[title])
        foretold = f", {long:.2f} x in one of {LONG:,}" if title != ALLOWED else ""
        lines.append(
            f"{title}: {rates[title] / rates[one]:.2f} x one core in pictures a second, "
            f"{wholes[one] / wholes[title]:.2f} x in the whole job of {many} with its start{foretold}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--steps", type=int, nargs=2, default=(6, 60), help="of a chain in both jobs")
    parser.add_argument("--write", action="store_true", help="into docs/limits.md")
    options = parser.parse_args()
    text = main(options.turns, *options.steps)
    print(text)
    if options.write:
        write_between(PAGE, "scaling", f"```text\n{text}\n```")
