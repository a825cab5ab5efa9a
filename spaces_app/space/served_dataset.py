"""The dataset that the Space serves: scores and chains in memory, pictures read on demand."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from convergebench.dataset_builder.dataset.columns import Values
from convergebench.dataset_builder.dataset.damage import refuse_missing
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import StepRow
from convergebench.generation.records import FinishedChain, Step, UserError
from convergebench.metric_modules.scores import FloorRow, ScoreRow

from ..analysis.analysis import Analysis
from ..analysis.cases import Case, read_cases
from ..analysis.display_names import display_names
from ..analysis.floors import Floors, excluded_text
from ..analysis.groups import CaseGroup, group_cases
from ..analysis.stored_rows import SlicedRows
from ..palette import Look, assign_looks

SMALL = ("chains", "scores", "floors", "sources", "editors")  # copied whole from a dataset on the Hub
_REPEATED = ["chain", "editor", "source", "program", "status", "reasons", "signature"]
MANY_STEPS = 60_000  # scored steps; beyond, reading the latency of each call would be too slow
PUBLISHED = Path(__file__).with_name("published.json")  # publishing the Space writes its dataset's name there
DAMAGED_FILE = (pa.ArrowException, OSError)
Answer = dict[str, Any]  # JSON: an endpoint's answer, or a part of it


class NoPicture(UserError):
    """A picture cannot be shown; the message says why."""


def damage_sentence(error: BaseException) -> str:
    """An error's first line for visitors, without the paths of this machine."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    words = " ".join(word for word in line.split() if "/" not in word)[:200]
    return f"a file of this dataset cannot be read ({words})"


def open_dataset(where: str | None = None, revision: str | None = None) -> "ServedDataset":
    """The dataset in this folder or Hub repo; by default the one that CONVERGEBENCH_DATASET or published.json names."""
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
        reader.copy_tables(SMALL)
    except OSError as error:  # all errors of the Hub's client are OSErrors
        raise UserError(
            f"{where!r} is not a folder, and the Hub has no dataset of that name ({type(error).__name__}); "
            "give a folder that exists, or check the name and the connection to the Hub"
        ) from error
    return ServedDataset(reader)


class ServedDataset:
    """One scored dataset, as every tab reads it."""

    def __init__(self, reader: Reader):
        self.reader = reader
        self.folder = reader.folder
        chains = reader.chains() if reader.files("chains") else []
        if not chains:
            raise UserError(f"{self.folder} is not a dataset: data/chains is missing; `convergebench build` makes it")
        if reader.remote is None:
            refuse_missing(self.folder, besides="steps")  # a chain's pictures may be missing
        self.chains = {chain.id: chain for chain in chains}
        self.roles = {label: editor.role for label, editor in reader.editors().items()}
        self.floors = Floors(reader.rows_of(FloorRow), chains)
        self.look_alikes = self.floors.look_alikes(chains)
        self.excluded = list(self.look_alikes)
        self.scores = _read_scores(reader)
        self.score_slices = _slices_by_chain(self.scores)
        self.scores_of = lru_cache(maxsize=256)(self._scores_of)

    @property
    def why_nothing_counts(self) -> str:
        """Shown to a visitor if no case is counted."""
        nothing = "these scores have no case that counts"
        pictures = excluded_text(self.look_alikes)
        return (
            f"{nothing}; excluded because too many unrelated pictures resemble them: {pictures}"
            if pictures
            else nothing
        )

    @cached_property
    def cases(self) -> list[Case]:
        """Every chain as the statistics see it, read editor by editor to limit the rows in memory."""
        by_editor: dict[str, list[FinishedChain]] = defaultdict(list)
        for chain in self.chains.values():
            by_editor[chain.editor].append(chain)
        cases = []
        for chains in by_editor.values():
            slices = [self.score_slices.get(chain.id, (0, 0)) for chain in chains]
            scores = SlicedRows(self.scores, slices)
            calls = [self.mean_calls[chain.id] for chain in chains if chain.id in self.mean_calls]
            cases += read_cases(scores, chains, self.floors, calls)[0]
        return cases

    @cached_property
    def case_of(self) -> dict[str, Case]:
        """The case of each chain that has scores."""
        return {case.chain.id: case for case in self.cases}

    @cached_property
    def counted(self) -> dict[str, CaseGroup]:
        """The groups of programs that a headline counts, with their cases."""
        return group_cases(self.cases, self.excluded, self.apart, self.roles)

    def checks_of(self, case: Case) -> tuple[str, ...]:
        """The checks for a case; none if no headline counts its group."""
        group = self.counted.get(case.group)
        return group.checks_of(case.editor) if group else ()

    def check_editors(self, editors: Iterable[str]) -> None:
        """Refuses a name that is not an editor's."""
        for name in editors:
            if name not in self.names["editor"]:
                raise UserError(f"no editor {name[:40]!r}; the editors are {', '.join(self.names['editor'])}")

    def is_tested(self, editor: str) -> bool:
        """Whether an editor is under test, not a baseline or transport."""
        return self.roles.get(editor, "editor") == "editor"

    @cached_property
    def apart(self) -> dict[str, tuple[str, ...]]:
        """Why editors are listed apart in every table."""
        rows = SlicedRows(self.scores, list(self.score_slices.values()))
        return Analysis(rows, list(self.chains.values()), roles=self.roles).apart

    @cached_property
    def mean_calls(self) -> dict[str, StepRow]:
        """The mean latency and cost of each chain's answered calls, as a row of the config `steps`.

        On the Hub and in very large folders only the costs are known: reading all steps would take too long.
        """
        if self.reader.remote is None and self.scores.num_rows <= MANY_STEPS:
            return _mean_calls_of_steps(self.reader)
        return mean_calls_of_chains(self.chains.values())

    @cached_property
    def link(self) -> str:
        """The dataset's address on the Hub; empty for a local folder."""
        path, _, revision = self.reader.root.partition("@")
        return f"https://huggingface.co/{path}/tree/{revision or 'main'}" if self.reader.remote else ""

    @cached_property
    def version(self) -> str:
        """The revision of a Hub dataset, otherwise the suites with their versions."""
        if self.reader.remote and "@" in self.reader.root:
            return self.reader.root.partition("@")[2][:12]
        return ", ".join(sorted({f"{chain.suite} v{chain.suite_version}" for chain in self.chains.values()}))

    @cached_property
    def display(self) -> dict[str, str]:
        """The display name of each editor."""
        return display_names(self.names["editor"])

    @cached_property
    def looks(self) -> dict[str, Look]:
        """Colour and marker of each editor, the same everywhere."""
        return assign_looks(self.names["editor"], self.references)

    @cached_property
    def sources(self) -> dict[str, Values]:
        """Title, attribution and licence of every picture, without the picture itself."""
        if not self.reader.files("sources"):
            return {}
        rows = self.reader.rows("sources", ["source", "title", "attribution", "licence"])
        return {row["source"]: row for row in rows}

    def title(self, source: str) -> str:
        """The display name of a picture."""
        return (self.sources.get(source) or {}).get("title") or source

    @cached_property
    def references(self) -> list[str]:
        """The editors that are baselines."""
        return [name for name in self.names["editor"] if not self.is_tested(name)]

    def chain(self, chain: str) -> FinishedChain:
        """A chain by its id; an unknown id is a UserError."""
        if chain not in self.chains:
            raise UserError(
                f"no chain {str(chain)[:40]!r} in this dataset; the address may come from another version of it"
            )
        return self.chains[chain]

    def step(self, chain: str, number: int) -> Step:
        """A step by its number; an unknown number is a UserError."""
        steps = {step.step: step for step in self.reader.steps_of(self.chain(chain))}
        if number not in steps:
            raise UserError(
                f"chain {chain} has no step {str(number)[:40]!r}; its steps are 0 to {max(steps, default=0)}"
            )
        return steps[number]

    def _scores_of(self, chain: str) -> dict[int, ScoreRow]:
        start, end = self.score_slices.get(chain, (0, 0))
        rows = map(ScoreRow.from_scores, self.scores.slice(start, end - start).to_pylist())
        return {row.step: row for row in rows}

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """By property of a chain that visitors can choose by, its values."""
        chains = self.chains.values()
        values = {
            "editor": [chain.editor for chain in chains],
            "source": [chain.source.id for chain in chains],
            "program": [chain.program.id for chain in chains],
            "kind": [chain.source.kind for chain in chains],
            "category": [chain.program.category for chain in chains],
        }
        return {name: list(dict.fromkeys(listed)) for name, listed in values.items()}

    @cached_property
    def runs_of(self) -> dict[tuple[str, str, str], list[str]]:
        """Chain ids by editor, source and program, one for each run."""
        runs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for chain in sorted(self.chains.values(), key=lambda chain: chain.run):
            runs[chain.editor, chain.source.id, chain.program.id].append(chain.id)
        return dict(runs)


def _read_scores(reader: Reader) -> pa.Table:
    """All scores, in the order of their chains."""
    if not reader.files("scores"):
        raise UserError(f"{reader.folder} has no scores yet; `convergebench score {reader.folder}` adds them")
    files = reader.files("scores")
    if len(files) == 1:  # as we write them
        table = _read_by_column(reader, reader.plain_columns(files[0]))
    else:
        table = reader.table("scores", dictionaries=_REPEATED).unify_dictionaries().combine_chunks()
    codes = table["chain"].combine_chunks().indices.to_numpy(zero_copy_only=False)
    order = np.lexsort((table["step"].to_numpy(), codes))
    return table if (np.diff(order) == 1).all() else table.take(pa.array(order)).combine_chunks()


def _read_by_column(reader: Reader, names: Sequence[str]) -> pa.Table:
    """All scores, read column by column so that nothing is in memory twice; empty columns of a type share one array."""
    columns: dict[str, pa.Array] = {}
    empty: dict[pa.DataType, pa.Array] = {}
    for name in names:
        words = [name] if name in _REPEATED else []
        column = reader.table("scores", [name], words).unify_dictionaries().combine_chunks()[name].combine_chunks()
        if column.null_count == len(column) and not words:
            column = empty.setdefault(column.type, column)
        columns[name] = column
    return pa.table(columns)


def _slices_by_chain(scores: pa.Table) -> dict[str, tuple[int, int]]:
    """Where each chain's rows begin and end."""
    column = scores["chain"].combine_chunks()
    codes, names = column.indices.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    if not len(codes):
        return {}
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    ends = np.r_[starts[1:], len(codes)]
    return {names[codes[start]]: (int(start), int(end)) for start, end in zip(starts, ends, strict=True)}


def _mean_calls_of_steps(reader: Reader) -> dict[str, StepRow]:
    """Latency and cost from the steps themselves; a file that cannot be read is left out."""
    means_of: dict[str, StepRow] = {}
    for file in reader.files("steps"):
        try:
            calls = reader.file_table(file, ["chain", "round", "status", "latency", "cost"])
        except DAMAGED_FILE:
            continue  # visitors see the reason when they open one of its chains
        answered = calls.filter(pc.and_(pc.equal(calls["status"], "ok"), pc.greater(calls["round"], 0)))
        means = answered.group_by("chain").aggregate([("latency", "mean"), ("cost", "mean")])
        columns = [means[name].to_pylist() for name in ("chain", "latency_mean", "cost_mean")]
        means_of |= {chain: _mean_call(chain, latency, cost) for chain, latency, cost in zip(*columns, strict=True)}
    return means_of


def mean_calls_of_chains(chains: Iterable[FinishedChain]) -> dict[str, StepRow]:
    """Cost alone, from the totals that the config `chains` holds."""
    means_of: dict[str, StepRow] = {}
    for chain in chains:
        answered = chain.calls - (chain.status != "complete")  # the call that ended a chain was not answered
        if chain.cost is not None and answered > 0:
            means_of[chain.id] = _mean_call(chain.id, None, chain.cost / answered)
    return means_of


def _mean_call(chain: str, latency: float | None, cost: float | None) -> StepRow:
    return StepRow.from_values({"chain": chain, "round": 1, "status": "ok", "latency": latency, "cost": cost})
