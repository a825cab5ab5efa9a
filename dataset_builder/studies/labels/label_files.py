"""Adds what people said of a dataset's pictures to its config `labels`, and writes it out again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.generation.files import disk_errors_explained, locked, refuse_strangers_file, write_whole
from convergebench.generation.records import UserError

from ...building import card
from ...dataset.reader import Reader
from ...dataset.schema import write_listed
from ...importing.tables import objects, read_table
from .labels import FORMAT, LABELS, Label, label_from_values, latest, read_labels

FILE = "data/labels/0000.parquet"


@dataclass(frozen=True)
class ImportedLabels:
    """What an import of labels did."""

    file: Path
    labels: int  # in the dataset now
    new: int
    changed: int  # answers that took the place of earlier ones of the same person
    strangers: int  # of pictures that are not in this dataset, or are other ones by their hash: left out


def read_label_file(path: Path) -> list[Label]:
    """The labels of a file as the Space saves it, or of a CSV or JSONL with the same columns."""
    values: Any = read_table(path)
    if isinstance(values, dict):
        if values.get("format") != FORMAT:
            raise UserError(f"{path} has the format {values.get('format')!r}; this version reads {FORMAT}")
        values = values.get("labels")
    return [label_from_values(f"{path}, label {place}", row) for place, row in enumerate(objects(path, values), 1)]


def import_labels(files: Sequence[Path], folder: Path) -> ImportedLabels:
    """Add the labels of files to a dataset; of one person and picture the latest answer counts."""
    card.refuse_other_folders(folder)
    reader = Reader(folder)
    if not reader.files("chains"):
        raise UserError(f"{folder} is not a dataset; `convergebench build` makes one")
    given = [label for path in files for label in read_label_file(path)]
    steps = reader.table("steps", ["chain", "step", "sha256"]).to_pylist()
    known = {(row["chain"], row["step"]): row["sha256"] for row in steps}
    own = [label for label in given if _is_of_dataset(label, known)]
    with disk_errors_explained(folder), locked(folder):
        before = {(label.rater, *label.item): label for label in read_labels(reader)}
        after = {(label.rater, *label.item): label for label in latest([*before.values(), *own])}
        rows = [after[key] for key in sorted(after, key=lambda key: [str(each) for each in key])]
        write_listed(folder, FILE, LABELS, rows)
        card.write(folder)
    new = len(after.keys() - before.keys())
    changed = sum(after[key] != label for key, label in before.items())
    return ImportedLabels(folder / FILE, len(after), new, changed, len(given) - len(own))


def _is_of_dataset(label: Label, known: dict[tuple[str, int], str | None]) -> bool:
    """Whether the pictures that were looked at are in the dataset, the same by their hash."""
    places = [(label.chain, label.step)]
    if label.other_chain is not None and label.other_step is not None:
        places.append((label.other_chain, label.other_step))
    return all(place in known for place in places) and label.sha256 in (None, known[places[0]])


def export_labels(folder: Path, out: Path) -> int:
    """Write a dataset's labels as the Space saves them; how many there are."""
    labels = read_labels(Reader(folder))
    rows = [{name: value for name, value in label.values.items() if value is not None} for label in labels]
    for row in rows:
        row.pop("level", None)  # follows from the answer
    refuse_strangers_file(out, _is_label_file)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, json.dumps({"format": FORMAT, "labels": rows}, indent=1, ensure_ascii=False).encode() + b"\n")
    return len(rows)


def _is_label_file(data: bytes) -> bool:
    """Whether a file holds labels as they are saved here and in the Space."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT and isinstance(found.get("labels"), list)
