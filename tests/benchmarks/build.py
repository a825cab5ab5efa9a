"""How fast a dataset is built, beside `Dataset.from_generator(...).to_parquet(...)` and a bare ParquetWriter loop.

    python tests/benchmarks/build.py [--pictures 2000] [--megabytes 2] [--repeats 2]

All three write the same pictures with the same Parquet options, each in a process of its own. The pictures are random
bytes: nothing here decodes them.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from timing import Spent, in_own_process

ROUNDS = 10


def make(folder: Path, pictures: int, size: int) -> None:
    """A store of chains of twenty steps, as `generate` would have left it."""
    import stores
    from convergebench.generation.records import Step, canonical

    chance = random.Random(1)
    calls = ROUNDS * 2
    for number in range(pictures // (calls + 1)):
        chain = stores.chain(rounds=ROUNDS, run=number + 1)
        place = stores.keep(folder, chain, done=False)
        steps = []
        for step, round, position, words in [(0, 0, 0, ""), *chain.asks()]:
            data = chance.randbytes(size)
            (place / f"{step:04d}.png").write_bytes(data)
            status = "ok" if step else "input"
            record = Step(step, round, position, words, status, file=f"{step:04d}.png", bytes=size, type="png")
            steps.append(replace(record, sha256=hashlib.sha256(data).hexdigest(), width=1024, height=1024))
        (place / "steps.jsonl").write_text("".join(canonical(step.to_dict()) + "\n" for step in steps))
        stores.finish(place, calls)


def ours(store: Path, out: Path) -> None:
    """The whole build: checks, steps, chains, sources, hashes of the files, card."""
    from convergebench.dataset_builder.building import build
    from convergebench.generation import store_reader

    build.build(store_reader.find_finished([store]), out)


def rows(store: Path):
    """The rows of `steps` for the two peers, read from the store without any check."""
    from convergebench.dataset_builder.dataset.rows import step_row
    from convergebench.generation import store_reader

    chains = store_reader.find_finished([store]).done.values()
    for chain in sorted(chains, key=lambda chain: chain.order):
        for step in store_reader.read_steps(chain):
            yield dict(step_row(chain, step, (chain.folder / step.file).read_bytes()).values)


def datasets_library(store: Path, out: Path) -> None:
    import datasets
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.rows import STEPS

    datasets.disable_progress_bars()
    features = datasets.Features.from_arrow_schema(schema.arrow(STEPS.columns))
    cache = str(out / "cache")
    table = datasets.Dataset.from_generator(rows, gen_kwargs={"store": store}, features=features, cache_dir=cache)
    table.to_parquet(out / "steps.parquet")


def bare_loop(store: Path, out: Path) -> None:
    """Row groups of 8 MB and the same options: nothing else."""
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.rows import STEPS

    schema.write(out / "steps.parquet", STEPS, rows(store))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    works = {"ours": ours, "from_generator.to_parquet": datasets_library, "bare loop": bare_loop}
    turns: dict[str, list[Spent]] = {name: [] for name in works}
    with tempfile.TemporaryDirectory(prefix="convergebench-") as folder:
        store = Path(folder, "run")
        make(store, options.pictures, int(options.megabytes * 1_000_000))
        for _ in range(options.repeats):
            for name, work in works.items():
                os.sync()  # what one run left in the page cache is not the next one's to write back
                out = Path(tempfile.mkdtemp(dir=folder))
                turns[name].append(in_own_process(work, store, out))
                shutil.rmtree(out)
    best = {name: min(spent.clock for spent in measured) for name, measured in turns.items()}
    peak = {name: max(spent.megabytes for spent in measured) for name, measured in turns.items()}
    for name, seconds in best.items():
        speed = options.pictures * options.megabytes / seconds
        print(f"{name:26} {seconds:7.1f} s  {speed:6.0f} MB/s  peak {peak[name]:6.0f} MB")
    ratios = {
        "times from_generator.to_parquet": best["from_generator.to_parquet"] / best["ours"],
        "share of the bare loop's speed": best["bare loop"] / best["ours"],
        "peak MB": peak["ours"],
    }
    print(json.dumps({name: round(value, 2) for name, value in ratios.items()}))


if __name__ == "__main__":
    main()
