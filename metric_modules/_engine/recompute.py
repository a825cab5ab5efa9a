"""Computes a sample of a dataset's scores once more, from the pictures, and says where the dataset holds others.

All retained values follow from scores and floors, so every one of them is checked; chains and floors are drawn.
"""

import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb, isclose
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.progress import progress_bar

from ..scores import signature_of
from ..specs import scored_specs
from . import earlier_results, metrics, table
from .chains import DatasetChain, find_chains
from .earlier_results import Results, Shard, ShardLines
from .engine import BATCH, Job
from .floors import FloorPlace, FloorTask, Medians, floor_place, plan_floors
from .worker import Advance, Worker

# Of a value, or of 1: by how much machines differ. Pixels are compared in whole numbers, networks are not.
TOLERANCE, PIXELS_TOLERANCE = 1e-4, 1e-7
FLOORS = 5  # references whose floors are computed again
STATED = {"engine", "pictures"}  # parts of a signature that are no metric's
Row = Mapping[str, Any]


@dataclass
class Recomputed:
    """What was computed again, and where it came out otherwise."""

    chains: int  # of the dataset
    sampled: list[str]
    steps: int = 0  # whose scores were computed again
    floors: int = 0  # references, likewise
    metrics: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # metrics that cannot be had here, and why
    wrong: list[str] = field(default_factory=list)

    def passes_unseen(self, share: float) -> float:
        """The probability that none of the sample is altered where that share of all chains is."""
        altered = min(self.chains, max(1, round(share * self.chains)))
        return comb(self.chains - altered, len(self.sampled)) / comb(self.chains, len(self.sampled))


def recompute(folder: Path, seed: str, count: int | None, quiet: bool = False) -> Recomputed:
    """Compare `count` chains, drawn by the seed, or all of them, with what the dataset says of them."""
    reader = Reader(folder)
    chains, stored = find_chains(reader), stored_rows(reader)
    tasks = plan_floors(reader, chains)
    drawn = random.Random(seed)
    sample = chains if count is None or count >= len(chains) else drawn.sample(chains, count)
    some_tasks = tasks if count is None else drawn.sample(tasks, min(FLOORS, len(tasks)))
    found = Recomputed(len(chains), sorted(chain.chain.id for chain in sample), floors=len(some_tasks))
    known = earlier_results.read_results(reader, chains, tasks, scored_specs())
    for signature, own in by_signature(chains, stored):
        chosen = chosen_metrics(signature, found)
        names = [run.name for run in chosen.runs]
        if strange := [chain for chain in own if any((chain.chain.id, name) not in known.scores for name in names)]:
            id = strange[0].chain.id
            found.wrong.append(f"chain {id}: its scores are of other pictures, or of another engine than this one")
            continue
        job = Job(folder, reader, chains, chosen, tasks, known)
        medians = job.floor_medians()
        found.wrong += retained_differences(own, chosen, medians, known, stored)
        some = [chain for chain in sample if chain in own]
        images = sum(len(chain.scored_steps) for chain in some)
        with progress_bar("score again", images, "images", quiet) as advance:
            again = compute_again(replace(job, chains=some, tasks=some_tasks), medians, advance)
        found.wrong += differences(some, again, chosen, stored)
        found.wrong += floor_differences(some_tasks, again, known, chosen)
        found.steps += images
    return found


def stored_rows(reader: Reader) -> dict[tuple[str, int], Row]:
    return {(row["chain"], row["step"]): row for row in reader.rows("scores")}


def by_signature(
    chains: Sequence[DatasetChain], stored: Mapping[tuple[str, int], Row]
) -> Iterator[tuple[dict[str, Any], list[DatasetChain]]]:
    """The chains that were scored alike, with what their numbers depend on besides their size."""
    found: dict[str, list[DatasetChain]] = defaultdict(list)
    for chain in chains:
        signature = signature_of(stored.get((chain.chain.id, 1), {}))
        found[json.dumps({name: part for name, part in signature.items() if name != "engine"})].append(chain)
    for words, own in found.items():
        yield json.loads(words), own


def chosen_metrics(signature: Mapping[str, Any], found: Recomputed) -> metrics.Metrics:
    """The metrics of a signature as they are here; those that differ, or are not to be had, are noted."""
    specs = scored_specs()
    names = [name for name in signature if name in specs]
    dtypes = {part["dtype"] for part in signature.values() if isinstance(part, dict) and "dtype" in part}
    options = {"ssim": {"window": signature["ssim"].get("window", "gaussian")}} if "ssim" in signature else {}
    chosen = metrics.choose(names, "cpu", dtypes.pop() if len(dtypes) == 1 else "float32", options)
    runs = []
    for run in chosen.runs:
        if run.signature == signature[run.name]:
            runs.append(run)
            continue
        mine, theirs = (json.dumps(part, sort_keys=True) for part in (run.signature, signature[run.name]))
        found.wrong.append(f"{run.name} was computed as {theirs}, and here it is {mine}; score with this version")
    found.left_out |= chosen.absent | dict.fromkeys(signature.keys() - specs.keys() - STATED, "no such metric here")
    found.metrics = sorted({*found.metrics, *(run.name for run in runs)})
    return replace(chosen, runs=tuple(runs))


def compute_again(job: Job, medians: Mapping[FloorPlace, Medians], advance: Advance) -> Results:
    """The scores of the job's chains and the floors of its tasks, from their pictures."""
    digests = {chain.chain.id: chain.digest for chain in job.chains}
    with tempfile.TemporaryDirectory() as temporary:
        with Shard(Path(temporary), "0000.jsonl") as shard:
            worker = Worker(replace(job, results=Results()), advance)
            worker.compare_floors(job.tasks, shard)
            worker.score(job.chains, BATCH, medians, shard)
        again = Results()
        again.add_lines(ShardLines(Path(temporary)).new(), job.metrics.specs, digests)
    return again


def differences(
    sample: Sequence[DatasetChain],
    again: Results,
    chosen: metrics.Metrics,
    stored: Mapping[tuple[str, int], Row],
) -> Iterator[str]:
    """Where a value of a sampled chain is another than its pictures give; one sentence for each chain."""
    for chain in sample:
        for placed in chain.scored_steps:
            row = stored[chain.chain.id, placed.step.step]
            values = {
                column: (value, tolerance(run))
                for run in chosen.runs
                for column, value in again.scores[chain.chain.id, run.name][1][placed.step.step].items()
            }
            if wrong := next((name for name, each in values.items() if differs(row.get(name), *each)), None):
                said, made = shown(row.get(wrong)), shown(table.stored(values[wrong][0]))
                yield (
                    f"chain {chain.chain.id}, step {placed.step.step}: {wrong} is {said} in the scores "
                    f"and {made} from its picture"
                )
                break


def retained_differences(
    chains: Sequence[DatasetChain],
    chosen: metrics.Metrics,
    medians: Mapping[FloorPlace, Medians],
    known: Results,
    stored: Mapping[tuple[str, int], Row],
) -> Iterator[str]:
    """Where a retained value is not what its score and its floors make of it, over all chains."""
    columns = [column for run in chosen.runs for column in run.spec.columns if column.floor]
    for chain in chains:
        for row, _ in table.chain_rows(chain, known, chosen.specs, {}, medians.get(floor_place(chain), {}), {}):
            own = stored.get((chain.chain.id, row["step"]), {})
            names = [column.retained for column in columns]
            if wrong := next((name for name in names if differs(own.get(name), row[name], PIXELS_TOLERANCE)), None):
                yield (
                    f"chain {chain.chain.id}, step {row['step']}: {wrong} is {shown(own.get(wrong))} in the scores "
                    f"and {shown(row[wrong])} from its score and floor"
                )
                break


def floor_differences(
    tasks: Sequence[FloorTask], again: Results, known: Results, chosen: metrics.Metrics
) -> Iterator[str]:
    """Where a floor is another than the pictures give."""
    for task in tasks:
        for run in (run for run in chosen.runs if run.spec.floors):
            mine = again.floors.get((task.key, run.name), ({}, {}))[1]
            theirs = known.floors.get((task.key, run.name), ({}, {}))[1]
            for other, values in mine.items():
                for column, value in values.items():
                    if differs(theirs.get(other, {}).get(column), value, tolerance(run)):
                        yield (
                            f"the floor of {column} between {task.reference.source} and {other} is "
                            f"{shown(theirs.get(other, {}).get(column))} and not {shown(value)}"
                        )


def tolerance(run: metrics.MetricRun) -> float:
    """By how much another machine may come to another value."""
    return PIXELS_TOLERANCE if run.spec.kind == "picture" and "dtype" not in run.signature else TOLERANCE


def differs(said: Any, value: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether a value of the scores is another than the one that was computed."""
    mine = table.stored(value) if not isinstance(value, str) else value
    if isinstance(mine, float) and isinstance(said, float):
        return not isclose(said, mine, rel_tol=tolerance, abs_tol=tolerance)
    return said != mine


def shown(value: Any) -> str:
    return "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)[:60]
