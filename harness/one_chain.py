"""Scores one chain by itself, with the numbers of `convergebench score` on the run."""

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building.build import plan_files, write_files
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import SOURCES, source_row
from convergebench.dataset_builder.dataset.schema import write
from convergebench.generation.records import Source
from convergebench.generation.store_reader import StoredChain, read_chain, read_source_file
from convergebench.metric_modules._engine import metrics
from convergebench.metric_modules._engine.chains import find_chains
from convergebench.metric_modules._engine.engine import BATCH, Job
from convergebench.metric_modules._engine.floors import floor_medians, floor_place, floor_task, originals_of
from convergebench.metric_modules._engine.results import Results, chain_rows, floor_rows
from convergebench.metric_modules._engine.worker import compare_floors, score_chains
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.analysis import Analysis

Scored = tuple[list[dict[str, Any]], Outcome | None]


class OneChainScorer:
    """Scores chains of one suite; a picture's floors are computed once."""

    def __init__(self, run: Path, sources: Sequence[Source], names: Sequence[str] | None = None):
        self.run, self.sources = run, sources
        self.runs, self.absent = metrics.choose(names, None, None)
        self.floors = Results()
        self.lock = threading.Lock()

    def score(self, chain_id: str, suite: str, suite_version: str, role: str = "editor") -> Scored:
        """A chain's rows of `scores`, and its outcome; None if it cannot be judged."""
        stored = read_chain(self.run / "chains" / chain_id, suite, suite_version)
        with self.lock, tempfile.TemporaryDirectory() as folder:
            return self._score_in(Path(folder), stored, role)

    def _score_in(self, folder: Path, stored: StoredChain, role: str) -> Scored:
        write_files(folder, plan_files([stored], []), lambda: None, {})
        files = [(source, *read_source_file(self.run, source.sha256)) for source in self.sources]
        rows = [source_row(source, data, path) for source, path, data in files]
        write(folder / "data" / "sources" / "0000.parquet", SOURCES, rows)
        reader = Reader(folder)
        [chain] = find_chains(reader)
        originals = originals_of(reader)
        # In the engine's order of pictures, because float sums depend on the order.
        task = floor_task(
            originals[stored.source.id], floor_place(chain)[2], [originals[id] for id in sorted(originals)]
        )
        results = Results(floors={key: values for key, values in self.floors.floors.items() if key[0] == task.key})
        job = Job(folder, reader, [chain], self.runs, self.absent, [task], results)
        for line in compare_floors(job, [task] if job.lacking_floors(task) else []):
            results.add(line)
        self.floors.floors |= results.floors
        medians = floor_medians(results.pairs(task), {source.id for source in self.sources})
        for line in score_chains(job, [chain], BATCH, {floor_place(chain): medians}):
            results.add(line)
        scores = [row for row, _ in chain_rows(chain, results, job.stored_specs(), self.absent, medians)]
        analysis = Analysis(scores, [reader.chain(stored.id)], floor_rows([task], results), roles={stored.editor: role})
        outcomes = [outcome for group in analysis.outcomes.values() for outcome in group.get(stored.editor, ())]
        return scores, outcomes[0] if outcomes else None
