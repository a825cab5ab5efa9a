"""What people said of pictures: the questions, the answers that each allows, and labels as rows of a file.

A label names the picture by its chain and step and by its hash, never by its editor: whoever labels does not see one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

from convergebench.generation.records import UserError, is_encodable

from ...dataset.columns import Row
from ...dataset.reader import Reader

FORMAT = 1  # of a file of labels
LONGEST = 200  # characters of a labeller's name
LEVELS = ("none", "sub-object", "object", "image", "restoration")


class Answer(NamedTuple):
    """One answer that a question allows, with the key that gives it."""

    code: str
    key: str
    words: str
    level: str = ""  # of a failure: the level at which it lies


@dataclass(frozen=True)
class Question:
    """What is asked of a picture, or of two; `measure` says how far answers are apart."""

    code: str
    title: str
    words: str
    answers: tuple[Answer, ...]
    measure: str = "nominal"  # or "interval"
    pictures: str = "before and after"  # or "two after": two results, whose editors nobody sees
    most: int | None = None  # where a whole number from 0 to this answers too

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(answer.code for answer in self.answers)

    @property
    def allowed(self) -> str:
        """What answers it, for a reader."""
        return ", ".join(([] if self.most is None else [f"a number from 0 to {self.most}"]) + list(self.codes))

    def allows(self, code: str) -> bool:
        is_number = code.isascii() and code.isdecimal() and str(int(code)) == code
        return code in self.codes or (self.most is not None and is_number and int(code) <= self.most)

    def level_of(self, code: str) -> str:
        """The level of a failure; empty for the answers of other questions."""
        return next((answer.level for answer in self.answers if answer.code == code), "")

    def number(self, code: str) -> float | None:
        """The answer as a number; None of one in words."""
        return float(code) if code.isdecimal() else None


YES_OR_NO = (Answer("yes", "1", "yes"), Answer("no", "0", "no"), Answer("unclear", "2", "nobody can tell"))
QUESTIONS = {
    question.code: question
    for question in (
        Question(
            "failure",
            "What went wrong",
            "Compare the result with the original. What went wrong most visibly?",
            (
                Answer("none", "0", "nothing", "none"),
                Answer("detail", "1", "a detail of an object was simplified or changed", "sub-object"),
                Answer("count", "2", "the number of objects is wrong", "object"),
                Answer("replaced", "3", "an object was replaced instead of added or kept", "object"),
                Answer("background", "4", "the background decayed", "object"),
                Answer("framing", "5", "the picture was cropped, moved or stretched", "image"),
                Answer("noise", "6", "noise or a cast of colour lies over the picture", "image"),
                Answer("whole", "7", "a change of the whole picture was not made: mirror, greyscale", "image"),
                Answer("infidelity", "8", "it shows what the original does not, or means another thing", "restoration"),
                Answer("over-generation", "9", "details are exaggerated: hair, texture, patterns", "restoration"),
            ),
        ),
        Question(
            "reversible",
            "Can it be taken back",
            "Somebody sees only the edited picture. Could they bring the original back?",
            (
                Answer("exact", "1", "exactly: nothing was hidden, as in a mirror image"),
                Answer("clear", "2", "clearly: what is behind the change can be guessed"),
                Answer("partial", "3", "in part"),
                Answer("destroys information", "4", "no: the change destroyed what was there"),
                Answer("invents information", "5", "no: the change added what nobody can know"),
            ),
        ),
        Question(
            "rating",
            "How good is it",
            "How well does the result do what was asked, from 0 (worst) to 5 (best)?",
            tuple(Answer(str(number), str(number), words) for number, words in enumerate(
                ("worst", "bad", "poor", "fair", "good", "best"))),
            measure="interval",
        ),
        Question(
            "pair",
            "Which one is better",
            "Which of the two results does better what was asked?",
            (
                Answer("first", "1", "the left one"),
                Answer("second", "2", "the right one"),
                Answer("same", "0", "neither: they are equally good"),
            ),
            pictures="two after",
        ),
        # The same as judges are asked, so that their answers can be compared with people's.
        Question(
            "applied",
            "Is the change there",
            "Is the change that was asked for visible in the result?",
            YES_OR_NO,
        ),
        Question(
            "undone",
            "Was it taken back",
            "The change was made and then taken back. Is it gone from the result?",
            YES_OR_NO,
        ),
        Question(
            "else",
            "Is anything else changed",
            "Is anything changed that was not asked for? Shadows of what was asked for belong to it.",
            YES_OR_NO,
        ),
        Question(
            "count",
            "How many are there",
            "How many are in the result? Count every one of which at least half can be seen, one by one, wherever it "
            "lies; a bunch or a cluster counts as one.",
            (Answer("unclear", "u", "nobody can tell"),),
            measure="interval",
            most=999,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Label(Row):
    """One answer of one person: a row of `labels`."""

    TABLE: ClassVar = "labels"
    ROW: ClassVar = "one answer of one person who looked at a step's picture without being told its editor"

    rater: Annotated[str, "the name that the labeller chose"]
    question: Annotated[str, f"what was asked: {', '.join(QUESTIONS)}"]
    answer: Annotated[str, "the code of the answer, or the number that was counted"]
    level: Annotated[str | None, f"of a failure, the level at which it lies: {', '.join(LEVELS)}"] = field(init=False)
    chain: Annotated[str, "id of the chain"]
    step: Annotated[int, "number of the step in its chain; of a pair, the one on the left"]
    sha256: Annotated[str | None, "of the picture that was looked at"] = None
    other_chain: Annotated[str | None, "of a pair, the chain on the right"] = None
    other_step: Annotated[int | None, "of a pair, its step"] = None
    seconds: Annotated[float | None, "that the answer took"] = None
    at: Annotated[str, "when it was given"] = ""

    def __post_init__(self) -> None:
        level = QUESTIONS[self.question].level_of(self.answer)
        object.__setattr__(self, "level", level or None)  # the dataclass is frozen

    @property
    def item(self) -> tuple[str, str, int, str | None, int | None]:
        """What was asked, equal for all who were asked it."""
        return self.question, self.chain, self.step, self.other_chain, self.other_step


LABELS = Label.config(made_by="labels add", depends="what people said of the pictures")


def label_from_values(where: str, values: Mapping[str, Any]) -> Label:
    """The label of a row that somebody hands in, or one sentence that says what is wrong with it."""
    found: dict[str, Any] = {}
    for name in ("rater", "question", "answer", "chain", "sha256", "other_chain", "at"):
        value = values.get(name)
        if value not in (None, "") and not (isinstance(value, str) and is_encodable(value) and len(value) <= LONGEST):
            raise UserError(f"{where} has {str(value)[:40]!r} for {name}; it is a text of at most {LONGEST} characters")
        found[name] = value or None
    for name in ("step", "other_step", "seconds"):
        value = values.get(name)
        try:
            found[name] = None if value in (None, "") else float(value) if name == "seconds" else int(value)
        except (TypeError, ValueError, OverflowError):
            found[name] = -1
        if found[name] is not None and not 0 <= found[name] < 2**31:
            raise UserError(f"{where} has {str(value)[:40]!r} for {name}; it is a number from 0")
    if missing := [name for name in ("rater", "question", "answer", "chain", "step") if found[name] is None]:
        raise UserError(f"{where} has no {missing[0]}")
    question = QUESTIONS.get(found["question"])
    if question is None:
        raise UserError(f"{where} has the question {found['question']!r}; the questions are {', '.join(QUESTIONS)}")
    if not question.allows(found["answer"]):
        raise UserError(f"{where} answers {found['answer']!r} to {question.code!r}; it is {question.allowed}")
    if (question.pictures == "two after") != (found["other_chain"] is not None and found["other_step"] is not None):
        raise UserError(f"{where} is no answer to {question.code!r}; only a pair has other_chain and other_step")
    return Label(**{**found, "at": found["at"] or ""})


def read_labels(reader: Reader) -> list[Label]:
    """What people said of a dataset's pictures; nothing where nobody was asked."""
    return list(reader.rows_of(Label))


def latest(labels: Iterable[Label]) -> list[Label]:
    """One label for each person and item: who answers again changes their mind, and the last answer counts."""
    found: dict[tuple[Any, ...], Label] = {}
    for label in labels:
        key = (label.rater, *label.item)
        if key not in found or label.at >= found[key].at:
            found[key] = label
    return list(found.values())
