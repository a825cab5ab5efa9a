"""A store of 20,000 chains and 400,000 steps of small pictures, from its folder to the Space: seconds and memory.

Each stage runs in a process of its own, on the whole store and on a tenth of it. Scores are made up, because
computing them takes an hour and only what reads them is measured here.

python tests/benchmarks/big_store.py [CHAINS]
"""

import hashlib
import json
import os
import sys
import tempfile
from dataclasses import replace
from itertools import product
from operator import attrgetter
from pathlib import Path

from timing import in_own_process

EDITORS, PROGRAMS, ROUNDS, SIDE = 4, 10, 10, 32
KINDS = ("face", "scene", "object")
ASKED = ["psnr", "ssim"]  # of the last step of score
SIGNATURES = attrgetter("floor_signature"), attrgetter("signature")  # of a metric's floors and values


def make(run: Path, chains: int) -> None:
    """A finished run: every source's pictures are made once and are links in its chains."""
    import scored
    import stores
    from convergebench.generation.records import Chain, Program, Source

    runs, planned = max(1, chains // 4000), {}
    categories = ("accessories", "scene objects")
    about = [(f"hat-{k}", (f"add hat {k}", f"remove hat {k}"), categories[k % 2]) for k in range(PROGRAMS)]
    programs = [Program(*each, True, "clear") for each in about]
    run.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=run.parent) as pool:
        for number, strength in product(range(chains // (EDITORS * PROGRAMS * runs)), range(EDITORS)):
            original, place = scored.picture(number, (SIDE, SIDE)), Path(pool, f"{number}-{strength}")
            data = scored.encoded(original)
            facts = (SIDE, SIDE, KINDS[number % 3], "synthetic", "CC0-1.0", "made here")
            source = Source(f"picture-{number:02}", hashlib.sha256(data).hexdigest(), *facts)
            steps = make_steps(place, original, data, strength)
            for program, turn in product(programs, range(1, runs + 1)):
                chain = Chain(source, program, f"editor-{strength}", {"short_side": SIDE}, turn, ROUNDS)
                link_chain(stores.begin(run, chain, SIDE, data, None), place, chain, steps)
                planned[chain.id] = [chain.editor, 2 * ROUNDS]
    started = {"at": "2027-01-15T08:00:00+00:00", "event": "started", "host": "h", "planned": planned}
    stores.write(run / "log" / "0-of-1.jsonl", json.dumps(started) + "\n")


def make_steps(place: Path, original, data: bytes, strength: int) -> list:
    import scored
    from convergebench.generation.records import Step

    steps = [scored.stored(place, Step(0, 0, 0, "", "input"), data)]
    for step in range(1, 2 * ROUNDS + 1):
        worn = scored.worn(original, (strength + 1) * (step + 1) // 2, step)
        picture = scored.encoded(scored.dotted(worn) if step % 2 else worn)
        record = Step(step, (step + 1) // 2, 2 - step % 2, "", status="ok", latency=1.0, seed=step)
        steps.append(scored.stored(place, record, picture))
    return steps


def link_chain(folder: Path, place: Path, chain, steps: list) -> None:
    import stores
    from convergebench.generation.records import canonical

    words = ["", *(words for *_, words in chain.asks())]
    instructed = [replace(step, instruction=words[step.step]) for step in steps]
    stores.write(folder / "steps.jsonl", "".join(canonical(step.to_dict()) + "\n" for step in instructed))
    for step in steps:
        os.link(place / step.file, folder / step.file)
    stores.finish(folder, 2 * ROUNDS)


def status(folder: Path) -> None:
    from convergebench.generation.status import read_status

    read_status(folder / "run")


def resume(folder: Path) -> None:
    """What `generate` finds out first: which of the planned chains are not done."""
    from convergebench.generation import store

    for name in json.loads((folder / "run" / "log" / "0-of-1.jsonl").read_bytes())["planned"]:
        store.is_done(folder / "run", name)


def build(folder: Path) -> None:
    from convergebench import dataset_builder

    dataset_builder.build(folder / "run", folder / "dataset", quiet=True)


def make_up_scores(folder: Path) -> None:
    """Scores of every step and floors of every pair, as `score` would write them; editors differ in what they keep."""
    import numpy
    import simulated
    from convergebench.dataset_builder.building import card
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.dataset_builder.dataset.rows import FLOORS, configs, place_columns
    from convergebench.metric_modules.scores import SCORES

    reader, chance = Reader(folder), numpy.random.default_rng(0)
    nothing = {column.name: None for column in SCORES.columns}

    def rows():
        for chain in reader.chains():
            kept = int(numpy.clip(chance.normal(9 - 2 * int(chain.editor[-1]), 2), 0, ROUNDS))
            place = {**place_columns(chain), "rounds": ROUNDS}
            for row in simulated.score_rows(place, kept, clip=False):
                yield nothing | {name: value for name, value in row.items() if name in nothing}

    schema.write(folder / "data" / "scores" / "0000.parquet", SCORES, rows(), folder)
    floors = simulated.floor_rows(len(reader.sources()))
    pairs = (row | {"short_side": SIDE} for row in floors if row["metric"] != "clip")
    schema.write(folder / "data" / "floors" / "0000.parquet", FLOORS, pairs, folder)
    card.write(folder, configs())


def finish_shards(folder: Path) -> None:
    """What the tasks of `score` leave, made up."""
    from convergebench.metric_modules._engine import engine, results

    job = engine.prepare(folder, ASKED, "cpu", None)
    row = dict.fromkeys([name for run in job.runs for name in run.spec.names], 0.25)
    of_floors, parts = ({run.name: part(run) for run in job.runs} for part in SIGNATURES)
    (folder / results.FOLDER).mkdir()
    with results.open_shard(folder / results.FOLDER, "0000-of-0001.jsonl") as shard:
        for task in job.tasks:
            values = {other.source: row for other in task.unrelated}
            results.add_line(shard, {"task": task.key, "parts": of_floors, "values": values})
        for chain in job.chains:
            rows = dict.fromkeys(range(1, 2 * ROUNDS + 1), row)
            line = {"chain": chain.chain.id, "digest": chain.digest, "parts": parts, "rows": rows}
            results.add_line(shard, line)


def last_step(folder: Path) -> None:
    """What `score` does when all tasks are done: it reads the index and writes the scores."""
    from convergebench.metric_modules import score

    assert score(folder / "dataset", ASKED, device="cpu", quiet=True).images == 0


def report(folder: Path) -> None:
    from convergebench import spaces_app

    spaces_app.report(folder / "dataset", out=folder / "report")


def space(folder: Path) -> None:
    """Ask the Space for its first page, the curves and the failures."""
    from convergebench.spaces_app.space.curves.tab import curves
    from convergebench.spaces_app.space.failures.tab import failures
    from convergebench.spaces_app.space.leaderboard.tab import leaderboard
    from convergebench.spaces_app.space.served_dataset import open_dataset

    dataset = open_dataset(str(folder / "dataset"))
    for function in (leaderboard, curves, failures):
        function(dataset)


def main(chains: int, place: Path) -> None:
    for count in (chains // 10, chains):
        folder = place / str(count)
        make(folder / "run", count)
        for stage in (status, resume, build, last_step, report, space):
            if stage is last_step:
                in_own_process(finish_shards, folder / "dataset")
            if stage is report:
                make_up_scores(folder / "dataset")
            clock, processor, memory = in_own_process(stage, folder)
            print(f"{count:>7,} chains, {count * 2 * ROUNDS:>9,} steps: {stage.__name__:7} {clock:7.2f} s by the clock,"
                  f" {processor:7.2f} s of the processor, {memory:5.0f} MB", flush=True)  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(int(sys.argv[1]) if sys.argv[1:] else 20_000, Path(name))
