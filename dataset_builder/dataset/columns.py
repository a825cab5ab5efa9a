"""Every column of the dataset: its name, its type and what it means. The schema and the card are both made from this.

Only pictures and plain values: what has structure is a JSON string, so that older `datasets` can load it too.
"""

from dataclasses import dataclass
from typing import NamedTuple

TYPES = ("image", "string", "int32", "int64", "float64", "bool")


class Column(NamedTuple):
    """One column; `type` is one of TYPES."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Config:
    """One config of the dataset: a table under data/NAME with one sentence on what a row is."""

    name: str
    row: str
    columns: tuple[Column, ...]


PLACE = (
    Column("chain", "string", "id of the chain, a hash of its source, program, editor, settings, run and rounds"),
    Column("editor", "string", "the editor as a reader names it, with the options that differ from its defaults"),
    Column("source", "string", "id of the starting picture"),
    Column("program", "string", "id of the program: what is asked in one round"),
    Column("run", "int32", "1 for the first time this editor takes this source through this program"),
)

STEP_PLACE = (
    *PLACE,
    Column("step", "int32", "number of the step in its chain; 0 is the input as prepared for the editor"),
    Column("round", "int32", "round of the chain, from 1; 0 for the input"),
    Column("position", "int32", "place in the round's cycle of instructions, from 1; 0 for the input"),
)

STEPS = Config(
    "steps",
    "one step of a chain: one call of the editor, or (step 0) the input as prepared for it",
    (
        Column("image", "image", "the answer, its bytes exactly as received; null where there is no picture"),
        *STEP_PLACE,
        Column("instruction", "string", "the words the editor was given with the picture before"),
        Column("status", "string", "input, ok, shrunk, refused, no_image or failed"),
        Column("reason", "string", "why there is no picture, where there is none"),
        Column("seed", "int64", "the seed the editor was given"),
        Column("type", "string", "type of the received bytes by their first bytes: png, jpg, webp, ..."),
        Column("width", "int32", "of the received picture, in pixels"),
        Column("height", "int32", "of the received picture, in pixels"),
        Column("bytes", "int64", "how many bytes were received"),
        Column("sha256", "string", "of the received bytes"),
        Column("latency", "float64", "seconds the call took; null where it tells of the machine, not of the editor"),
        Column("cost", "float64", "US dollars the call cost; null where nobody said"),
        Column("text", "string", "what the model said beside the picture"),
        Column("details", "string", "JSON: what else came back, such as model version, usage and finish reason"),
    ),
)

CHAINS = Config(
    "chains",
    "one chain: a source taken through a program by an editor",
    (
        Column("reference", "image", "what a finished round should equal, where it is another picture than the input"),
        *PLACE,
        Column("rounds", "int32", "rounds that were planned"),
        Column("steps", "int32", "calls that were made"),
        Column("status", "string", "how it ended: complete, shrunk, refused, no_image or failed"),
        Column("kind", "string", "of the source: face, object, scene, texture or text"),
        Column("category", "string", "of the program"),
        Column("cycle", "string", "JSON: the instructions of one round, in order"),
        Column("items", "string", "JSON: what takes the place of {item} in the instructions, one a round"),
        Column("closes", "bool", "whether a finished round should equal the reference"),
        Column("reversibility", "string", "exact, clear, partial, destroys information or invents information"),
        Column("small", "bool", "whether the change covers little of the picture"),
        Column("shows", "string", "what the forward picture shows that the source does not"),
        Column("short_side", "int32", "pixels on the short side at which the chain is evaluated"),
        Column("settings", "string", "JSON: every option of the editor and of the harness"),
        Column("cost", "float64", "US dollars, all calls together; null where no call has a cost"),
        Column("suite", "string", "suite the chain was made for; imported chains say so"),
        Column("suite_version", "string", "version of that suite"),
        Column("source_sha256", "string", "of the source's file, or of a painted source's pixels"),
    ),
)

SOURCES = Config(
    "sources",
    "one starting picture",
    (
        Column("image", "image", "the source's own file, its bytes as published"),
        Column("source", "string", "id of the picture"),
        Column("title", "string", "what it shows, in a few words"),
        Column("kind", "string", "face, object, scene, texture or text"),
        Column("origin", "string", "real or synthetic"),
        Column("licence", "string", "licence of the picture"),
        Column("attribution", "string", "who made it or where it comes from"),
        Column("width", "int32", "in pixels"),
        Column("height", "int32", "in pixels"),
        Column("sha256", "string", "of the file; of a painted picture, of its pixels as binary PPM"),
        Column("reference", "string", "sha256 of the reference's file, where it is another picture"),
        Column("scene", "string", "what kind of scene it shows, where the restoration suite says it"),
        Column("degradation", "string", "what is wrong with the picture, where it is to be restored"),
    ),
)

EDITORS = Config(
    "editors",
    "one editor with its options",
    (
        Column("editor", "string", "the editor as a reader names it, with the options that differ from its defaults"),
        Column("name", "string", "its name without options"),
        Column("role", "string", "editor, baseline (an end of the scale) or transport (a re-encoding alone)"),
        Column("about", "string", "what it is, in one sentence"),
    ),
)

PUBLISHED = Config(
    "published",
    "numbers that somebody else published for one step, under their own definitions",
    (
        Column("chain", "string", "id of the chain here, where its pictures are those that were scored"),
        Column("editor", "string", "the editor as this dataset names it"),
        Column("case", "string", "the case as the published table names it"),
        Column("image", "string", "the picture that the case starts from, as the published table names it"),
        Column("run", "int32", "1 for the first time"),
        Column("round", "int32", "round of the chain, from 1"),
        Column("position", "int32", "place in the round's cycle, from 1; null where only whole rounds are published"),
        Column("category", "string", "restoration where the table is of restored pictures"),
        Column("program", "string", "for restoration: the prompt, as the published table names it"),
        Column("clean", "string", "for restoration: the undegraded picture"),
        Column("scene", "string", "for restoration: the kind of scene"),
        Column("degradation", "string", "for restoration: what was wrong with the picture"),
        Column("psnr", "float64", "as published, in dB"),
        Column("rmse", "float64", "as published"),
        Column("ssim", "float64", "as published"),
        Column("lpips", "float64", "as published"),
        Column("clip", "float64", "as published"),
        Column("reasons", "string", "JSON: for each value that is null, why"),
        Column("table", "string", "name of the published table"),
        Column("table_sha256", "string", "of the table's file"),
        Column("signature", "string", "what is known of how the numbers were made"),
    ),
)

# The configs that this room writes. Others, such as the scores, are explained in the metadata of their own files.
CONFIGS = {config.name: config for config in (STEPS, CHAINS, SOURCES, EDITORS, PUBLISHED)}
