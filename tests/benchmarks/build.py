"""How fast a dataset is built, beside `Dataset.from_generator(...).to_parquet(...)` and a bare ParquetWriter loop.

    python tests/benchmarks/build.py [--pictures 2000] [--megabytes 2] [--repeats 1]

All three write the same pictures with the same Parquet options, each in a process of its own that also tells its peak
memory. The pictures are random bytes: nothing here decodes them.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

ROUNDS = 10


def make(folder: Path, pictures: int, size: int) -> None:
    """A store of chains of twenty steps, as `generate` would have left it."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import stores
    from convergebench.generation.records import Step, canonical

    chance = random.Random(1)
    calls = ROUNDS * 2
    for number in range(pictures // (calls + 1)):
        chain = stores.chain(rounds=ROUNDS, run=number + 1)
        at = stores.keep(folder, chain, done=False)
        steps = []
        asks = [(0, 0, 0, ""), *chain.asks()]
        for step, round, position, words in asks:
            data = chance.randbytes(size)
            (at / f"{step:04d}.png").write_bytes(data)
            status = "ok" if step else "input"
            record = Step(step, round, position, words, status, file=f"{step:04d}.png", bytes=size, type="png")
            steps.append(replace(record, sha256=hashlib.sha256(data).hexdigest(), width=1024, height=1024))
        (at / "steps.jsonl").write_text("".join(canonical(step.to_dict()) + "\n" for step in steps))
        stores.finish(at, calls)


def ours(store: Path, out: Path) -> None:
    """The whole build: checks, steps, chains, sources, hashes of the files, card."""
    from convergebench.dataset_builder.building import build
    from convergebench.generation import store_reader

    build.build(store_reader.find_finished([store]), out)


def rows(store: Path):
    """The rows of `steps` for the two peers, read from the store without any check."""
    from convergebench.dataset_builder.dataset.rows import step_row
    from convergebench.generation import store_reader

    found = store_reader.find_finished([store])
    for one in sorted(found.done.values(), key=lambda one: one.order):
        for step in store_reader.read_steps(one):
            yield dict(step_row(one, step, (one.folder / step.file).read_bytes()).values)


def datasets_library(store: Path, out: Path) -> None:
    import datasets
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.rows import STEPS

    datasets.disable_progress_bars()
    features = datasets.Features.from_arrow_schema(schema.arrow(STEPS.columns))
    made = datasets.Dataset.from_generator(
        rows, gen_kwargs={"store": store}, features=features, cache_dir=str(out / "cache")
    )
    made.to_parquet(out / "steps.parquet")


def bare_loop(store: Path, out: Path) -> None:
    """Row groups of 8 MB, the same options, a sha256 per picture: nothing else."""
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.rows import STEPS

    shard = schema.Shard(out / "steps.parquet", STEPS.columns)
    for row in rows(store):
        hashlib.sha256(row["image"]["bytes"]).hexdigest()
        shard.add(row)
    shard.flush()
    shard.writer.close()


def measured(work: Callable[[Path, Path], None], store: Path, out: Path, pipe) -> None:
    started = time.perf_counter()
    work(store, out)
    seconds = time.perf_counter() - started
    pipe.send({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})


def measure(work: Callable[[Path, Path], None], store: Path, folder: Path) -> dict[str, float]:
    """Time and peak memory of a fresh process."""
    out = Path(tempfile.mkdtemp(dir=folder))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=measured, args=(work, store, out, there))
    process.start()
    there.close()
    found: dict[str, float] = here.recv()
    process.join()
    shutil.rmtree(out)
    os.sync()  # what one run left in the page cache is not the next one's to write back
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="convergebench-"))
    try:
        make(folder / "run", given.pictures, int(given.megabytes * 1_000_000))
        os.sync()
        works = {"ours": ours, "from_generator.to_parquet": datasets_library, "bare loop": bare_loop}
        best: dict[str, dict[str, float]] = {}
        for _ in range(given.repeats):
            for name, work in works.items():
                found = measure(work, folder / "run", folder)
                kept = best.setdefault(name, found)
                kept["seconds"] = min(kept["seconds"], found["seconds"])
                kept["peak"] = max(kept["peak"], found["peak"])
    finally:
        shutil.rmtree(folder)
    total = given.pictures * given.megabytes
    for name, found in best.items():
        speed = total / found["seconds"]
        print(f"{name:26} {found['seconds']:7.1f} s  {speed:6.0f} MB/s  peak {found['peak'] / 1e6:6.0f} MB")
    mine = best["ours"]["seconds"]
    report = {
        "times from_generator.to_parquet": best["from_generator.to_parquet"]["seconds"] / mine,
        "share of the bare loop's speed": best["bare loop"]["seconds"] / mine,
        "peak MB": best["ours"]["peak"] / 1e6,
    }
    print(json.dumps({name: round(value, 2) for name, value in report.items()}))


if __name__ == "__main__":
    main()
