"""Reads the tables that people publish, CSV, JSON and JSONL, and says what is wrong with one or with a value of it."""

import csv
import json
import math
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError, is_encodable

MOST_CHARACTERS = 100_000  # of one value


def json_file(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON that can be read ({error})") from error


def read_table(path: Path) -> Any:
    """The rows of a CSV or JSONL file, or what a JSON file holds."""
    if not path.is_file():
        raise UserError(f"there is no file {path}; a table is a .csv, .jsonl or .json file")
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
        raise UserError(f"{path}, line {number}: not JSON that can be read ({error})") from error


def objects(path: Path, rows: Any) -> list[dict[str, Any]]:
    """The rows, each of which must be an object."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path} must hold a list of rows, each an object with a value for each column")
    return rows


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a table without nesting."""
    return objects(path, read_table(path))


# A value of a foreign table: None if it is empty; if it is not allowed, a UserError without its place.


def text(name: str, value: object, most: int = MOST_CHARACTERS) -> str | None:
    """A value that must be text."""
    if value is None or value == "":
        return None
    words = str(value)
    if not isinstance(value, str | int | float) or "\0" in words or not is_encodable(words):
        raise UserError(f"{name} must be text, got {words[:40]!r}")
    if len(words) > most:
        raise UserError(f"{name} must have at most {most:,} characters, got {len(words):,}")
    return words


def whole(name: str, value: Any, low: int = 0, high: int = 2**31 - 1) -> int | None:
    """A value that must be a whole number within bounds."""
    if value is None or value == "":
        return None
    try:
        if low <= int(value) <= high:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UserError(f"{name} must be a whole number from {low} to {high}, got {str(value)[:40]!r}")


def number(name: str, value: Any, low: float = -math.inf) -> float | None:
    """A value that must be a number, and a finite one if it has a bound."""
    if value is None or value == "":
        return None
    try:
        if low == -math.inf or low <= float(value) < math.inf:
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    bound = "" if low == -math.inf else f" from {low:g}"
    raise UserError(f"{name} must be a number{bound}, got {str(value)[:40]!r}")
