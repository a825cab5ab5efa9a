"""Builds the dataset; equal chains give byte-identical files."""

import contextlib
import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from convergebench.generation.files import disk_errors_explained, locked, write_whole
from convergebench.generation.records import UNKNOWN, Source, UserError, canonical
from convergebench.generation.shares import cores
from convergebench.generation.store_reader import (
    FoundChains,
    StoredChain,
    read_picture,
    read_reference,
    read_source,
    read_steps,
    reference_size,
    source_size,
)

from ..dataset import manifest
from ..dataset.columns import Config, Row
from ..dataset.reader import Reader
from ..dataset.rows import BUILT, CHAINS, EDITORS, SOURCES, STEPS, chain_row, editor_row, source_row, step_row
from ..dataset.schema import config_of, write
from . import card

SHARD = 500_000_000  # bytes of pictures in one file, unless one chain alone has more
DRAFT = ".building"  # the folder of the files that are being written
_EDITORS_FILE = "data/editors/0000.parquet"
_BUILT = {config.name for config in BUILT}
_FOLDERS = tuple(f"data/{name}/" for name in _BUILT)
_SCORE_KEY = ["chain", "step", "sha256"]
_Progress = Callable[[], None]
_Planned = tuple[Config, str, list[StoredChain]]  # a file's config, its path and its chains


@dataclass(frozen=True)
class Built:
    """What a build made, and what it left out."""

    folder: Path
    chains: int
    steps: int
    sources: int
    files: int
    bytes: int
    unfinished: tuple[Path, ...]
    foreign: tuple[Path, ...]
    stale: int  # score rows dropped because their picture is gone


def build(
    finished: FoundChains,
    out: Path,
    progress: _Progress = lambda: None,
    rights: Mapping[str, str] | None = None,
) -> Built:
    """Write or update a dataset folder; `rights` are for pictures that state none."""
    if not finished.done:
        raise UserError("no chain is done in the runs given; `convergebench generate` finishes them")
    chains = sorted(finished.done.values(), key=lambda chain: chain.order)
    of_sources = _one_chain_per_source(chains)
    card.refuse_other_folders(out)
    with disk_errors_explained(out), locked(out):
        old, draft = Reader(out), out / DRAFT
        for file in old.files("scores"):
            old.file_table(file)  # before anything is written: damaged values must not be copied
        try:
            written = write_files(draft, plan_files(chains, of_sources), progress, rights or {})
            editors = [editor_row(label, finished.editors[label]) for label in sorted(finished.editors)]
            written[_EDITORS_FILE] = write(draft / _EDITORS_FILE, EDITORS, editors)[1]
            gone = {file for config in BUILT for file in old.files_present(config.name)}
            gone |= {file for file in manifest.listed_files(out) if file.startswith(_FOLDERS)}
            manifest.expect(out, written | {file: {} for file in gone - written.keys()})
            _replace_files(draft, out, set(written))
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        stale = _drop_stale_scores(out)
        card.write(out, {*_BUILT, "scores"})
    size = sum((out / file).stat().st_size for file in written)
    left_out = tuple(finished.unfinished), tuple(finished.foreign)
    return Built(out, len(chains), finished.steps, len(of_sources), len(written), size, *left_out, stale)


def _one_chain_per_source(chains: Iterable[StoredChain]) -> list[StoredChain]:
    """One chain for each source; raises if one id names two pictures."""
    first: dict[str, StoredChain] = {}
    for chain in chains:
        earlier = first.setdefault(chain.source.id, chain)
        if earlier.source != chain.source:
            raise UserError(
                f"source {chain.source.id!r} is one picture in {earlier.folder} and another, "
                f"or described otherwise, in {chain.folder}; build from one of the two"
            )
    return [first[name] for name in sorted(first)]


def plan_files(chains: list[StoredChain], of_sources: list[StoredChain]) -> list[_Planned]:
    """Distribute the chains over files of bounded size."""
    folders = card.editor_folders({chain.editor for chain in chains})
    files: list[_Planned] = []
    for editor, group in itertools.groupby(chains, key=lambda chain: chain.editor):
        files += _split_by_size(STEPS, f"data/steps/{folders[editor]}", group, lambda chain: chain.bytes)
    files += _split_by_size(CHAINS, "data/chains", chains, reference_size)
    files += _split_by_size(SOURCES, "data/sources", of_sources, source_size)
    return files


def _split_by_size(
    config: Config, folder: str, chains: Iterable[StoredChain], size_of: Callable[[StoredChain], int]
) -> list[_Planned]:
    files: list[_Planned] = []
    filled = SHARD
    for chain in chains:  # a chain is never split
        if filled + size_of(chain) > SHARD or not files:
            files.append((config, f"{folder}/{len(files):04d}.parquet", []))
            filled = 0
        files[-1][2].append(chain)
        filled += size_of(chain)
    return files


def write_files(
    draft: Path, files: list[_Planned], progress: _Progress, rights: Mapping[str, str]
) -> dict[str, manifest.Entry]:
    """Write every file; each keeps one core busy finding chunk borders."""
    with ThreadPoolExecutor(cores()) as pool:
        futures = {planned[1]: pool.submit(_write_file, draft, planned, progress, rights) for planned in files}
        try:
            return {file: future.result() for file, future in futures.items()}
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _write_file(draft: Path, planned: _Planned, progress: _Progress, rights: Mapping[str, str]) -> manifest.Entry:
    """Write a file, unless the JSON next to it says that it is up to date."""
    config, file, chains = planned
    path, record = draft / file, draft / f"{file}.json"
    content = [[chain.id, chain.digest, chain.suite, chain.suite_version, chain.status] for chain in chains]
    key = sha256(canonical([content, dict(rights)]).encode()).hexdigest()
    with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        values = json.loads(record.read_bytes())
        if values["key"] == key and path.stat().st_size == values["bytes"]:
            for _ in range(values["rows"] if config is STEPS else 0):
                progress()
            return {name: values[name] for name in ("sha256", "values")}
    rows, entry = write(path, config, _rows_of(planned, progress, rights))
    values = {"key": key, "rows": rows, "bytes": path.stat().st_size, **entry}
    write_whole(record, canonical(values).encode())
    return entry


def _rows_of(planned: _Planned, progress: _Progress, rights: Mapping[str, str]) -> Iterator[Row]:
    config, _, chains = planned
    for chain in chains:
        if config is STEPS:
            for step in read_steps(chain):
                yield step_row(chain, step, read_picture(chain, step))
                progress()
        elif config is CHAINS:
            yield chain_row(chain, read_reference(chain))
        else:
            path, data = read_source(chain)
            unknown = {name: text for name, text in rights.items() if getattr(chain.source, name) == UNKNOWN}
            yield source_row(Source.from_dict({**chain.source.to_dict(), **unknown}), data, path)


def _replace_files(draft: Path, out: Path, files: set[str]) -> None:
    for file in files:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (draft / file).replace(out / file)
    for config in BUILT:
        for path in sorted((out / "data" / config.name).rglob("*.parquet")):
            if path.relative_to(out).as_posix() not in files:
                path.unlink()
                with contextlib.suppress(OSError):  # a folder that is not empty stays
                    path.parent.rmdir()


def _drop_stale_scores(folder: Path) -> int:
    reader, dropped = Reader(folder), 0
    for file in reader.files("scores"):
        current = _score_keys(reader.table("steps", _SCORE_KEY)).combine_chunks()
        stays = pc.is_in(_score_keys(reader.file_table(file, _SCORE_KEY)), current).to_pylist()
        dropped += stays.count(False)
        if not any(stays):
            manifest.expect(folder, {file: {}})
            (folder / file).unlink()
        elif not all(stays):
            rows = itertools.compress(reader.file_rows(file), stays)
            write(folder / file, config_of(reader.footer(file), "scores"), rows, folder)
    return dropped


def _score_keys(table: pa.Table) -> pa.ChunkedArray:
    words = [table[name].cast(pa.string()) for name in _SCORE_KEY]
    return pc.binary_join_element_wise(*words, "\n", null_handling="replace", null_replacement="-")
