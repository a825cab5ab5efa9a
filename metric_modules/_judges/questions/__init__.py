"""Loads questions from TOML files, and reads a judge's answer to a question.

The keys of such a file, in this folder or the user's own:
    title           the question as a reader sees it
    asked_of        the steps that it is about: one of ASKED_OF
    pictures        the pictures to show: names of PICTURES; none if only words are sent
    words           the prompt, with FIELDS in braces
    scale           "yes or no", "count", or "share of the things" that the answer lists
    value, schema   the field of the answer with the value, and the answer's JSON schema
    compared_with   the column of the scores that answers the same question
    labelled_as     people's question, and the answer that means yes: "applied=yes", "count=number"
    things          {program: what is counted there}; only these programs are asked about

A question's hash is that of its file: after any change, everything is asked again.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError, check_fields, one_of

PICTURES = ("original", "reference", "before", "after")
# Steps of a change, of its undo, or both; of programs that only add, their input too or once
# there is something to list; of restorations; with a reasoning summary; all with a picture.
ASKED_OF = ("forward", "undo", "changes", "additions", "later additions", "restorations", "thoughts", "all")
FIELDS = ("instruction", "thing", "things", "shows", "reasoning_summary")
_SCALES = ("yes or no", "count", "share of the things")
_MOST_COUNTED = 2**31
_SHOWN = 120  # characters to quote of an unusable answer


@dataclass(frozen=True)
class Question:
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

    def fill(self, **values: str) -> str:
        """Other braces stay as they are."""
        return re.sub(rf"\{{({'|'.join(FIELDS)})\}}", lambda match: values.get(match[1], ""), self.words)


# The content of an answer: a value and the whole answer as JSON, or a reason with the judge's words.
Reading = tuple[float | None, str | None, str | None, str | None]


def names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.toml"))


def load(name: str) -> Question:
    """A question by its name, or by the path of the user's file."""
    path = Path(name)
    if path.suffix != ".toml":
        one_of("question", name, tuple(names()))
        path = Path(__file__).with_name(f"{name}.toml")
    try:
        data = path.read_bytes()
        values = tomllib.loads(data.decode())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is not a readable question ({error})") from error
    allowed = [option.name for option in fields(Question) if option.name not in ("name", "sha256")]
    check_fields(str(path), values, Question, allowed, ("title", "words", "asked_of", "scale"))
    one_of("asked_of", values["asked_of"], ASKED_OF)
    one_of("scale", values["scale"], _SCALES)
    for picture in values.get("pictures", ()):
        one_of("picture", picture, PICTURES)
    if bool(values.get("value")) is not bool(values.get("schema")):
        raise UserError(
            f"{path} must have both `value` and `schema`, for answers in JSON, or neither, for yes or no"
        )
    _check_schema(path, values.get("schema", {}))
    values["pictures"] = tuple(values.get("pictures", ()))
    return Question(name=re.sub(r"\W+", "_", path.stem), sha256=hashlib.sha256(data).hexdigest(), **values)


def _check_schema(path: Path, schema: Mapping[str, Any]) -> None:
    try:
        import jsonschema
    except ModuleNotFoundError:
        return  # no judge runs without jsonschema, and `ready` names it
    try:
        jsonschema.Draft202012Validator.check_schema(schema, jsonschema.Draft202012Validator.FORMAT_CHECKER)
    except jsonschema.SchemaError as error:
        raise UserError(f"{path} has a schema that cannot judge answers: {error.message[:_SHOWN]}") from error
    try:
        text = json.dumps(schema)
    except TypeError as error:  # TOML has dates, JSON has none
        raise UserError(f"{path} has a schema that is not JSON: {error}") from error
    if '"$ref"' in text:
        raise UserError(f"{path} has a schema with $ref; write out what it refers to")


def read_answer(question: Question, text: str, things: int = 0) -> Reading:
    """An unusable answer has no value; it is neither no nor zero."""
    text = text.strip()
    if not text:
        return None, None, "empty", ""
    if not question.value:
        word = text.strip(" \n.!\"'*`").lower()
        if word not in ("yes", "no"):
            return None, None, "off_scale", text[:_SHOWN]
        return float(word == "yes"), json.dumps(word), None, None
    fenced = re.fullmatch(r"```\w*\n(.*?)\n?```", text, re.DOTALL)
    try:
        answer = json.loads(fenced[1] if fenced else text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None, None, "not_json", text[:_SHOWN]
    import jsonschema

    violations = jsonschema.Draft202012Validator(question.schema).iter_errors(answer)
    if violation := jsonschema.exceptions.best_match(violations):
        return None, None, "off_schema", str(violation.message)[:_SHOWN]
    counted = answer.get(question.value) if isinstance(answer, dict) else None
    value = _value_on_scale(question.scale, counted, things)
    if value is None:
        is_empty = question.scale == "share of the things" and not things
        return None, None, "off_scale", "nothing was listed" if is_empty else str(counted)[:_SHOWN]
    return value, json.dumps(answer, sort_keys=True, ensure_ascii=False), None, None


def _value_on_scale(scale: str, counted: object, things: int) -> float | None:
    if scale == "share of the things":
        if not things or not isinstance(counted, list) or not all(map(_is_count, counted)):
            return None
        return len({number for number in counted if 1 <= number <= things}) / things
    if isinstance(counted, bool):
        return float(counted) if scale == "yes or no" else None
    if not isinstance(counted, int | float) or not _is_count(counted):
        return None
    return float(counted) if counted in ((0, 1) if scale == "yes or no" else range(_MOST_COUNTED)) else None


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not JSON")
