"""The dataset that the Space serves; pictures are read on demand."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from convergebench.dataset_builder.dataset.columns import Values
from convergebench.dataset_builder.dataset.manifest import no_dataset
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import FloorRow
from convergebench.generation.records import FinishedChain, Step, UserError
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.scores import ScoreRow

from ..analysis.analysis import Analysis
from ..analysis.cases import Case, refuse_orphans
from ..analysis.display_names import display_names
from ..analysis.floors import excluded_text
from ..analysis.groups import HALF, CaseGroup, group_cases, outcome_of_case
from ..analysis.reasons import losing_step, loss_clause, lost_outline, verdict_words
from ..analysis.stored_rows import TableRows
from ..palette import Look, assign_looks
from ..reporting.headline import suites_of

COPIED_TABLES = ("chains", "scores", "floors", "sources", "editors")  # whole, from a dataset on the Hub
_REPEATED = ["chain", "editor", "source", "program", "status", "reasons", "signature"]  # kept dictionary-encoded
MANY_STEPS = 60_000  # scored steps; beyond, reading the latency of each call would be too slow
PUBLISHED = Path(__file__).with_name("published.json")  # names the Space's dataset; written by publishing
DAMAGED_FILE = (pa.ArrowException, OSError)
Answer = dict[str, Any]  # JSON: an endpoint's answer, or a part of it


class NoPicture(UserError):
    """A picture cannot be shown; the message says why."""


def explain(error: BaseException) -> str:
    """An error message for visitors: for a damaged file its first line, without paths on this machine."""
    if isinstance(error, UserError) and not isinstance(error, UnreadableFile):
        return str(error)
    line = (str(error).splitlines() or [type(error).__name__])[0]
    words = " ".join(word for word in line.split() if "/" not in word)[:200]
    return f"a file of this dataset cannot be read ({words})"


def check_allowed(what: str, values: Iterable[str], allowed: Collection[str]) -> None:
    for value in values:
        if value not in allowed:
            raise UserError(f"no {what} {value[:40]!r}; it must be one of {', '.join(allowed)}")


def number(text: str, default: float) -> float:
    """A number from the text of a URL parameter."""
    try:
        return float(text) if text else default
    except ValueError:
        raise UserError(f"{text[:40]!r} is not a number") from None


def open_dataset(where: str | None = None, revision: str | None = None) -> "ServedDataset":
    """Open the dataset in this folder or Hub repo; by default that of the environment or the Space."""
    named = where or os.environ.get("CONVERGEBENCH_DATASET")
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    where = named or published["dataset"]
    folder = Path(where)
    if folder.is_dir():
        return ServedDataset(Reader(folder))
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", where) or where.startswith((".", "/")):
        raise UserError(f"no dataset {where!r}; give a folder that exists here or a Hub repo as NAMESPACE/NAME")
    revision = revision or os.environ.get("CONVERGEBENCH_REVISION") or (None if named else published["revision"])
    reader = Reader(f"hf://datasets/{where}@{revision}" if revision else f"hf://datasets/{where}")
    try:
        reader.copy_tables(COPIED_TABLES)
    except OSError as error:  # all errors of the Hub's client are OSErrors
        why = f"{where!r} is not a folder, and the Hub has no dataset of that name ({type(error).__name__})"
        raise UserError(f"{why}; check the name and the connection") from error
    return ServedDataset(reader)


class ServedDataset(Analysis):
    def __init__(self, reader: Reader):
        self.reader, self.folder = reader, reader.folder
        chains = reader.chains() if reader.files("chains") else []
        if not chains:
            raise no_dataset(self.folder)
        reader.refuse_unfinished(besides="steps")  # a chain's pictures may be missing
        self.chain_of = {chain.id: chain for chain in chains}
        self.score_table, self._slice_of = _read_scores(reader)
        refuse_orphans(self._slice_of, chains)
        super().__init__(
            TableRows(self.score_table, ScoreRow),
            chains,
            reader.rows_of(FloorRow),
            _mean_calls(reader, chains, self.score_table.num_rows),
            {label: editor.role for label, editor in reader.editors().items()},
        )
        self.scores_of = lru_cache(maxsize=256)(self._scores_of)

    @property
    def why_nothing_counts(self) -> str:
        pictures = excluded_text(self.look_alikes)
        because = f"; excluded because too many unrelated pictures resemble them: {pictures}" if pictures else ""
        return f"No test here asks for a change and its undo, so no headline counts them{because}."

    @cached_property
    def uncounted(self) -> dict[str, CaseGroup]:
        """Groups without a headline, such as additions; curves and failures show them too."""
        return group_cases(self.cases, self.look_alikes, self.apart, self.roles, counted=False)

    @cached_property
    def case_of(self) -> dict[str, Case]:
        return {case.chain.id: case for case in self.cases}

    def checks_of(self, case: Case) -> tuple[str, ...]:
        group = self.groups.get(case.group)
        return group.checks_of(case.editor) if group else ()

    def check_editors(self, editors: Iterable[str]) -> None:
        check_allowed("editor", editors, self.names["editor"])

    def is_tested(self, editor: str) -> bool:
        return self.roles.get(editor, "editor") == "editor"

    @cached_property
    def link(self) -> str:
        path, _, revision = self.reader.root.partition("@")
        return f"https://huggingface.co/{path}/tree/{revision or 'main'}" if self.reader.remote else ""

    @cached_property
    def version(self) -> str:
        revision = self.reader.root.partition("@")[2] if self.reader.remote else ""
        return revision[:12] or suites_of(self.chains)

    @cached_property
    def display(self) -> dict[str, str]:
        return display_names(self.names["editor"])

    @cached_property
    def looks(self) -> dict[str, Look]:
        editors = self.names["editor"]
        return assign_looks(editors, [name for name in editors if not self.is_tested(name)])

    @cached_property
    def sources(self) -> dict[str, Values]:
        rows = self.reader.rows("sources", ["source", "title", "attribution", "licence"])
        return {row["source"]: row for row in rows}

    def title(self, source: str) -> str:
        return (self.sources.get(source) or {}).get("title") or source

    def chain(self, chain: str) -> FinishedChain:
        if chain not in self.chain_of:
            raise UserError(f"no chain {chain[:40]!r} in this dataset; the address may be of another version")
        return self.chain_of[chain]

    def step(self, chain: str, number: int) -> Step:
        steps = {step.step: step for step in self.reader.steps_of(self.chain(chain))}
        if number not in steps:
            raise UserError(f"chain {chain} has no step {number}; its steps are 0 to {max(steps, default=0)}")
        return steps[number]

    def _scores_of(self, chain: str) -> dict[int, ScoreRow]:
        start, end = self._slice_of.get(chain, (0, 0))
        rows = map(ScoreRow.from_scores, self.score_table.slice(start, end - start).to_pylist())
        return {row.step: row for row in rows}

    @cached_property
    def names(self) -> dict[str, list[str]]:
        return {
            "editor": list(dict.fromkeys(chain.editor for chain in self.chains)),
            "source": list(dict.fromkeys(chain.source.id for chain in self.chains)),
            "program": list(dict.fromkeys(chain.program.id for chain in self.chains)),
            "kind": list(dict.fromkeys(chain.source.kind for chain in self.chains)),
            "category": list(dict.fromkeys(chain.program.category for chain in self.chains)),
        }

    @cached_property
    def runs_of(self) -> dict[tuple[str, str, str], list[str]]:
        """Chain ids by editor, source and program, one for each run."""
        runs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for chain in sorted(self.chains, key=lambda chain: chain.run):
            runs[chain.editor, chain.source.id, chain.program.id].append(chain.id)
        return dict(runs)


def ending(
    case: Case,
    checks: Sequence[str],
    scores: Mapping[int, ScoreRow],
    threshold: float = HALF,
    outcome: Outcome | None = None,
) -> Answer:
    """How a case ended: the rounds that it kept, and in which step and why it was lost."""
    outcome = outcome or outcome_of_case(case, checks, threshold)
    step = losing_step(case, outcome, scores)
    row = scores.get(step) if step else None
    clause = loss_clause(case, outcome, checks, threshold, row)
    return {
        "kept": outcome.rounds_kept,
        "cause": outcome.cause,
        "lost_at": outcome.lost_at,
        "lost_step": step,
        "clause": clause,
        "verdict": verdict_words(case, outcome, clause),
        "outline": lost_outline(row) if outcome.cause == "part lost" else [],
        "quality": case.quality(checks),
    }


def _read_scores(reader: Reader) -> tuple[pa.Table, dict[str, tuple[int, int]]]:
    """All scores, sorted by chain, and each chain's range of rows; by column, so nothing is in memory twice."""
    if not (files := reader.files("scores")):
        raise UserError(f"{reader.folder} has no scores yet; `convergebench score {reader.folder}` adds them")
    columns: dict[str, pa.Array] = {}
    empty: dict[pa.DataType, pa.Array] = {}
    for name in reader.plain_columns(files[0]):
        encoded = [name] if name in _REPEATED else []
        column = (
            reader.table("scores", [name], encoded).unify_dictionaries().combine_chunks()[name].combine_chunks()
        )
        if column.null_count == len(column) and not encoded:
            column = empty.setdefault(column.type, column)
        columns[name] = column
    table = pa.table(columns)
    codes, names = columns["chain"].indices.to_numpy(), columns["chain"].dictionary.to_pylist()
    order = np.lexsort((table["step"].to_numpy(), codes))
    if (np.diff(order) != 1).any():
        table = table.take(pa.array(order)).combine_chunks()
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1)).tolist()
    return table, dict(zip(names, pairwise(ends), strict=True))


def _mean_calls(reader: Reader, chains: Iterable[FinishedChain], scored_steps: int) -> list[dict[str, Any]]:
    """The mean latency and cost of each chain's answered calls, as a row of the config `steps`.

    On the Hub and in very large folders only the costs are known: reading all steps would take too long.
    """
    row = {"round": 1, "status": "ok", "latency": None}
    if reader.remote is not None or scored_steps > MANY_STEPS:
        # The call that ended a chain was not answered.
        answered = [(chain, chain.calls - (chain.status != "complete")) for chain in chains]
        means = [(chain.id, chain.cost / n) for chain, n in answered if chain.cost is not None and n > 0]
        return [row | {"chain": name, "cost": cost} for name, cost in means]
    rows: list[dict[str, Any]] = []
    for file in reader.files_present("steps"):
        try:
            calls = reader.file_table(file, ["chain", "round", "status", "latency", "cost"])
        except DAMAGED_FILE:
            continue  # visitors see the reason when they open one of its chains
        answers = calls.filter(pc.and_(pc.equal(calls["status"], "ok"), pc.greater(calls["round"], 0)))
        means = answers.group_by("chain").aggregate([("latency", "mean"), ("cost", "mean")]).to_pylist()
        rows += [row | {"chain": m["chain"], "latency": m["latency_mean"], "cost": m["cost_mean"]} for m in means]
    return rows
