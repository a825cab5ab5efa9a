"""Questions as files: the words, the pictures that are shown, the JSON schema of an answer and what is counted of it.

A question is one TOML file here, or one of the user's own, `./mine.toml`. It has
    title           the question as a reader sees it
    asked_of        of which steps it is asked: a key of ASKED_OF
    pictures        what is shown, in this order, of PICTURES; none where only words are sent
    words           what is asked; {instruction}, {thing}, {things}, {shows} and {reasoning_summary} are filled in
    scale           "yes or no", "count", or "share of the things" that the answer lists
    value           the field of the answer that is counted; none where the answer is a word and no JSON
    schema          the answer's JSON schema
    compared_with   the column of the scores that answers the same, if one does
    labelled_as     the question of people's labels that asks the same and the answer that means yes, "applied=yes"; of
                    counts "count=number"
    things          program = what is counted there; only of these programs it is asked

Its hash is that of the file: with one letter changed it is another question, and everything is asked anew.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.generation.records import UserError, check_types, one_of

PICTURES = ("original", "reference", "before", "after")
ASKED_OF = {
    "forward": "steps that ask for a change",
    "undo": "steps that take a change back",
    "changes": "steps that ask for a change or take one back",
    "additions": "inputs and steps of programs that only add",
    "later additions": "steps of programs that only add, once there is something to list",
    "restorations": "steps of programs that restore",
    "thoughts": "steps with a reasoning summary",
    "all": "all steps with a picture",
}
SCALES = ("yes or no", "count", "share of the things")
FIELDS = ("instruction", "thing", "things", "shows", "reasoning_summary")
MOST_COUNTED = 2**31
SHOWN = 120  # characters of what a judge said in place of an answer


@dataclass(frozen=True)
class Question:
    """One question; `sha256` is that of its file."""

    name: str
    title: str
    words: str
    asked_of: str
    scale: str
    sha256: str
    pictures: tuple[str, ...] = ()
    value: str | None = None
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    compared_with: str | None = None
    labelled_as: str | None = None
    things: Mapping[str, str] = field(default_factory=dict, hash=False)

    def fill(self, **known: str) -> str:
        """The words with what is known of one step; braces that are no field of ours stay as they are."""
        return re.sub(rf"\{{({'|'.join(FIELDS)})\}}", lambda found: known.get(found[1], ""), self.words)


class Reading(NamedTuple):
    """What an answer's text comes to: a value and the whole answer as JSON, or a reason with the judge's words."""

    value: float | None = None
    answer: str | None = None
    reason: str | None = None
    detail: str | None = None


def names() -> list[str]:
    """Every question that is here."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.toml"))


def load(name: str) -> Question:
    """A question by its name, or the user's own by its path."""
    path = Path(name)
    if path.suffix != ".toml":
        one_of("question", name, tuple(names()))
        path = Path(__file__).with_name(f"{name}.toml")
    try:
        data = path.read_bytes()
        values = tomllib.loads(data.decode())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is no readable question ({error})") from error
    question = from_values(path, values, hashlib.sha256(data).hexdigest())
    if path.parent != Path(__file__).parent:
        check_schema(path, question.schema)
    return question


def check_schema(path: Path, schema: Mapping[str, Any]) -> None:
    """Raise UserError where a schema cannot judge answers: better than after they were paid for."""
    try:
        import jsonschema
    except ModuleNotFoundError:
        return  # then nothing is asked, and whoever asks is told what to install
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        for name, value in parts(schema):
            if name in ("$ref", "$dynamicRef"):
                raise UserError(f"{path} has a schema with {name}; write out what it stands for")
            for pattern in value if name == "patternProperties" else [value] if name == "pattern" else []:
                re.compile(str(pattern))
    except (jsonschema.SchemaError, re.error, RecursionError) as error:
        said = getattr(error, "message", None) or str(error)
        raise UserError(f"{path} has a schema by which no answer can be judged: {said[:SHOWN]}") from error


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Every name of a nested table with what stands under it."""
    for name, inner in value.items() if isinstance(value, Mapping) else [("", each) for each in value]:
        yield name, inner
        if isinstance(inner, Mapping | list):
            yield from parts(inner)


def from_values(path: Path, values: Mapping[str, Any], sha256: str) -> Question:
    """A question from what its file says; raises UserError where that is not enough, or too much."""
    allowed = [each.name for each in fields(Question) if each.name not in ("name", "sha256")]
    if unknown := [key for key in values if key not in allowed]:
        raise UserError(f"{path} says {unknown[0]!r}; a question has {', '.join(allowed)}")
    if lacking := [key for key in ("title", "words", "asked_of", "scale") if key not in values]:
        raise UserError(f"{path} does not say {lacking[0]!r}, which every question does")
    check_types(str(path), Question, values)
    one_of("asked_of", values["asked_of"], tuple(ASKED_OF))
    one_of("scale", values["scale"], SCALES)
    for picture in values.get("pictures", ()):
        one_of("picture", picture, PICTURES)
    if bool(values.get("value")) is not bool(values.get("schema")):
        raise UserError(f"{path} has one of `value` and `schema`; an answer in JSON needs both, one in words neither")
    if "=" not in values.get("labelled_as", "="):
        raise UserError(f"{path} has labelled_as {values['labelled_as']!r}; it is QUESTION=ANSWER, such as applied=yes")
    known: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return Question(name=re.sub(r"\W+", "_", path.stem), sha256=sha256, **known)


def read_answer(question: Question, text: str, things: int = 0) -> Reading:
    """What a judge's text says. Nonsense has no value: it is neither no nor zero."""
    said = text.strip()
    if not said:
        return Reading(reason="empty", detail="")
    if not question.value:
        word = said.strip(" \n.!\"'*`").lower()
        if word not in ("yes", "no"):
            return Reading(reason="off_scale", detail=said[:SHOWN])
        return Reading(float(word == "yes"), json.dumps(word))
    fenced = re.fullmatch(r"```\w*\n(.*?)\n?```", said, re.DOTALL)
    try:
        answer = json.loads(fenced[1] if fenced else said, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return Reading(reason="not_json", detail=said[:SHOWN])
    if wrong := off_schema(question, answer):
        return Reading(reason="off_schema", detail=wrong[:SHOWN])
    found = answer.get(question.value) if isinstance(answer, dict) else None
    value = value_on_scale(question.scale, found, things)
    if value is None:
        nothing = question.scale == "share of the things" and not things
        return Reading(reason="off_scale", detail="nothing was listed" if nothing else str(found)[:SHOWN])
    return Reading(value, json.dumps(answer, sort_keys=True, ensure_ascii=False))


def value_on_scale(scale: str, found: Any, things: int) -> float | None:
    """The value of an answer that has the form of its schema, which may be one of the user's own."""
    if scale == "share of the things":
        if not things or not isinstance(found, list) or not all(map(is_count, found)):
            return None
        return len({number for number in found if 1 <= number <= things}) / things
    if not is_count(found) and not isinstance(found, bool):
        return None
    allowed = found in (0, 1) if scale == "yes or no" else 0 <= found < MOST_COUNTED and not isinstance(found, bool)
    return float(found) if allowed else None


def is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1


def refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def off_schema(question: Question, answer: Any) -> str:
    """What of an answer is not as the schema says; empty where all is."""
    try:
        import jsonschema
    except ModuleNotFoundError as error:
        raise UserError("jsonschema is not installed: pip install 'convergebench[judges]'") from error
    fault = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(question.schema).iter_errors(answer))
    return str(fault.message) if fault else ""
