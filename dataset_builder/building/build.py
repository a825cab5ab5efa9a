"""Builds the dataset from chain stores: Parquet that is the same to the byte whenever the chains are the same."""

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from convergebench.generation.files import disk_errors_explained, locked
from convergebench.generation.records import UserError
from convergebench.generation.store_reader import FoundChains, StoredChain, reference_size, source_size

from ..dataset.schema import CHAINS, SHARD, SOURCES, STEPS, Config, Shard, Written
from . import card, stale
from .rows import chain_row, source_row, step_rows


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
    stale: int  # score rows that belonged to pictures that are no longer there


@dataclass(frozen=True)
class Part:
    """A file to be written: of which config, where, and from which chains."""

    config: Config
    file: str
    chains: tuple[StoredChain, ...]


def build(found: FoundChains, out: Path, progress: Callable[[], None] = lambda: None) -> Built:
    """Write the done chains found as a dataset folder, or bring the one that is there up to date.

    `progress` is called for every row of `steps`.
    """
    if not found.done:
        raise UserError("no chain is done in the runs given; `convergebench generate` finishes them")
    stored = sorted(found.done.values(), key=lambda one: one.order)
    sources = by_source(stored)
    card.refuse_strangers(out)
    with disk_errors_explained(out), locked(out):
        draft = out / ".building"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            written = write_parts(draft, plan(stored, sources), progress)
            swap(draft, out, set(written))
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        dropped = stale.drop_scores(out)
        card.write(out, fresh=written)
    return Built(
        folder=out,
        chains=len(stored),
        steps=sum(one.calls + 1 for one in stored),
        sources=len(sources),
        files=len(written),
        bytes=sum(one.bytes for one in written.values()),
        unfinished=tuple(found.unfinished),
        foreign=tuple(found.foreign),
        stale=dropped,
    )


def by_source(stored: Iterable[StoredChain]) -> list[StoredChain]:
    """A chain for each source, sorted by the source's id; one id names one picture."""
    first: dict[str, StoredChain] = {}
    for one in stored:
        other = first.setdefault(one.source.id, one)
        if other.source != one.source:
            raise UserError(
                f"source {one.source.id!r} is one picture in {other.folder} and another, "
                f"or described otherwise, in {one.folder}; build from one of the two"
            )
    return [first[name] for name in sorted(first)]


def plan(stored: list[StoredChain], sources: list[StoredChain]) -> list[Part]:
    """Deal the chains to files of bounded size."""
    parts = []
    folders = editor_folders({one.editor for one in stored})
    for editor, members in itertools.groupby(stored, key=lambda one: one.editor):
        parts += deal(STEPS, f"data/steps/{folders[editor]}", list(members), lambda one: one.bytes)
    parts += deal(CHAINS, "data/chains", stored, reference_size)
    parts += deal(SOURCES, "data/sources", sources, source_size)
    return parts


def deal(config: Config, folder: str, members: list[StoredChain], weight: Callable[[StoredChain], int]) -> list[Part]:
    """Files of at most SHARD bytes of pictures, in order; a chain is never split."""
    dealt: list[list[StoredChain]] = []
    filled = SHARD
    for one in members:
        if filled + weight(one) > SHARD or not dealt:
            dealt.append([])
            filled = 0
        dealt[-1].append(one)
        filled += weight(one)
    return [Part(config, f"{folder}/{number:04d}.parquet", tuple(group)) for number, group in enumerate(dealt)]


def editor_folders(editors: Iterable[str]) -> dict[str, str]:
    """A folder name for each editor that any file system and any glob takes as it is."""
    folders: dict[str, str] = {}
    taken: set[str] = set()
    for editor in sorted(editors):
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", editor).strip(".-") or "editor"
        if name.casefold() in taken:
            name += "-" + sha256(editor.encode()).hexdigest()[:8]
        taken.add(name.casefold())
        folders[editor] = name
    return folders


def write_parts(draft: Path, parts: list[Part], progress: Callable[[], None]) -> dict[str, Written]:
    """Write every file; a few at once, because finding chunk borders keeps one core busy per file."""

    def write(part: Part) -> Written:
        path = draft / part.file
        path.parent.mkdir(parents=True, exist_ok=True)
        shard = Shard(path, part.config.columns)
        for one in part.chains:
            if part.config is STEPS:
                for row in step_rows(one):
                    shard.add(row)
                    progress()
            else:
                shard.add(chain_row(one) if part.config is CHAINS else source_row(one))
        return shard.close()

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        futures = {part.file: pool.submit(write, part) for part in parts}
        try:
            return {file: future.result() for file, future in futures.items()}
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def swap(draft: Path, out: Path, files: set[str]) -> None:
    """Put the finished files in place and take away those that are no longer part of the dataset."""
    for file in files:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (draft / file).replace(out / file)
    for config in (STEPS, CHAINS, SOURCES):
        for path in sorted((out / "data" / config.name).rglob("*.parquet")):
            if path.relative_to(out).as_posix() not in files:
                path.unlink()
                with contextlib.suppress(OSError):  # a folder that is not empty stays
                    path.parent.rmdir()
