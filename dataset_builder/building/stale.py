"""Scores that outlived their pictures: after a rebuild only those stay that belong to a picture still there."""

from pathlib import Path

from ..dataset.schema import SCORES, Reader, columns_of, write

KEY = ["chain", "step", "sha256"]


def drop_scores(folder: Path) -> int:
    """Take out the score rows whose step is gone or has another picture now; how many there were."""
    reader = Reader(folder)
    files = reader.files(SCORES.name)
    if not files:
        return 0
    current = keys(reader.table("steps", KEY).to_pylist())
    dropped = 0
    for file in files:
        with reader.open(file) as opened:
            table = opened.read()
        rows = table.to_pylist()
        kept = [row for row in rows if tuple(row[name] for name in KEY) in current]
        dropped += len(rows) - len(kept)
        if not kept:
            (folder / file).unlink()
        elif len(kept) < len(rows):
            write(folder / file, columns_of(table.schema, SCORES.name), kept)
    return dropped


def keys(rows: list[dict[str, object]]) -> set[tuple[object, ...]]:
    return {tuple(row[name] for name in KEY) for row in rows}
