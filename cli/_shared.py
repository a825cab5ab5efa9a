"""What several verbs share: the options --json and --column, the progress bar, and the rank among processes."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a machine.")


@contextlib.contextmanager
def progress_bar(title: str, total: int, unit: str, quiet: bool = False) -> Iterator[Callable[[int, str], None]]:
    """Show a bar on a terminal, and nothing elsewhere.

    Yields a function that takes how many more are done and a few words to show beside the bar.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda count, words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} {task.fields[words]}"),
        TimeRemainingColumn(),
    )
    started, done = time.monotonic(), 0
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total, rate="", words="")

        def advance(count: int, words: str) -> None:
            nonlocal done
            done += count
            rate = f"{done / max(time.monotonic() - started, 0.001):.1f} {unit}/s"
            progress.update(task, advance=count, rate=rate, words=words)

        yield advance


def rank_and_size() -> tuple[int, int]:
    """This process's rank and the number of processes that accelerate launched.

    Refuses to start where each process would believe that it is alone: every step would be paid for several times.
    """
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if expected == 1:
        return 0, 1
    from convergebench.generation.records import UserError

    try:
        import torch
        from accelerate import PartialState
    except ModuleNotFoundError as error:
        raise UserError(
            f"{expected} processes were launched, and {error.name} is not installed, without which they cannot meet: "
            "pip install 'convergebench[score]'"
        ) from error
    try:
        # A process may wait for the others for as long as their share of the work takes.
        state = PartialState(cpu=not torch.accelerator.is_available(), timeout=timedelta(days=30))
    except ValueError as error:
        raise UserError(f"{expected} processes were launched but cannot meet: {error}") from error
    if state.num_processes != expected:
        raise UserError(
            f"{expected} processes were launched but each sees {state.num_processes}; "
            "on a machine without accelerators launch with --multi_gpu, not with --cpu"
        )
    return state.process_index, state.num_processes


def parse_columns(pairs: tuple[str, ...]) -> dict[str, str]:
    """The pairs OURS=THEIRS of --column as a mapping."""
    from convergebench.generation.records import UserError

    for pair in pairs:
        if "=" not in pair:
            raise UserError(f"--column is {pair!r}; it is OURS=THEIRS, such as path=file")
    return dict(pair.split("=", 1) for pair in pairs)
