"""Pictures for a suite of one's own, from a folder or a dataset, with a row for each: licence, hash, intent."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..files import read_toml, write_whole
from ..pictures import Undecodable, decode, sniff
from ..records import KINDS, UNKNOWN, Json, UserError, Values, one_of
from .catalogue import GIVEN

_FIELDS = ("file", "id", *GIVEN, "sha256")
Found = tuple[str, bytes, Values]  # a name, the file, and what its row says


def collect(
    place: str,
    out: Path,
    limit: int,
    given: Mapping[str, str | None],
    columns: Mapping[str, str],
    split: str | None,
) -> Counter[str]:
    """By kind, how many pictures the suite OUT/NAME.toml now has: at most `limit`, no kind more than its share.

    `given` are fields of all pictures, `columns` the dataset's columns of fields and of the image.
    """
    suite = out / f"{out.name}.toml"
    before = read_toml(suite) if suite.exists() else {}
    rows: list[Values] = list(before.pop("picture", []))
    counts, digests = Counter(row["kind"] for row in rows), {row["sha256"] for row in rows}
    share, only = -(-limit // len(KINDS)), given.get("kind")
    has_pictures = Path(place).is_dir() and not any(Path(place).rglob("*.parquet"))
    pictures = _in_folder(Path(place)) if has_pictures else _in_dataset(place, columns, split)
    for name, data, said in pictures:
        if counts.total() >= limit or (only and counts[only] >= share):
            break  # the rest of a dataset is not downloaded
        row = _row(name, data, {**said, **{key: value for key, value in given.items() if value}})
        if row is None or row["sha256"] in digests or counts[row["kind"]] >= share:
            continue
        digests.add(row["sha256"])
        counts[row["kind"]] += 1
        (out / "pictures" / row["kind"]).mkdir(parents=True, exist_ok=True)
        write_whole(out / "pictures" / row["file"], data)
        rows.append({key: value for key, value in row.items() if key in _FIELDS})
    if not rows:
        raise UserError(f"{place} has no picture that can be read")
    head = {"programs": ["replicate"], **before, "pictures": "pictures"}
    text = [_toml(head), *("[[picture]]\n" + _toml(row) for row in rows)]
    write_whole(suite, "\n".join(text).encode())
    return counts


def _row(name: str, data: bytes, fields: Values) -> Json | None:
    """What the suite says of a picture; None if it cannot be read."""
    kind, digest = str(fields.get("kind")), hashlib.sha256(data).hexdigest()
    try:
        decode(data)
    except Undecodable:
        return None
    if kind not in KINDS:
        raise UserError(f"{name} has the kind {kind!r}; give --kind or a column, one of {', '.join(KINDS)}")
    id = f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')[:40] or kind}-{digest[:6]}"
    row = {"origin": "real", "licence": UNKNOWN, "attribution": UNKNOWN, "title": name, **fields}
    return row | {"file": f"{kind}/{id}.{sniff(data)}", "id": id, "kind": kind, "sha256": digest}


def _toml(values: Values) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


def _in_folder(folder: Path) -> Iterator[Found]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield path.stem, path.read_bytes(), {"kind": path.parent.name if path.parent.name in KINDS else None}


def _in_dataset(place: str, columns: Mapping[str, str], split: str | None) -> Iterator[Found]:
    import datasets

    image = columns.get("image", "image")
    try:
        loaded = datasets.load_dataset(place, split=split or "train", streaming=True)
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{place} is neither a folder nor a dataset that can be opened ({reason})") from error
    # Files that declare no columns have them in a row.
    names = list(loaded.column_names or next(iter(loaded), {}))
    for field, column in {"image": image, **columns}.items():
        one_of("field", field, ("image", *GIVEN))
        if column not in names:
            problem = f"{place} has no column {column!r}, but {', '.join(names)}"
            raise UserError(f"{problem}; give --column {field}=COLUMN")
    for number, row in enumerate(loaded.cast_column(image, datasets.Image(decode=False))):
        said = {field: str(row[column]) for field, column in columns.items() if field != "image" and row[column]}
        yield str(said.get("title") or f"row {number}"), row[image]["bytes"], said
