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
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error})") from error


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, JSONL or JSON file."""
    if not path.is_file():
        raise UserError(f"there is no file {path}; a table is a .csv, .jsonl or .json file")
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".json":
        return json_file(path)
    if path.suffix != ".jsonl":
        raise UserError(f"{path.name} is no table; it is a .csv, .jsonl or .json file")
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise UserError(f"{path}, line {number}, is not JSON ({error})") from error
    return rows
