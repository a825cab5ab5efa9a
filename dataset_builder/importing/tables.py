"""Reads the tables that people publish: CSV, JSON and JSONL."""

import csv
import json
from pathlib import Path
from typing import Any

from convergebench.generation.records import UserError


def json_file(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON that can be read ({error})") from error


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, JSONL or JSON file."""
    if not path.is_file():
        raise UserError(f"there is no file {path}; a table is a .csv, .jsonl or .json file")
    if path.suffix == ".csv":
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.DictReader(file))
        except (csv.Error, ValueError) as error:
            raise UserError(f"{path} is no CSV in UTF-8 ({error})") from error
        if longer := [number for number, row in enumerate(rows, 1) if None in row]:
            raise UserError(f"{path}, row {longer[0]}, has more values than the table has columns")
        return rows
    if path.suffix == ".json":
        return json_file(path)
    if path.suffix != ".jsonl":
        raise UserError(f"{path.name} is no table; it is a .csv, .jsonl or .json file")
    rows = []
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError as error:
        raise UserError(f"{path} is not in UTF-8 ({error})") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}, line {number}, is not JSON that can be read ({error})") from error
    return rows


def objects(path: Path, rows: Any) -> list[dict[str, Any]]:
    """The rows, each of which is an object."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path} holds something else than rows; each is an object with a value for each column")
    return rows
