"""Gathers the pictures of a suite into one folder, so that later runs need no network."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ..files import disk_errors_explained, write_whole
from ..records import UserError
from . import catalogue as sources
from . import packages
from .catalogue import Row

AT_ONCE = 4  # packages on their way at a time


def gather(ids: Iterable[str], folder: Path, report: Callable[[str], None] = lambda id: None) -> dict[str, str]:
    """Bring the pictures into the folder and return, for each that did not arrive, one sentence that says why."""
    with disk_errors_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, list[Row]] = {}
    for row in dict.fromkeys(sources.row(id) for id in ids):
        if sources.kept(row, folder) is None:
            wanted.setdefault(row.package, []).append(row)
        else:
            report(row.id)
    problems: dict[str, str] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(bring, package, rows, folder, report) for package, rows in wanted.items()]
        for future in as_completed(running):
            problems.update(future.result())
    return problems


def bring(package: str, rows: list[Row], folder: Path, report: Callable[[str], None]) -> dict[str, str]:
    """Take one package's pictures; a bad one does not keep the others from arriving."""
    problems: dict[str, str] = {}
    try:
        found = {} if package == "painted" else packages.fetch(package, [row.path for row in rows])
    except packages.Unavailable as reason:
        return {row.id: f"source {row.id!r} did not arrive: {reason}" for row in rows}
    for row in rows:
        try:
            keep(row, sources.accepted(row, found.get(row.path)), folder)
        except UserError as error:
            problems[row.id] = str(error)
        else:
            report(row.id)
    return problems


def keep(row: Row, data: bytes, folder: Path) -> None:
    """Whole or absent: a half-written picture would only be found wrong later."""
    with disk_errors_explained(folder):
        write_whole(folder / row.file, data)
