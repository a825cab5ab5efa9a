"""Reads foreign tables (CSV, JSON, JSONL) and checks their values."""

import csv
import json
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from convergebench.generation.records import UserError, is_encodable

_MOST_CHARACTERS = 100_000  # of one value
T = TypeVar("T", str, int, float)


def json_file(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"no such file: {path}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not readable JSON ({error})") from error


def read_table(path: Path) -> Any:
    if not path.is_file():
        raise UserError(f"no such file: {path}; a table is a .csv, .jsonl or .json file")
    if path.suffix == ".json":
        return json_file(path)
    if path.suffix not in (".csv", ".jsonl"):
        raise UserError(f"{path.name} is not a table; a table is a .csv, .jsonl or .json file")
    try:
        if path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.DictReader(file))
        else:
            lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            return [_json_line(path, number, line) for number, line in lines if line.strip()]
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not {path.suffix[1:].upper()} in UTF-8 ({error})") from error
    for number, row in enumerate(rows, 1):
        if None in row:
            raise UserError(f"{path}, row {number}: more values than the table has columns")
    return rows


def _json_line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}, line {number}: not readable JSON ({error})") from error


def objects(path: Path, rows: Any) -> list[dict[str, Any]]:
    """The rows; raises unless each is an object."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path} must hold a list of rows, each an object with a value for each column")
    return rows


def read_rows(path: Path) -> list[dict[str, Any]]:
    return objects(path, read_table(path))


# Each of these reads one value of a foreign table: None if it is empty, UserError if it is not allowed.


def text(name: str, value: object, most: int = _MOST_CHARACTERS) -> str | None:
    def _allows(words: str) -> bool:
        is_plain = isinstance(value, str | int | float)
        return is_plain and "\0" not in words and is_encodable(words) and len(words) <= most

    return _checked(name, value, str, _allows, f"text of at most {most:,} characters")


def whole(name: str, value: object, low: int = 0, high: int = 2**31 - 1) -> int | None:
    return _checked(
        name, value, int, lambda number: low <= number <= high, f"a whole number from {low} to {high}"
    )


def number(name: str, value: object, low: float = -math.inf) -> float | None:
    """A value that must be a number; with a lower bound also a finite one."""
    if low == -math.inf:
        return _checked(name, value, float, lambda number: True, "a number")
    return _checked(name, value, float, lambda number: low <= number < math.inf, f"a number from {low:g}")


def flag(name: str, value: object) -> bool | None:
    if value is None or value == "":
        return None
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if (word := str(value).casefold()) not in words:
        raise UserError(f"{name} must be true or false, got {str(value)[:40]!r}")
    return words[word]


def _checked(
    name: str, value: object, convert: Callable[[Any], T], allows: Callable[[T], bool], allowed: str
) -> T | None:
    if value is None or value == "":
        return None
    with suppress(TypeError, ValueError, OverflowError):
        if allows(converted := convert(value)):
            return converted
    raise UserError(f"{name} must be {allowed}, got {str(value)[:40]!r}")
