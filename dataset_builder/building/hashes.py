"""The sha256 of each data file, remembered for as long as size and time say that it is the same file.

A card needs them all, and is written again after every score: reading a hundred gigabytes for that would be waste.
Git's index does the same. The memory lies beside the data and is never published; without it all is read again.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from ..dataset.schema import Written, hash_file

NAME = ".hashes.json"


class Hashes:
    """Hashes of a folder's files, by their path inside it."""

    def __init__(self, folder: Path, fresh: Mapping[str, Written]):
        self.folder, self.fresh = folder, fresh
        self.known: dict[str, list[object]] = {}
        self.used: dict[str, list[object]] = {}
        if (folder / NAME).exists():
            try:
                self.known = json.loads((folder / NAME).read_bytes())
            except ValueError:  # a memory that cannot be read is no memory
                self.known = {}

    def of(self, file: str) -> str:
        status = (self.folder / file).stat()
        stamp = [status.st_size, status.st_mtime_ns, status.st_ino]
        if file in self.fresh:
            digest = self.fresh[file].sha256
        elif self.known.get(file, [])[:3] == stamp:
            digest = str(self.known[file][3])
        else:
            digest = hash_file(self.folder / file)
        self.used[file] = [*stamp, digest]
        return digest

    def save(self) -> None:
        part = self.folder / (NAME + ".part")
        part.write_text(json.dumps(self.used, sort_keys=True), encoding="utf-8")
        part.replace(self.folder / NAME)
