"""The table `judgements` of judges' answers, and the reasons for missing values.

There is one file for each judge and question: a new judge rewrites no other file.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from convergebench.dataset_builder.dataset.columns import StepPlace

if TYPE_CHECKING:
    from .asks import Ask

DATASET, CALIBRATION = "dataset", "calibration"
Identity = tuple[str, str, int, int]

# Why an answer has no value. A failed call is no answer: the next run asks again.
REASONS = {
    "refused": "the judge declined to answer",
    "empty": "the judge said nothing",
    "cut_off": "the answer was cut off at its maximum length",
    "not_json": "the answer is not JSON",
    "off_schema": "the answer is JSON of another form than the question asks for",
    "off_scale": "the answer is none of those that the question allows",
}


@dataclass(frozen=True, kw_only=True)
class Judgement(StepPlace):
    TABLE: ClassVar = "judgements"
    ROW: ClassVar = "one answer of a judge, which is a vision or language model, to one question about one step"

    judge: Annotated[str, "the judge with the options that differ from their defaults"]
    question: Annotated[str, "name of the question"]
    title: Annotated[str, "the question as a reader sees it"]
    question_sha256: Annotated[str, "of the question's file: its words, schema and scale"]
    compared_with: Annotated[str | None, "the column of the scores that answers the same, if one does"]
    labelled_as: Annotated[
        str | None, "the question of people's labels and the answer that means yes, if any"
    ] = None
    key: Annotated[str, "hash of the question, the pictures and the words: equal keys were asked the same"]
    purpose: Annotated[str, "dataset, or calibration: of the fixed sample that is asked again in each run"]
    session: Annotated[int, "number of the judge's run over this question, from 1"]
    repeat: Annotated[int, "which time the same was asked in this session, from 1"]
    value: Annotated[
        float | None, "the answer as a number: 1 for yes, 0 for no, or a count; null if there is none"
    ]
    answer: Annotated[str | None, "JSON: the whole answer in the form of the question's schema"]
    reason: Annotated[str | None, f"why there is no value: {', '.join(REASONS)}"]
    detail: Annotated[str | None, "the judge's own words about that, shortened"]
    raw: Annotated[str, "what the judge said, as it was received"]
    model: Annotated[str, "the model that answered, as the answer names it"]
    settings: Annotated[str, "JSON: every option of the judge"]
    asked: Annotated[str, "when, in UTC"]
    latency: Annotated[float | None, "seconds the answer took"] = None
    cost: Annotated[float | None, "US dollars, with the billed attempts before it; null if no price is known"] = (
        None
    )
    details: Annotated[str, "JSON: what else came back, such as usage and finish reason"] = "{}"

    @property
    def order(self) -> tuple[str | int, ...]:
        place = (self.editor, self.source, self.program, self.run, self.chain, self.step)
        return (self.question_sha256, self.purpose, *place, self.session, self.repeat)


JUDGEMENTS = Judgement.config()


def identity_of(asked: "Ask | Judgement") -> Identity:
    """What is asked only once: for the dataset, or in a session of calibration."""
    return asked.purpose, asked.key, asked.session if asked.purpose == CALIBRATION else 0, asked.repeat
