"""Labels that people gave pictures: the questions, and the answers that each allows.

A label identifies its picture by chain, step and hash, never by editor, which labellers do not see.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, NamedTuple

from convergebench.generation.files import toml_beside
from convergebench.generation.records import UserError

from ...dataset.columns import Row

LEVELS = ("none", "sub-object", "object", "image", "restoration")


class Answer(NamedTuple):
    """One answer that a question allows, with the key that gives it."""

    code: str
    key: str
    words: str
    level: str = ""  # the level of a failure


class Question(NamedTuple):
    """What is asked about one picture or two; `measure` is the scale of the answers."""

    code: str
    title: str
    words: str
    answers: tuple[Answer, ...]
    measure: str = "nominal"  # or "interval"
    pictures: str = "before and after"  # or "two after": two results, their editors hidden
    most: int | None = None  # if set, a whole number from 0 to this is an answer too

    def check(self, code: str) -> None:
        codes = [answer.code for answer in self.answers]
        is_number = code.isascii() and code.isdecimal() and str(int(code)) == code
        if code not in codes and (self.most is None or not is_number or int(code) > self.most):
            allowed = ", ".join([*([] if self.most is None else [f"a number from 0 to {self.most}"]), *codes])
            raise UserError(f"the answer to {self.code!r} must be {allowed}, got {code!r}")

    def level_of(self, code: str) -> str | None:
        """The level of a failure; None for the answers of other questions."""
        return next((answer.level for answer in self.answers if answer.code == code and answer.level), None)


_TOML = toml_beside(__file__, "questions.toml")
QUESTIONS = {
    code: Question(code, **{**question, "answers": tuple(Answer(*answer) for answer in question["answers"])})
    for code, question in _TOML.items()
}


def numbers_of(answers: Iterable[str]) -> list[float]:
    """The answers that are numbers; people who cannot tell give a word."""
    return [float(code) for code in answers if code.isdecimal()]


@dataclass(frozen=True, kw_only=True)
class Label(Row):
    """One answer of one person: a row of `labels`."""

    TABLE: ClassVar = "labels"
    ROW: ClassVar = "one answer of one person who looked at a step's picture without being told its editor"

    rater: Annotated[str, "the name that the labeller chose"]
    question: Annotated[str, f"what was asked: {', '.join(QUESTIONS)}"]
    answer: Annotated[str, "the code of the answer, or the number that was counted"]
    level: Annotated[str | None, f"of a failure, the level at which it lies: {', '.join(LEVELS)}"] = field(
        init=False
    )
    chain: Annotated[str, "id of the chain"]
    step: Annotated[int, "number of the step in its chain; of a pair, the one on the left"]
    sha256: Annotated[str | None, "of the picture that was looked at"] = None
    other_chain: Annotated[str | None, "of a pair, the chain on the right"] = None
    other_step: Annotated[int | None, "of a pair, its step"] = None
    seconds: Annotated[float | None, "that the answer took"] = None
    at: Annotated[str, "when it was given"] = ""

    def __post_init__(self) -> None:
        level = QUESTIONS[self.question].level_of(self.answer)
        object.__setattr__(self, "level", level)  # the dataclass is frozen

    @property
    def item(self) -> tuple[str, str, int, str | None, int | None]:
        """What was asked; equal for everyone who was asked the same."""
        return self.question, self.chain, self.step, self.other_chain, self.other_step


LABELS = Label.config(made_by="import --layout labels", depends="what people said of the pictures")


def latest(labels: Iterable[Label]) -> dict[tuple[object, ...], Label]:
    """One label for each person and item; of several answers the latest counts."""
    last: dict[tuple[object, ...], Label] = {}
    for label in labels:
        key = (label.rater, *label.item)
        if key not in last or label.at >= last[key].at:
            last[key] = label
    return last
