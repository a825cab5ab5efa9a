"""The answers of judges as the dataset holds them: the config `judgements`, its columns, and why a value is missing.

One file for each judge and question, so that another judge adds files and rewrites none.
"""

from dataclasses import dataclass
from typing import Any

from convergebench.dataset_builder.dataset.columns import Column, Config, StepPlace
from convergebench.generation.records import FinishedChain, Record, UserError, one_of

NAME = "judgements"
DATASET, CALIBRATION = "dataset", "calibration"
PURPOSES = (DATASET, CALIBRATION)

# Why an answer has no value. A call that failed is no answer: it is not stored, and asked again the next time.
REASONS = {
    "refused": "the judge declined to answer",
    "empty": "the judge said nothing",
    "cut_off": "the answer was cut off at its greatest length",
    "not_json": "the answer is no JSON",
    "off_schema": "the answer is JSON of another form than the question asks for",
    "off_scale": "the answer is none of those that the question allows",
}

JUDGEMENTS = Config(
    NAME,
    "one answer of a judge, which is a vision or language model, to one question about one step",
    (
        *StepPlace.columns(),
        Column("judge", "string", "the judge with the options that differ from their defaults"),
        Column("question", "string", "name of the question"),
        Column("title", "string", "the question as a reader sees it"),
        Column("question_sha256", "string", "of the question's file: its words, schema and scale"),
        Column("compared_with", "string", "the column of the scores that answers the same, if one does"),
        Column("labelled_as", "string", "the question of people's labels and the answer that means yes, if any"),
        Column("key", "string", "hash of the question, the pictures and the words: equal keys were asked the same"),
        Column("purpose", "string", "dataset, or calibration: of the fixed sample that is asked again in each run"),
        Column("session", "int32", "number of the judge's run over this question, from 1"),
        Column("repeat", "int32", "which time the same was asked in this session, from 1"),
        Column("value", "float64", "the answer as a number: 1 for yes, 0 for no, or a count; null where there is none"),
        Column("answer", "string", "JSON: the whole answer as the question's schema has it"),
        Column("reason", "string", f"why there is no value: {', '.join(REASONS)}"),
        Column("detail", "string", "the judge's own words about that, shortened"),
        Column("raw", "string", "what the judge said, as it was received"),
        Column("model", "string", "the model that answered, as the answer names it"),
        Column("settings", "string", "JSON: every option of the judge"),
        Column("asked", "string", "when, in UTC"),
        Column("latency", "float64", "seconds the answer took"),
        Column("cost", "float64", "US dollars, with the billed attempts before it; null where no price is known"),
        Column("details", "string", "JSON: what else came back, such as usage and finish reason"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Judgement(Record):
    """One answer, or why there is none."""

    chain: str
    editor: str
    source: str
    program: str
    run: int
    step: int
    round: int
    position: int
    judge: str
    question: str
    title: str
    question_sha256: str
    compared_with: str | None
    key: str
    purpose: str
    session: int
    repeat: int
    value: float | None
    answer: str | None
    reason: str | None
    detail: str | None
    raw: str
    model: str
    settings: str
    asked: str
    latency: float | None = None
    cost: float | None = None
    details: str = "{}"
    labelled_as: str | None = None

    def __post_init__(self) -> None:
        one_of("purpose", self.purpose, PURPOSES)
        if (self.value is None) is (self.reason is None):
            raise UserError(f"an answer of {self.judge} has value {self.value} and reason {self.reason}; it has one")

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))  # nothing is nested, and a file may hold a hundred thousand

    @property
    def identity(self) -> tuple[str, str, int, int]:
        """What is asked once: about the dataset once for all, for calibration once in each session."""
        return self.purpose, self.key, self.session if self.purpose == CALIBRATION else 0, self.repeat

    @property
    def order(self) -> tuple[Any, ...]:
        """The key by which a file's rows are sorted."""
        return (self.question_sha256, self.purpose, self.editor, self.source, self.program, self.run, self.chain,
                self.step, self.session, self.repeat)  # fmt: skip


def place_of(chain: FinishedChain) -> dict[str, Any]:
    """The columns that name a chain."""
    return {"chain": chain.id, "editor": chain.editor, "source": chain.source.id, "program": chain.program.id,
            "run": chain.run}  # fmt: skip
