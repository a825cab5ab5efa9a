"""A store of 20,000 chains and 400,000 steps of small pictures, from its folder to the Space: seconds and memory.

Each is measured in a process of its own, on the whole store and on a tenth of it; memory is the largest resident size.
Scores are made up, because to compute them takes an hour and only what reads them is measured here.

python tests/benchmarks/big_store.py [CHAINS] [--keep FOLDER]
"""

import argparse
import contextlib
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EDITORS, PROGRAMS, ROUNDS, SIDE = 4, 10, 10, 32
STAGES = ("status", "resume", "build", "report", "space")
EDITORS_PLACE = {f"editor-{place}": place for place in range(EDITORS)}
LIMITS = {"status": 3.0, "resume": 5.0}  # seconds of an idle machine on the whole store


def lay(run: Path, chains: int) -> None:
    """A finished run: every source's pictures are made once and are links in its chains."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import scored
    import stores
    from convergebench.generation.records import Chain, EditorInfo, Program, Source, Step, canonical
    from convergebench.generation.store import open_run

    runs = max(1, chains // 4000)
    sources = chains // (EDITORS * PROGRAMS * runs)
    kinds = ("face", "scene", "object")
    programs = [
        Program(f"hat-{k}", (f"add hat {k}", f"remove hat {k}"), ("accessories", "scene objects")[k % 2], True, "clear")
        for k in range(PROGRAMS)
    ]
    editors = [f"editor-{k}" for k in range(EDITORS)]
    about = {"suite": "big", "suite_version": "1", "short_side": SIDE}
    open_run(run, about, {name: EditorInfo(name, "editor") for name in editors})
    (run / "sources").mkdir(exist_ok=True)
    (run / "chains").mkdir(exist_ok=True)
    (run / "log").mkdir(exist_ok=True)
    planned: dict[str, list] = {}
    with tempfile.TemporaryDirectory(dir=run.parent) as pool:
        for number in range(sources):
            original = scored.picture(number, (SIDE, SIDE))
            data = scored.encoded(original)
            words = (
                hashlib.sha256(data).hexdigest(),
                SIDE,
                SIDE,
                kinds[number % 3],
                "synthetic",
                "CC0-1.0",
                "made here",
            )
            source = Source(f"source-{number:03}", *words)
            (run / "sources" / f"{source.sha256}.png").write_bytes(data)
            for strength, editor in enumerate(editors):
                place = Path(pool, f"{number}-{editor}")
                place.mkdir()
                steps = [scored.stored(place, Step(0, 0, 0, "", "input"), data)]
                for step in range(1, 2 * ROUNDS + 1):
                    decay = scored.worn(original, (strength + 1) * (step + 1) // 2, step)
                    picture = scored.encoded(scored.dotted(decay) if step % 2 else decay)
                    about = {"status": "ok", "latency": 1.0, "seed": step}
                    steps.append(scored.stored(place, Step(step, (step + 1) // 2, 2 - step % 2, "", **about), picture))
                for program in programs:
                    own = [
                        Step.from_dict({**step.to_dict(), "instruction": program.cycle[step.position - 1]})
                        if step.step
                        else step
                        for step in steps
                    ]
                    lines = "".join(canonical(step.to_dict()) + "\n" for step in own)
                    for turn in range(1, runs + 1):
                        chain = Chain(source, program, editor, {"short_side": SIDE}, turn, ROUNDS)
                        folder = run / "chains" / chain.id
                        folder.mkdir()
                        planned[chain.id] = [editor, 2 * ROUNDS]
                        (folder / "chain.json").write_text(canonical(chain.to_dict()))
                        (folder / "steps.jsonl").write_text(lines)
                        for step in own:
                            with contextlib.suppress(FileExistsError):
                                os.link(place / step.file, folder / step.file)
                        stores.finish(folder, 2 * ROUNDS)
    started = {"at": "2027-01-15T08:00:00+00:00", "event": "started", "host": "h", "planned": planned}
    (run / "log" / "0-of-1.jsonl").write_text(json.dumps(started) + "\n")


def status(folder: Path) -> object:
    from convergebench.generation.status import read_status

    return read_status(folder / "run").whole.done


def resume(folder: Path) -> object:
    """What `generate` finds out first: which of the planned chains are not done."""
    from convergebench.generation import store

    planned = json.loads((folder / "run" / "log" / "0-of-1.jsonl").read_bytes())["planned"]
    return sum(store.is_done(folder / "run", name) for name in planned)


def build(folder: Path) -> object:
    from convergebench import dataset_builder

    return dataset_builder.build(folder / "run", folder / "dataset", quiet=True).steps


def make_up_scores(folder: Path) -> None:
    """Scores of every step and floors of every pair, as `score` would write them; editors differ in what they keep."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import numpy
    import simulated
    from convergebench.dataset_builder.building import card
    from convergebench.dataset_builder.dataset import schema
    from convergebench.dataset_builder.dataset.reader import Reader
    from convergebench.metric_modules.scores import FLOORS, SCORES

    reader, chance = Reader(folder), numpy.random.default_rng(0)
    nothing = {column.name: None for column in SCORES.columns}

    def rows():
        for chain in reader.chains():
            kept = int(numpy.clip(chance.normal(9 - 2 * EDITORS_PLACE[chain.editor], 2), 0, ROUNDS))
            about = {"chain": chain.id, "editor": chain.editor, "source": chain.source.id, "program": chain.program.id}
            for row in simulated.score_rows({**about, "run": chain.chain.run, "rounds": ROUNDS}, kept, clip=False):
                yield nothing | {name: value for name, value in row.items() if name in nothing}

    schema.write(folder / "data" / "scores" / "0000.parquet", SCORES, rows())
    sources = sorted(reader.sources())
    pairs = (
        {"source": one, "other": other, "short_side": SIDE, "metric": name, "value": value}
        | {"signature": simulated.SIGNATURE}
        for one in sources
        for other in sources
        if one != other
        for name, value in simulated.FLOORS.items()
        if name != "clip"
    )
    schema.write(folder / "data" / "floors" / "0000.parquet", FLOORS, pairs)
    card.write(folder)


def report(folder: Path) -> object:
    from convergebench import spaces_app

    spaces_app.report(folder / "dataset", out=folder / "report")
    return len(list((folder / "report").iterdir()))


def space(folder: Path) -> object:
    """What the Space holds once its first page, a curve and a failure have been asked for."""
    from convergebench.spaces_app.space.curves.tab import curves
    from convergebench.spaces_app.space.failures.tab import failures
    from convergebench.spaces_app.space.leaderboard.tab import leaderboard
    from convergebench.spaces_app.space.served_dataset import open_dataset

    data = open_dataset(str(folder / "dataset"))
    return sum(len(str(function(data))) for function in (leaderboard, curves, failures))


def measured(stage: str, folder: Path) -> list[float]:
    """Seconds by the clock, seconds of the processor and megabytes of one stage, without the start of Python."""
    command = [sys.executable, __file__, "--stage", stage, "--keep", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(word) for word in done.stdout.split()[-3:]]


def main(chains: int, place: Path) -> None:
    found = {}
    for count in (chains // 10, chains):
        folder = place / str(count)
        if not (folder / "run" / "log" / "0-of-1.jsonl").exists():
            lay(folder / "run", count)
        for stage in STAGES:
            if stage == "report":
                make_up_scores(folder / "dataset")
            found[stage, count] = measured(stage, folder)
            clock, cores, memory = found[stage, count]
            print(f"{count:>7,} chains, {count * 2 * ROUNDS:>9,} steps: {stage:7} {clock:7.2f} s by the clock, "
                  f"{cores:7.2f} s of the processor, {memory:5.0f} MB", flush=True)  # fmt: skip
    for stage in STAGES:
        (_, few, less), (_, many, more) = found[stage, chains // 10], found[stage, chains]
        limit = f"; the limit is {LIMITS[stage]:.0f} s" if stage in LIMITS else ""
        print(
            f"{stage:7} ten times the chains: {many / few:5.1f} x the seconds{limit}, {more / less:4.2f} x the memory"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("chains", type=int, nargs="?", default=20_000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--stage", choices=STAGES)
    told = parser.parse_args()
    if told.stage:
        started, before = time.perf_counter(), time.process_time()
        globals()[told.stage](told.keep)
        seconds = time.perf_counter() - started, time.process_time() - before
        print(*seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        with tempfile.TemporaryDirectory() as name:
            main(told.chains, told.keep or Path(name))
