"""Labels that people gave pictures: the questions, the answers that each allows, and files of labels.

A label identifies its picture by chain, step and hash, never by editor, which labellers do not see.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from convergebench.generation.files import disk_errors_explained, locked, refuse_strangers_file, write_whole
from convergebench.generation.records import UserError

from ...building import card
from ...dataset.columns import Row
from ...dataset.reader import Reader
from ...dataset.rows import StepRow
from ...dataset.schema import write
from ...importing.tables import number, objects, read_table, text, whole

FORMAT = 1  # of a file of labels
_FILE = "data/labels/0000.parquet"
_LONGEST = 200  # characters of a labeller's name
_Hashes = dict[tuple[str | None, int | None], str | None]  # by chain and step
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


_TOML = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))
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


def _label_from_values(where: str, values: Mapping[str, object]) -> Label:
    """The label in an imported row; UserError if a value is not allowed."""
    try:
        label: dict[str, Any] = {name: whole(name, values.get(name)) for name in ("step", "other_step")}
        for name in ("question", "answer", "chain", "rater", "sha256", "other_chain", "at"):
            label[name] = text(name, values.get(name), _LONGEST)
        for name in ("question", "answer", "chain", "rater", "step"):
            if label[name] is None:
                raise UserError(f"it has no {name}")
        question = QUESTIONS.get(label["question"])
        if question is None:
            raise UserError(f"the question must be one of {', '.join(QUESTIONS)}, got {label['question']!r}")
        question.check(label["answer"])
        has_other = label["other_chain"] is not None and label["other_step"] is not None
        if has_other != (question.pictures == "two after"):
            raise UserError("only a pair, and every pair, has other_chain and other_step")
        seconds = number("seconds", values.get("seconds"), 0)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    return Label(**{**label, "seconds": seconds, "at": label["at"] or ""})


def latest(labels: Iterable[Label]) -> dict[tuple[object, ...], Label]:
    """One label for each person and item; of several answers the latest counts."""
    last: dict[tuple[object, ...], Label] = {}
    for label in labels:
        key = (label.rater, *label.item)
        if key not in last or label.at >= last[key].at:
            last[key] = label
    return last


# Files of labels


def _read_label_file(path: Path) -> list[Label]:
    """The labels in a file of the Space, or in a CSV or JSONL with the same columns."""
    values: Any = read_table(path)
    if isinstance(values, dict):
        if values.get("format") != FORMAT:
            raise UserError(f"{path} has the format {values.get('format')!r}; this version reads {FORMAT}")
        values = values.get("labels")
    return [
        _label_from_values(f"{path}, label {place}", row) for place, row in enumerate(objects(path, values), 1)
    ]


def import_labels(files: Sequence[Path], folder: Path) -> dict[str, Any]:
    """Add the labels of files to a dataset; for each person and picture the latest answer counts.

    Returns the file and counts: all labels, the new, the changed, and the strangers: labels of pictures that are not in
    this dataset.
    """
    card.refuse_other_folders(folder)
    reader = Reader(folder)
    if not reader.files("chains"):
        raise UserError(f"{folder} is not a dataset; `convergebench build` makes one")
    labels = [label for path in files for label in _read_label_file(path)]
    hashes: _Hashes = {
        (row.chain, row.step): row.sha256 for row in reader.rows_of(StepRow, ["chain", "step", "sha256"])
    }
    of_dataset = [label for label in labels if _is_of_dataset(label, hashes)]
    with disk_errors_explained(folder), locked(folder):
        before = {(label.rater, *label.item): label for label in reader.rows_of(Label)}
        after = latest([*before.values(), *of_dataset])
        rows = [after[key] for key in sorted(after, key=lambda key: [str(part) for part in key])]
        write(folder / _FILE, LABELS, rows, folder)
        card.write(folder, {LABELS.name})
    return {
        "file": str(folder / _FILE),
        "labels": len(after),
        "new": len(after.keys() - before.keys()),
        "changed": sum(after[key] != label for key, label in before.items()),
        "strangers": len(labels) - len(of_dataset),
    }


def _is_of_dataset(label: Label, hashes: _Hashes) -> bool:
    place, other = (label.chain, label.step), (label.other_chain, label.other_step)
    if place not in hashes or (label.other_chain is not None and other not in hashes):
        return False
    return label.sha256 in (None, hashes[place])


def export_labels(folder: Path, out: Path) -> int:
    """Write a dataset's labels as the Space saves them; returns how many there are."""
    rows = [
        # The level follows from the answer.
        {name: value for name, value in label.values.items() if value is not None and name != "level"}
        for label in Reader(folder).rows_of(Label)
    ]
    refuse_strangers_file(out, _is_label_file)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, json.dumps({"format": FORMAT, "labels": rows}, indent=1, ensure_ascii=False).encode() + b"\n")
    return len(rows)


def _is_label_file(data: bytes) -> bool:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return False
    is_ours = isinstance(values, dict) and values.get("format") == FORMAT
    return is_ours and isinstance(values.get("labels"), list)
