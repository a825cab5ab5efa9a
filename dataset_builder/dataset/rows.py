"""The tables of a dataset: a row type for each, and conversion between rows and records."""

import importlib
import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

from convergebench.generation.records import (
    UNKNOWN,
    Chain,
    EditorInfo,
    FinishedChain,
    Json,
    Program,
    Source,
    Step,
    canonical,
)

from .columns import ChainPlace, Config, Int64, Picture, Row, StepPlace

# The columns of `chains` that are fields of a chain or of its program.
_CHAIN_FIELDS = ("rounds", "status", "short_side", "policy", "cost", "suite", "suite_version")
_PROGRAM_FIELDS = ("category", "closes", "reversibility", "small", "shows")


@dataclass(frozen=True, kw_only=True)
class StepRow(StepPlace):
    TABLE: ClassVar = "steps"
    ROW: ClassVar = "one step of a chain: one call of the editor, or (step 0) the input as prepared for it"

    image: Annotated[Picture | None, "the answer, its bytes exactly as received; null if there is no picture"]
    instruction: Annotated[str, "the words the editor was given with the previous picture"]
    status: Annotated[str, "input, ok, shrunk, refused, no_image, failed or unpublished"]
    reason: Annotated[str | None, "why there is no picture, if there is none"]
    seed: Annotated[Int64 | None, "the seed the editor was given"]
    type: Annotated[str | None, "type of the received bytes by their first bytes: png, jpg, webp, ..."]
    width: Annotated[int | None, "of the received picture, in pixels"]
    height: Annotated[int | None, "of the received picture, in pixels"]
    bytes: Annotated[Int64 | None, "how many bytes were received"]
    sha256: Annotated[str | None, "of the received bytes"]
    latency: Annotated[
        float | None, "seconds the call took; null for embedded editors, whose time depends on the machine"
    ]
    cost: Annotated[float | None, "US dollars the call cost; null if unknown"]
    text: Annotated[str | None, "what the model said with the picture"]
    details: Annotated[str, "JSON: what else came back, such as model version, usage and finish reason"]

    def record(self) -> Step:
        """The step, with the file name that the chain store gave it."""
        file = f"{self.step:04d}.{self.type}" if self.sha256 else None
        return Step.from_dict({**vars(self), "details": json.loads(self.details), "file": file})


@dataclass(frozen=True, kw_only=True)
class ChainRow(ChainPlace):
    TABLE: ClassVar = "chains"
    ROW: ClassVar = "one chain: a source taken through a program by an editor"

    reference: Annotated[
        Picture | None, "what a finished round should equal, if that is another picture than the input"
    ]
    rounds: Annotated[int, "rounds that were planned"]
    steps: Annotated[int, "calls that were made"]
    status: Annotated[str, "how it ended: complete, shrunk, refused, no_image or failed"]
    kind: Annotated[str, "of the source: face, object, scene, texture or text"]
    category: Annotated[str, "of the program"]
    cycle: Annotated[str, "JSON: the instructions of one round, in order"]
    items: Annotated[str, "JSON: what takes the place of {item} in the instructions, one a round"]
    closes: Annotated[bool, "whether a finished round should equal the reference"]
    reversibility: Annotated[str, "exact, clear, partial, destroys information or invents information"]
    small: Annotated[bool, "whether the change covers little of the picture"]
    shows: Annotated[str, "what the forward picture shows that the source does not"]
    short_side: Annotated[int | None, "pixels on the short side at which the chain is evaluated"]
    policy: Annotated[str, "the policies around the editor, such as align+paste-back; empty if there are none"]
    settings: Annotated[str, "JSON: every option of the editor and of the harness"]
    cost: Annotated[float | None, "US dollars, all calls together; null if no call has a cost"]
    suite: Annotated[str, "suite the chain was made for; imported chains say so"]
    suite_version: Annotated[str, "version of that suite"]
    source_sha256: Annotated[str, "of the source's file, or of a painted source's pixels"]

    def record(self, source: Source | None = None) -> FinishedChain:
        """The chain; without `source`, its source has only the fields that are in this row."""
        if source is None:
            source = Source(self.source, self.source_sha256, 0, 0, self.kind, "real", UNKNOWN, UNKNOWN)
        facts = (getattr(self, name) for name in _PROGRAM_FIELDS)
        program = _program(self.program, self.cycle, self.items, *facts)
        editor, suite, version, status = map(_shared, (self.editor, self.suite, self.suite_version, self.status))
        chain = Chain(source, program, editor, _settings(self.settings), self.run, self.rounds)
        return FinishedChain(self.chain, chain, suite, version, status, self.steps, self.cost)


# Equal names, programs and settings are one object, so that many chains need little memory.
_shared = lru_cache(10_000)(lambda name: name)
_settings = lru_cache(10_000)(json.loads)


@lru_cache(10_000)
def _program(id: str, cycle: str, items: str, *values: object) -> Program:
    fields: Json = dict(zip(_PROGRAM_FIELDS, values, strict=True))
    return Program(id=id, cycle=tuple(json.loads(cycle)), items=tuple(json.loads(items)), **fields)


@dataclass(frozen=True, kw_only=True)
class SourceRow(Row):
    TABLE: ClassVar = "sources"
    ROW: ClassVar = "one starting picture"

    image: Annotated[Picture, "the source's own file, its bytes as published"]
    source: Annotated[str, "id of the picture"]
    title: Annotated[str, "what it shows, in a few words"]
    kind: Annotated[str, "face, object, scene, texture or text"]
    origin: Annotated[str, "real or synthetic"]
    licence: Annotated[str, "licence of the picture"]
    attribution: Annotated[str, "who made it or where it comes from"]
    width: Annotated[int, "in pixels"]
    height: Annotated[int, "in pixels"]
    sha256: Annotated[str, "of the file; of a painted picture, of its pixels as binary PPM"]
    reference: Annotated[str | None, "sha256 of the reference's file, if it is another picture"]
    scene: Annotated[str, "what kind of scene it shows, if the restoration suite says so"]
    degradation: Annotated[str, "what is wrong with the picture, if it is to be restored"]

    def record(self) -> Source:
        return Source.from_dict({**vars(self), "id": self.source})


@dataclass(frozen=True, kw_only=True)
class EditorRow(Row):
    TABLE: ClassVar = "editors"
    ROW: ClassVar = "one editor with its options"

    editor: Annotated[str, "the editor as a reader names it, with the options that differ from its defaults"]
    name: Annotated[str, "its name without options"]
    role: Annotated[str, "editor, baseline (marks one end of the scale) or transport (only re-encodes)"]
    about: Annotated[str, "what it is, in one sentence"]
    planned: Annotated[int, "how many chains were planned; 0 if unknown"]
    standing: Annotated[str, "why a submission is listed apart from those that answer a challenge; else empty"]

    def record(self) -> EditorInfo:
        return EditorInfo.from_dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class FloorRow(Row):
    TABLE: ClassVar = "floors"
    ROW: ClassVar = (
        "one metric between a reference and an unrelated source of the suite: "
        "the value for a completely different picture"
    )

    source: Annotated[str, "id of the reference's source"]
    other: Annotated[str, "id of the unrelated source"]
    short_side: Annotated[int, "pixels on the short side at which both were compared"]
    metric: Annotated[str, "name of the metric"]
    value: Annotated[float | None, "its value for this pair"]
    signature: Annotated[str, "JSON: versions, weights, dtype and the pictures behind the number"]


STEPS = StepRow.config(depends="the scores of its chains")
CHAINS = ChainRow.config(depends="every score, figure and table")
SOURCES = SourceRow.config(depends="the floors, and the retained values that rest on them")
EDITORS = EditorRow.config(depends="which editors count as baselines")
BUILT = (STEPS, CHAINS, SOURCES, EDITORS)
FLOORS = FloorRow.config(made_by="score", depends="the retained values and the excluded sources")
# Score files have further columns, which depend on the metrics and are declared in the files.
_SCORES = Config(
    "scores", columns=StepPlace.columns(), made_by="score", depends="every figure and table", may_have_more=True
)


@cache
def configs() -> dict[str, Config]:
    """Every table that a dataset can have, those of the studies last."""
    studies = Path(__file__).parents[1] / "studies"
    tables = [*BUILT, _SCORES, FLOORS]
    for study in sorted(path.parent.name for path in studies.glob("*/tables.py")):
        tables += importlib.import_module(f"convergebench.dataset_builder.studies.{study}.tables").TABLES
    return {table.name: table for table in tables}


def table_of(file: str) -> str:
    """The table that a file belongs to; empty if it belongs to none, because a card can list any path."""
    folder, _, rest = file.partition("/")
    table, _, name = rest.partition("/")
    return table if folder == "data" and name else ""


def command_that_makes(file: str) -> str:
    """The command that writes a file of a dataset, for messages."""
    table = configs().get(table_of(file), STEPS)
    return f"`convergebench {table.made_by}`" + (" from the runs" if table.made_by == "build" else "")


def step_row(chain: FinishedChain, step: Step, data: bytes | None) -> StepRow:
    values = step.to_dict()
    image = _picture(data, values.pop("file"))
    return StepRow(image=image, **place_columns(chain), **values | {"details": canonical(step.details)})


def chain_row(chain: FinishedChain, reference: bytes | None) -> ChainRow:
    """The row of a chain; `reference` is its reference picture, unless that is the input."""
    program = chain.program
    return ChainRow(
        reference=_picture(reference, "reference.png"),
        **place_columns(chain),
        **{name: getattr(chain, name) for name in _CHAIN_FIELDS},
        **{name: getattr(program, name) for name in _PROGRAM_FIELDS},
        steps=chain.calls,
        kind=chain.source.kind,
        cycle=canonical(program.cycle),
        items=canonical(program.items),
        settings=canonical(dict(chain.chain.settings)),
        source_sha256=chain.source.sha256,
    )


def source_row(source: Source, data: bytes, path: str) -> SourceRow:
    values = source.to_dict()
    return SourceRow(image={"bytes": data, "path": path}, source=values.pop("id"), **values)


def editor_row(label: str, editor: EditorInfo) -> EditorRow:
    return EditorRow(editor=label, **editor.to_dict())


def place_columns(chain: FinishedChain) -> Json:
    """The columns that say which chain a row belongs to."""
    source, program = chain.source.id, chain.program.id
    return {"chain": chain.id, "editor": chain.editor, "source": source, "program": program, "run": chain.run}


def _picture(data: bytes | None, path: str | None) -> Picture | None:
    return None if data is None else {"bytes": data, "path": path}
