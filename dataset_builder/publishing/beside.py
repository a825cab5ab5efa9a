"""The metric folders that `build` lays beside a dataset, for `evaluate.load` without a network."""

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from convergebench.generation.files import locked, remove_unfinished, write_whole
from convergebench.generation.records import json_object
from convergebench.metric_modules._evaluate import self_contained

from ..dataset import manifest
from ..dataset.manifest import MANIFEST

_METRICS = Path(self_contained.__file__).parents[1]


def _metric_names() -> list[str]:
    return sorted(path.parent.name for path in _METRICS.glob("*/*.py") if path.stem == path.parent.name)


@cache
def _metric_folders() -> dict[str, dict[str, bytes]]:
    return {name: self_contained.self_contained(_METRICS / name) for name in _metric_names()}


def check(out: Path) -> None:
    """Raise if copying would replace a file that is not as a build wrote it."""
    in_the_way = []
    for name, files in _metric_folders().items():
        if (out / name).exists() and not (out / name).is_dir():
            in_the_way.append(name)
            continue
        for file, data in files.items():
            path = out / name / file
            is_same = path.is_file() and (path.read_bytes() == data or manifest.is_as_written(out / name, file))
            if path.exists() and not is_same:
                in_the_way.append(f"{name}/{file}")
    advice = f"move them, or let `convergebench verify {out} --repair` set aside what a build wrote"
    manifest.refuse_unlisted(out, in_the_way, "`convergebench build` did not write as they are", advice)


def changed_files(out: Path) -> Iterator[str]:
    """The files of copied metric folders that were changed or removed since."""
    for name in _metric_names():
        listing = out / name / MANIFEST
        if listing.is_file() and json_object(listing.read_bytes()) is None:
            yield f"{name}/{MANIFEST}"
        for file in sorted(manifest.listed_files(out / name, MANIFEST)):
            if not (out / name / file).is_file() or not manifest.is_as_written(out / name, file):
                yield f"{name}/{file}"


def copy_to(out: Path) -> None:
    """Copy the folders; only files of an earlier copy are removed."""
    with locked(out, wait=True):
        for name, files in _metric_folders().items():
            folder = out / name
            gone = manifest.listed_files(folder, MANIFEST) - files.keys()
            old = [file for file in gone if (folder / file).is_file() and manifest.is_as_written(folder, file)]
            entries = {file: {"sha256": sha256(data).hexdigest()} for file, data in files.items()}
            manifest.expect(folder, entries, MANIFEST)
            for file, data in files.items():
                write_whole(folder / file, data)
            for file in old:
                (folder / file).unlink()
            remove_unfinished(folder)
            manifest.write(folder, entries, MANIFEST)
