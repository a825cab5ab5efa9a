"""Memory of `score`'s last step, which writes the scores of finished shards, at 40,000, 400,000 and 4,000,000 steps.

Tables and values are made up: nothing is decoded or compared, so this is what the index and the values take.

python tests/benchmarks/last_step.py [STEPS ...]     the last size takes half an hour and 12 GB of disk
"""

import hashlib
import sys
import tempfile
from pathlib import Path

from timing import in_own_process

ROUNDS, PICTURES, PROGRAMS, EDITORS = 10, 20, 10, 4
A_FILE = 5000  # chains, as `build` ends a file at 500 MB
ASKED = ["psnr", "ssim"]


def make(folder: Path, chains: int) -> None:
    """The tables of a dataset whose steps have hashes and no pictures."""
    import small_dataset
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.rows import CHAINS, STEPS, chain_row, configs, editor_row, step_row
    from convergebench.generation.records import Chain, EditorInfo, FinishedChain, Program, Source, Step

    def sha(*parts: object) -> str:
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    pictures = [f"picture-{number:02}" for number in range(PICTURES)]
    facts = (64, 64, "scene", "synthetic", "CC0-1.0", "made here")
    sources = [Source(name, "0" * 64, *facts) for name in pictures]
    programs = [
        Program(f"hat-{k}", (f"add hat {k}", f"remove hat {k}"), "objects", True, "clear") for k in range(PROGRAMS)
    ]
    editors = [f"editor-{number}" for number in range(EDITORS)]
    runs = -(-chains // (PICTURES * PROGRAMS * EDITORS))

    def finished(editor: str) -> list[FinishedChain]:
        made = [
            Chain(source, program, editor, {"short_side": 64}, run, ROUNDS)
            for source in sources
            for program in programs
            for run in range(1, runs + 1)
        ]
        return [FinishedChain(chain.id, chain, "big", "1", "complete", chain.calls, None) for chain in made]

    def steps(some: list[FinishedChain]):
        for chain in some:
            source = chain.source.id
            yield step_row(chain, Step(0, 0, 0, "", "input", None, None, sha(source), 1, "png", 64, 64), None)
            for number, round, position, words in chain.chain.asks():
                digest = sha(chain.id, number)
                step = Step(number, round, position, words, "ok", number, None, digest, 1, "png", 64, 64)
                yield step_row(chain, step, None)

    data, everything = folder / "data", []
    for editor in editors:
        group = finished(editor)
        everything += group
        for start in range(0, len(group), A_FILE):
            path = data / "steps" / editor / f"{start // A_FILE:04}.parquet"
            schema.write(path, STEPS, steps(group[start : start + A_FILE]))
    schema.write(data / "chains" / "0000.parquet", CHAINS, (chain_row(chain, None) for chain in everything))
    schema.write(data / "sources" / "0000.parquet", configs()["sources"], list(small_dataset.originals(pictures)))
    rows = [editor_row(name, EditorInfo(name)) for name in editors]
    schema.write(data / "editors" / "0000.parquet", configs()["editors"], rows)
    small_dataset.list_files(folder)


def finish_shards(folder: Path) -> None:
    """What tasks leave: a line for each chain and each floor."""
    import json

    from convergebench.metric_modules._engine import engine, results

    job = engine.prepare(folder, ASKED, "cpu", None)
    (folder / results.FOLDER).mkdir(exist_ok=True)
    with (folder / results.FOLDER / "0000-of-0001.jsonl").open("wb") as shard:

        def add(line: dict) -> None:
            shard.write(results._with_checksum(json.dumps(line).encode()[1:]) + b"\n")

        for task in job.tasks:
            parts = {run.name: run.floor_signature for run in job.runs if run.spec.floors}
            row = {name: 0.5 for run in job.runs for name in run.spec.floors}
            add({"task": task.key, "parts": parts, "values": {other.source: row for other in task.unrelated}})
        for chain in job.chains:
            parts = {run.name: run.signature for run in job.runs}
            row = {name: 0.25 for run in job.runs for name in run.spec.names}
            rows = dict.fromkeys(range(1, 2 * ROUNDS + 1), row)
            add({"chain": chain.chain.id, "digest": chain.digest, "parts": parts, "rows": rows})


def index(folder: Path) -> None:
    """What each task reads before it begins."""
    from convergebench.metric_modules._engine import engine

    engine.prepare(folder, ASKED, "cpu", None)


def last_step(folder: Path) -> None:
    from convergebench.metric_modules import score

    outcome = score(folder, ASKED, device="cpu", quiet=True)
    assert outcome.rows
    assert not outcome.images


def again(folder: Path) -> None:
    """With all scores there, which are read and written anew."""
    last_step(folder)


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "dataset"
            in_own_process(make, folder, size // (2 * ROUNDS))
            in_own_process(finish_shards, folder)
            for stage in (index, last_step, again):
                _, processor, memory = in_own_process(stage, folder)
                spent = f"{processor:7.1f} s of the processor, {memory:6.0f} MB"
                print(f"{size:>9,} steps: {stage.__name__:9} {spent}", flush=True)


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [40_000, 400_000, 4_000_000])
