"""Computes a sample of a dataset's scores again from the pictures.

Every retained value is checked, as it follows from scores and floors; chains and
floors are sampled.
"""

import itertools
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, isclose
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.progress import progress_bar

from ..._engine import metrics
from ..._engine.chains import DatasetChain, find_chains
from ..._engine.engine import BATCH, Job
from ..._engine.floors import FloorPlace, Medians, floor_place, plan_floors
from ..._engine.metrics import MetricRun
from ..._engine.results import Results, chain_rows, read_results
from ..._engine.worker import compare_floors, score_chains
from ...scores import signature_of
from ...specs import scored_specs

# How much machines differ, relative to the value or to 1.
_TOLERANCE, _PIXELS_TOLERANCE = 1e-4, 1e-7
_FLOORS = 5  # references whose floors are computed again
_NOT_METRICS = {"engine", "pictures"}  # parts of a signature
_Rows = Mapping[tuple[str, int], Mapping[str, Any]]  # of the scores, by chain and step


@dataclass
class Recomputed:
    chains: int  # of the dataset
    sampled: list[str]
    steps: int = 0  # whose scores were computed again
    floors: int = 0  # references, likewise
    metrics: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # metrics that cannot be computed here, and why
    wrong: list[str] = field(default_factory=list)

    def passes_unseen(self, share: float) -> float:
        """The probability that the sample misses every altered chain."""
        altered = min(self.chains, max(1, round(share * self.chains)))
        return comb(self.chains - altered, len(self.sampled)) / comb(self.chains, len(self.sampled))


def recompute(folder: Path, seed: str, count: int | None, quiet: bool = False) -> Recomputed:
    """Compare `count` chains, drawn by the seed, or all, with the scores."""
    reader = Reader(folder)
    chains, rows = find_chains(reader), {(row["chain"], row["step"]): row for row in reader.rows("scores")}
    tasks = plan_floors(reader, chains)
    drawn = random.Random(seed)
    sample = chains if count is None or count >= len(chains) else drawn.sample(chains, count)
    task_sample = tasks if count is None else drawn.sample(tasks, min(_FLOORS, len(tasks)))
    outcome = Recomputed(len(chains), sorted(chain.chain.id for chain in sample), floors=len(task_sample))
    recorded = read_results(reader, chains, tasks)
    for signature, signed in _by_signature(chains, rows):
        runs = _chosen_metrics(signature, outcome)
        names = {run.name for run in runs}
        scored = [names <= recorded.parts.get(chain.chain.id, {}).keys() for chain in signed]
        if not all(scored):
            first = signed[scored.index(False)].chain.id
            outcome.wrong.append(f"chain {first}: its scores are of other pictures or of another engine")
            continue
        medians = Job(folder, reader, chains, runs, {}, tasks, recorded).floor_medians()
        retained = [column.retained for run in runs for column in run.spec.columns if column.floor]
        exact = dict.fromkeys(retained, _PIXELS_TOLERANCE)
        outcome.wrong += _differences(signed, recorded, medians, exact, rows, "score and floor")
        job = Job(folder, reader, [chain for chain in sample if chain in signed], runs, {}, task_sample)
        outcome.steps += _score_again(job, medians, quiet)
        tolerances = {column: _tolerance(run) for run in runs for column in run.spec.names}
        outcome.wrong += _differences(job.chains, job.results, {}, tolerances, rows, "picture")
        outcome.wrong += _floor_differences(job, recorded)
    return outcome


def _score_again(job: Job, medians: Mapping[FloorPlace, Medians], quiet: bool) -> int:
    images = sum(chain.images for chain in job.chains)
    with progress_bar("score again", images, "images", quiet) as advance:
        for line in compare_floors(job, job.tasks):
            job.results.add(line)
        for line in score_chains(job, job.chains, BATCH, medians):
            job.results.add(line)
            advance(len(line["rows"]), "")
    return images


def _by_signature(
    chains: Sequence[DatasetChain], rows: _Rows
) -> Iterator[tuple[dict[str, Any], list[DatasetChain]]]:
    groups: dict[str, list[DatasetChain]] = defaultdict(list)
    for chain in chains:
        signature = signature_of(rows.get((chain.chain.id, 1), {}))
        groups[json.dumps({name: part for name, part in signature.items() if name != "engine"})].append(chain)
    for text, group in groups.items():
        yield json.loads(text), group


def _chosen_metrics(signature: Mapping[str, Any], outcome: Recomputed) -> list[MetricRun]:
    specs = scored_specs()
    dtypes = {part["dtype"] for part in signature.values() if isinstance(part, dict) and "dtype" in part}
    fast = dtypes - {"float32"}  # which some metrics use whatever was asked for
    dtype = fast.pop() if len(fast) == 1 else "float32"
    chosen, absent = metrics.choose([name for name in signature if name in specs], "cpu", dtype)
    runs = []
    for run in chosen:
        if run.signature == signature[run.name]:
            runs.append(run)
            continue
        ours, theirs = (json.dumps(part, sort_keys=True) for part in (run.signature, signature[run.name]))
        outcome.wrong.append(
            f"{run.name} was computed as {theirs}, and here it is {ours}; score with this version"
        )
    unknown = signature.keys() - specs.keys() - _NOT_METRICS
    outcome.left_out |= absent | dict.fromkeys(unknown, "no such metric here")
    outcome.metrics = sorted({*outcome.metrics, *(run.name for run in runs)})
    return runs


def _differences(
    chains: Sequence[DatasetChain],
    results: Results,
    floors: Mapping[FloorPlace, Medians],
    tolerances: Mapping[str, float],
    rows: _Rows,
    origin: str,
) -> Iterator[str]:
    for chain in chains:
        medians, id = floors.get(floor_place(chain), {}), chain.chain.id
        for computed, _ in chain_rows(chain, results, scored_specs(), {}, medians):
            row, step = rows.get((id, computed["step"]), {}), computed["step"]
            if wrong := [
                name for name, most in tolerances.items() if _differs(row.get(name), computed[name], most)
            ]:
                stored, expected = _shown(row.get(wrong[0])), _shown(computed[wrong[0]])
                yield f"chain {id}, step {step}: {wrong[0]} is {stored} in the scores and {expected} from its {origin}"
                break


def _floor_differences(job: Job, recorded: Results) -> Iterator[str]:
    for task, run in itertools.product(job.tasks, job.runs):
        key = task.key, run.name
        computed, stored = (results.floors.get(key, ({}, {}))[1] for results in (job.results, recorded))
        for other, row in computed.items():
            for column, value in row.items():
                stored_value = stored.get(other, {}).get(column)
                if _differs(stored_value, value, _tolerance(run)):
                    between = f"between {task.reference.source} and {other}"
                    yield f"the floor of {column} {between} is {_shown(stored_value)} and not {_shown(value)}"


def _tolerance(run: MetricRun) -> float:
    return _PIXELS_TOLERANCE if run.spec.kind == "picture" and "dtype" not in run.signature else _TOLERANCE


def _differs(stored: object, computed: object, tolerance: float) -> bool:
    if isinstance(computed, float) and isinstance(stored, float):
        return not isclose(stored, computed, rel_tol=tolerance, abs_tol=tolerance)
    return stored != computed


def _shown(value: object) -> str:
    return "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)[:60]
