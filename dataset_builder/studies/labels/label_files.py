"""Files of labels: read, added to a dataset, and written again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from convergebench.generation.files import disk_errors_explained, locked, refuse_strangers_file, write_whole
from convergebench.generation.records import UserError, json_object

from ...building import card
from ...dataset.reader import Reader
from ...dataset.rows import StepRow
from ...dataset.schema import write
from ...importing.tables import number, objects, read_table, text, whole
from .labels import LABELS, QUESTIONS, Label, latest

FORMAT = 1  # of a file of labels
_FILE = "data/labels/0000.parquet"
_LONGEST = 200  # characters of a labeller's name
_Hashes = dict[tuple[str | None, int | None], str | None]  # by chain and step


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

    Returns the file and counts: all labels, the new, the changed, and
    the strangers: labels of pictures that are not in this dataset.
    """
    card.require_dataset(folder)
    reader = Reader(folder)
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
    write_whole(
        out, json.dumps({"format": FORMAT, "labels": rows}, indent=1, ensure_ascii=False).encode() + b"\n"
    )
    return len(rows)


def _is_label_file(data: bytes) -> bool:
    values = json_object(data) or {}
    return values.get("format") == FORMAT and isinstance(values.get("labels"), list)
