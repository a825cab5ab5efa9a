"""The manifest: which files of a folder or repository are ours, and what they hold. Only those are replaced or removed.

A file is listed before it is written, so that a crash at any moment leaves no file of ours that is not listed.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from convergebench.generation.files import write_whole
from convergebench.generation.records import UserError, is_encodable

MANIFEST = ".manifest.json"
# What is known of a file: its "sha256", that of each of its "columns", and of the "pictures" that no column has a hash
# of, by column and in the order of the rows. Nothing is known of an empty entry.
Entry = Mapping[str, Any]


def parse(data: bytes) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """The files as they are, and what is about to replace some of them; none where nothing can be read."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}, {}
    known = found if isinstance(found, dict) else {}
    return entries(known.get("files")), entries(known.get("replacing"))


def entries(part: object) -> dict[str, Entry]:
    """The files of one part of a manifest with what is known of each; what cannot be ours is left out."""
    if not isinstance(part, dict):
        return {}
    return {
        path: entry if is_entry(entry) else {}
        for path, entry in part.items()
        if isinstance(entry, dict) and is_inside(path) and is_encodable(path)
    }


def is_entry(entry: Entry) -> bool:
    """Whether an entry has the form that is written here; of another nothing is believed."""
    columns, pictures = entry.get("columns", {}), entry.get("pictures", {})
    texts = [entry.get("sha256", ""), *columns.values()] if isinstance(columns, dict) else [None]
    known = isinstance(pictures, dict) and all(isinstance(each, list) for each in pictures.values())
    return (
        known and all(isinstance(text, str) for text in texts) and is_encodable(json.dumps(entry, ensure_ascii=False))
    )


def is_inside(path: str) -> bool:
    """Whether a listed path stays in its folder."""
    return not PurePosixPath(path).is_absolute() and ".." not in path.split("/") and "\\" not in path


def read(folder: Path, name: str = MANIFEST) -> tuple[dict[str, Entry], dict[str, Entry]]:
    try:
        status = (folder / name).stat()
        return parsed(folder / name, status.st_mtime_ns, status.st_size, status.st_ino)
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}


@lru_cache(maxsize=8)
def parsed(path: Path, time: int, size: int, inode: int) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """A manifest as it was at that time; whoever asks gets the same one and does not change it."""
    return parse(path.read_bytes())


def listed(folder: Path, name: str = MANIFEST) -> set[str]:
    """The paths of our files in a folder, whether they are there yet or not."""
    files, replacing = read(folder, name)
    return {*files, *replacing}


def entries_of(folder: Path, file: str) -> list[Entry]:
    """What a file may hold: in the middle of a replacement that is its old content or its new one."""
    return [part[file] for part in read(folder) if file in part]


def is_as_written(folder: Path, file: str) -> bool:
    """Whether a listed file still has a content that we gave it."""
    digest = sha256((folder / file).read_bytes()).hexdigest()
    return any(entry.get("sha256", digest) == digest for entry in entries_of(folder, file))


def expect(folder: Path, entries: Mapping[str, Entry], name: str = MANIFEST) -> None:
    """List files before they are written or replaced."""
    files, replacing = read(folder, name)
    write(folder, files, {**replacing, **entries}, name)


def record(folder: Path, entries: Mapping[str, Entry], name: str = MANIFEST) -> None:
    """List exactly these files: all is written."""
    write(folder, entries, {}, name)


def write(folder: Path, files: Mapping[str, Entry], replacing: Mapping[str, Entry], name: str) -> None:
    about = {"files": files} | ({"replacing": replacing} if replacing else {})
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, text(about))


def text(about: Mapping[str, Any]) -> bytes:
    return (json.dumps(about, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def names_only(paths: Iterable[str]) -> bytes:
    """The manifest of a repository whose files are listed without their content."""
    return text({"files": {path: {} for path in paths}})


def refuse(where: object, strangers: Collection[str], what: str, advice: str) -> None:
    """Name the first files that are not ours where we would have to replace them or to mix them with ours."""
    if strangers:
        first = sorted(strangers)
        more = f" and {len(first) - 3} more" if len(first) > 3 else ""
        raise UserError(f"{where} holds {', '.join(first[:3])}{more}, which {what}; nothing was changed: {advice}")
