"""The manifest: the files that this benchmark wrote into a folder or repository.

Only listed files are ever replaced or removed. A file is listed before it is written, so that even a crash leaves no
unlisted file behind.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from convergebench.generation.files import write_whole
from convergebench.generation.records import UserError, is_encodable

MANIFEST = ".manifest.json"
# The sha256 of a file and, of a table, the digest `values`; empty if the file is about to be written.
Entry = Mapping[str, str]
Entries = dict[str, Entry]


def parse(data: bytes) -> tuple[Entries, Entries]:
    """The files as they are, and those about to replace some of them."""
    try:
        parts = json.loads(data)
    except (ValueError, RecursionError):
        return {}, {}
    files, replacing = (parts.get(name) if isinstance(parts, dict) else None for name in ("files", "replacing"))
    return _entries(files), _entries(replacing)


def _entries(part: object) -> Entries:
    entries: Entries = {}
    for path, entry in part.items() if isinstance(part, dict) else ():
        leaves = PurePosixPath(path).is_absolute() or ".." in path.split("/") or "\\" in path
        if isinstance(entry, dict) and not leaves and is_encodable(path):
            is_valid = all(
                isinstance(value, str) and is_encodable(value) for item in entry.items() for value in item
            )
            entries[path] = entry if is_valid else {}
    return entries


def read(folder: Path, name: str = MANIFEST) -> tuple[Entries, Entries]:
    """As `parse`, of a folder; callers must not change the result."""
    try:
        status = (folder / name).stat()
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}
    return _parsed(folder / name, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=8)
def _parsed(path: Path, stamp: tuple[int, ...]) -> tuple[Entries, Entries]:
    return parse(path.read_bytes())


def listed(folder: Path, name: str = MANIFEST) -> set[str]:
    """The paths of the listed files, written or about to be."""
    files, replacing = read(folder, name)
    return {*files, *replacing}


def entries_of(folder: Path, file: str) -> list[Entry]:
    """The entries that a file may match; two while it is being replaced."""
    return [part[file] for part in read(folder) if file in part]


def is_as_written(folder: Path, file: str) -> bool:
    """Whether a listed file still has the content that was written."""
    digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    return any(entry.get("sha256", digest) == digest for entry in entries_of(folder, file))


def expect(folder: Path, entries: Mapping[str, Entry], name: str = MANIFEST) -> None:
    """List files before they are written or replaced."""
    files, replacing = read(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, text(files, {**replacing, **entries}))


def record(folder: Path, entries: Mapping[str, Entry], name: str = MANIFEST) -> None:
    """List exactly these files, once all are written."""
    write_whole(folder / name, text(entries))


def text(files: Mapping[str, Entry], replacing: Mapping[str, Entry] | None = None) -> bytes:
    parts = {"files": files} | ({"replacing": replacing} if replacing else {})
    return (json.dumps(parts, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def refuse(where: object, strangers: Collection[str], what: str, advice: str) -> None:
    """Raise if there are files of others."""
    if strangers:
        files = sorted(strangers)
        others = f" and {len(files) - 3} more" if len(files) > 3 else ""
        raise UserError(
            f"{where} holds {', '.join(files[:3])}{others}, which {what}; nothing was changed: {advice}"
        )
