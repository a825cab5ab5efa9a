"""What the digests of a dataset cost: build, and the check before a report and a Space, with and without them.

A dataset of 105,000 step rows with tiny pictures is built in turns with every digest and without, in one process. The
smallest time of each counts, in seconds of the processor, all threads together.

python tests/benchmarks/digests.py [CHAINS]
"""

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

REPEATS = 3


def without_digests() -> ExitStack:
    """No column, file or table is hashed; what is written and compared instead is constant."""
    patches = ExitStack()
    for name in ("_add", "_hash"):
        patches.enter_context(mock.patch.object(schema, name, constant))
    return patches


def constant(*arguments: object) -> str:
    return "0" * 64


WAYS = {"with": ExitStack, "without": without_digests}


def in_turns(stage: str, function: Callable[[Path], object], datasets: dict[str, Path]) -> None:
    spent: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(REPEATS):
        for way in list(WAYS)[:: 1 if turn % 2 else -1]:
            with WAYS[way]():
                start = time.process_time()
                function(datasets[way])
                spent[way].append(time.process_time() - start)
    least, bare = map(min, spent.values())
    print(f"{stage}: {least:.2f} s with digests, {bare:.2f} s without: {least / bare - 1:+.1%}", flush=True)


def main(chains: int, folder: Path) -> None:
    big_store.make(folder / "run", chains)
    datasets = {way: folder / way / "convergebench" for way in WAYS}

    def build(out: Path) -> None:
        shutil.rmtree(out, ignore_errors=True)
        dataset_builder.build(folder / "run", out, quiet=True)

    in_turns("build", build, datasets)
    for way, out in datasets.items():
        with WAYS[way]():
            big_store.make_up_scores(out)
    print(f"{sum(1 for _ in Reader(datasets['with']).rows('steps', ['step'])):,} step rows")
    in_turns("reading for a report", lambda out: read_analysis(open_scored(out)).outcomes, datasets)
    in_turns("start of the Space", lambda out: open_dataset(str(out)), datasets)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(int(sys.argv[1]) if sys.argv[1:] else 5000, Path(name))
