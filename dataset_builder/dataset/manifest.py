"""The manifest: the files that this benchmark wrote into a folder or repository.

A dataset's is in its card, so that it travels with the dataset: files that it
does not list are not read. Only listed files are ever replaced or removed. A
file is listed before it is written, so that a crash leaves no unlisted one.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from convergebench.generation.files import write_whole
from convergebench.generation.records import UserError, is_encodable, json_object

MANIFEST = ".manifest.json"  # of a metric's folder or a Space
CARD = "README.md"  # of a dataset; its last lines are the manifest
_EMPTY_CARD = b"---\ntags:\n- convergebench\npretty_name: ConvergeBench\n---\n"  # until a first build has ended
_IN_CARD = re.compile(rb"\n<!-- convergebench files\n(.*?)\n-->\n", re.DOTALL)
# The sha256 of a file, and `values` of a table; empty if it is about to be written or was set aside.
Entry = Mapping[str, str]
Entries = dict[str, Entry]


class UnreadableFile(UserError, OSError):
    """A damaged or missing file of a dataset; the message says what to do."""


def no_dataset(folder: str | Path) -> UserError:
    return UserError(f"{folder} is not a dataset: it has no data/chains; `convergebench build` makes one")


def parse(data: bytes) -> tuple[Entries, Entries]:
    """The files that are there, and those about to replace some of them."""
    in_card = _IN_CARD.search(data)
    parts = json_object(in_card[1] if in_card else data) or {}
    return _entries(parts.get("files")), _entries(parts.get("replacing"))


def _entries(part: object) -> Entries:
    entries: Entries = {}
    for path, entry in part.items() if isinstance(part, dict) else ():
        escapes = PurePosixPath(path).is_absolute() or ".." in path.split("/") or "\\" in path
        if isinstance(entry, dict) and not escapes and is_encodable(path):
            texts = [*entry, *entry.values()]
            is_valid = all(isinstance(text, str) and is_encodable(text) for text in texts)
            entries[path] = entry if is_valid else {}
    return entries


def read(folder: Path, name: str = CARD) -> tuple[Entries, Entries]:
    """Like `parse`, for a folder. The result is cached: callers must not change it."""
    try:
        status = (folder / name).stat()
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}
    return _parsed(folder / name, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=8)
def _parsed(path: Path, stamp: tuple[int, ...]) -> tuple[Entries, Entries]:
    return parse(path.read_bytes())


def listed_files(folder: Path, name: str = CARD) -> set[str]:
    files, replacing = read(folder, name)
    return {*files, *replacing}


def is_as_written(folder: Path, file: str) -> bool:
    """Whether a file of a metric's folder still has the content that was written."""
    digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    return any(part[file].get("sha256", digest) == digest for part in read(folder, MANIFEST) if file in part)


def expect(folder: Path, entries: Mapping[str, Entry], name: str = CARD) -> None:
    """List files before they are written, replaced or removed."""
    files, replacing = read(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    new = encode(files, {**replacing, **entries})
    if name == CARD:
        card = (folder / CARD).read_bytes() if (folder / CARD).exists() else _EMPTY_CARD
        new = in_card(card, new)
    write_whole(folder / name, new)


def write(folder: Path, entries: Mapping[str, Entry], name: str) -> None:
    """List exactly these files, once all are written."""
    write_whole(folder / name, encode(entries))


def encode(files: Mapping[str, Entry], replacing: Mapping[str, Entry] | None = None) -> bytes:
    parts = {"files": files} | ({"replacing": replacing} if replacing else {})
    return (json.dumps(parts, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def in_card(card: bytes, listing: bytes) -> bytes:
    """The card with this manifest at its end, as a comment, which is not displayed."""
    comment = b"\n<!-- convergebench files\n%s-->\n" % listing.replace(b">", b"\\u003e")
    return _IN_CARD.sub(b"", card) + comment


def refuse_unlisted(where: object, unlisted: Collection[str], what: str, advice: str) -> None:
    if unlisted:
        files = sorted(unlisted)
        others = f" and {len(files) - 3} more" if len(files) > 3 else ""
        problem = f"{where} holds {', '.join(files[:3])}{others}, which {what}"
        raise UserError(f"{problem}; nothing was changed: {advice}")
