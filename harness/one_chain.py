"""Scores one finished chain by itself, to the numbers that `convergebench score` gives it among all others.

What it takes from the others are the floors, which belong to the suite's pictures: those are here before any chain is.
"""

import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.dataset_builder.building.build import plan_files, write_files
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import SOURCES, source_row
from convergebench.dataset_builder.dataset.schema import write
from convergebench.generation.records import Source
from convergebench.generation.store_reader import StoredChain, read_chain, read_source_file
from convergebench.metric_modules._engine import metrics, table
from convergebench.metric_modules._engine.chains import find_chains
from convergebench.metric_modules._engine.engine import BATCH, Job
from convergebench.metric_modules._engine.floors import floor_medians, floor_place, floor_task, originals_of
from convergebench.metric_modules._engine.results import Results, Shard, ShardLines
from convergebench.metric_modules._engine.worker import Worker
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.spaces_app.analysis.analysis import Analysis

Row = dict[str, Any]


@dataclass(frozen=True)
class ScoredChain:
    """The rows of a chain as the scores hold them, and what became of it; None where no headline counts it."""

    chain: StoredChain
    rows: list[Row]
    outcome: Outcome | None
    cause: str | None


class OneChainScorer:
    """Scores chains of one suite's pictures, one after the other; floors are computed once for each picture."""

    def __init__(self, run: Path, sources: Sequence[Source], asked: Sequence[str] | None = None):
        self.run, self.sources = run, sources
        self.metrics = metrics.choose(asked, None, None)
        self.floors = Results()
        self.lock = threading.Lock()

    def score(self, chain_id: str, suite: str, suite_version: str, role: str = "editor") -> ScoredChain:
        """The scores of a finished chain of the run."""
        stored = read_chain(self.run / "chains" / chain_id, suite, suite_version)
        with self.lock, tempfile.TemporaryDirectory() as temporary:
            return self.score_in(Path(temporary), stored, role)

    def score_in(self, folder: Path, stored: StoredChain, role: str) -> ScoredChain:
        write_files(folder, plan_files([stored], []), lambda: None, {})
        rows = [source_row(each, data, path) for each in self.sources for path, data in [self.read(each)]]
        (folder / "data" / "sources").mkdir(parents=True)
        write(folder / "data" / "sources" / "0000.parquet", SOURCES, rows)
        reader = Reader(folder)
        [chain] = find_chains(reader)
        originals = originals_of(reader)
        others = [originals[name] for name in sorted(originals)]
        task = floor_task(originals[stored.source.id], floor_place(chain)[2], others)
        results = Results(floors={key: known for key, known in self.floors.floors.items() if key[0] == task.key})
        job = Job(folder, reader, [chain], self.metrics, [task], results)
        (folder / "work").mkdir()
        lines, worker = ShardLines(folder / "work"), Worker(job, lambda count, words: None)
        with Shard(folder / "work", "0000.jsonl") as shard:
            worker.compare_floors([task] if job.lacking_floors(task) else [], shard)
            results.add_lines(lines.new(), self.metrics.specs, {})
            self.floors.floors |= results.floors
            pairs = results.pairs(task, self.metrics.specs)
            medians = floor_medians(pairs, {source.id for source in self.sources})
            worker.score([chain], BATCH, {floor_place(chain): medians}, shard)
        results.add_lines(lines.new(), self.metrics.specs, {stored.id: chain.digest})
        specs, absent = job.stored_specs(), self.metrics.absent
        scores = [row for row, _ in table.chain_rows(chain, results, specs, absent, medians, {})]
        floors = list(table.floor_rows([task], results, self.metrics.specs))
        return self.judged(reader, stored, scores, floors, role)

    def read(self, source: Source) -> tuple[str, bytes]:
        return read_source_file(self.run, source.sha256)

    def judged(
        self, reader: Reader, stored: StoredChain, scores: list[Row], floors: Sequence[Mapping[str, Any]], role: str
    ) -> ScoredChain:
        """The scores with the round and the cause of the loss, by the report's own rules."""
        analysis = Analysis(scores, [reader.chain(stored.id)], floors, roles={stored.editor: role})
        for editors in analysis.outcomes.values():
            for outcome in editors.get(stored.editor, ()):
                return ScoredChain(stored, scores, outcome, outcome.cause)
        return ScoredChain(stored, scores, None, None)
