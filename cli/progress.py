"""Progress on a terminal: chains done, steps a second, time left, money spent. Nothing where nobody watches."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def bar(title: str, total: int, unit: str, quiet: bool = False) -> Iterator[Callable[[int, str], None]]:
    """Yields a function that takes how many more are done and a few words to show beside them."""
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
