"""What the digests of a dataset cost: build, and the check before a report and a Space, with and without them.

A dataset of 105,000 step rows with tiny pictures is built in turns with every digest and without, in one process. The
smallest time of each counts, in seconds of the processor, all threads together.

python tests/benchmarks/digests.py [CHAINS] [--repeats N]
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

import big_store
from convergebench import dataset_builder
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.spaces_app.reporting.write import open_scored, read_analysis
from convergebench.spaces_app.space.served_dataset import open_dataset


def without_digests() -> ExitStack:
    """No column, file or table is hashed; what is written and compared instead is constant."""
    patches = ExitStack()
    for name in ("_add", "_hash"):
        patches.enter_context(mock.patch.object(schema, name, constant))
    return patches


def constant(*arguments: object) -> str:
    return "0" * 64


def seconds(function: Callable[[], object], patches: ExitStack) -> float:
    with patches:
        start = time.process_time()
        function()
        return time.process_time() - start


def main(chains: int, repeats: int, folder: Path) -> None:
    big_store.make(folder / "run", chains)
    datasets = {"with": folder / "with" / "convergebench", "without": folder / "without" / "convergebench"}

    def build(out: Path) -> None:
        shutil.rmtree(out, ignore_errors=True)
        dataset_builder.build(folder / "run", out, quiet=True)

    def in_turns(stage: str, function: Callable[[Path], object]) -> None:
        spent: dict[str, list[float]] = {"with": [], "without": []}
        for turn in range(repeats):
            for way in list(spent)[:: 1 if turn % 2 else -1]:
                patches = ExitStack() if way == "with" else without_digests()
                spent[way].append(seconds(lambda way=way: function(datasets[way]), patches))
        least, bare = min(spent["with"]), min(spent["without"])
        print(f"{stage}: {least:.2f} s with digests, {bare:.2f} s without: {least / bare - 1:+.1%}", flush=True)

    in_turns("build", build)
    for way, out in datasets.items():
        with ExitStack() if way == "with" else without_digests():
            big_store.make_up_scores(out)
    print(f"{sum(1 for _ in Reader(datasets['with']).rows('steps', ['step'])):,} step rows")
    in_turns("reading for a report", lambda out: read_analysis(open_scored(out)).outcomes)
    in_turns("start of the Space", lambda out: open_dataset(str(out)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chains", type=int, nargs="?", default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        main(options.chains, options.repeats, Path(name))
