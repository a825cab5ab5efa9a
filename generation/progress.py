"""A progress bar for long work: on a terminal, and in a notebook."""

import contextlib
import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

Advance = Callable[[int, str], None]
PAUSE = 0.2  # seconds between two changes of a notebook's bar


@contextlib.contextmanager
def progress_bar(title: str, total: int, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """Show a bar on a terminal or in a notebook, and nothing elsewhere.

    Yields a function that takes how many more are done and a few words to show beside the bar.
    """
    if quiet:
        yield lambda count, words: None
    elif in_notebook():
        with notebook_bar(title, total, unit) as advance:
            yield advance
    elif sys.stderr.isatty():
        with terminal_bar(title, total, unit) as advance:
            yield advance
    else:
        yield lambda count, words: None


def in_notebook() -> bool:
    """Whether this program is the kernel of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


@contextlib.contextmanager
def terminal_bar(title: str, total: int, unit: str) -> Iterator[Advance]:
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
            progress.update(task, advance=count, rate=rate(done, started, unit), words=words)

        yield advance


@contextlib.contextmanager
def notebook_bar(title: str, total: int, unit: str) -> Iterator[Advance]:
    """One output of the cell, changed in place; the work itself may be done by other threads."""
    from IPython.display import HTML, display

    started, done, shown = time.monotonic(), 0, 0.0
    lock = threading.Lock()

    def bar(words: str) -> Any:
        text = html.escape(f"{done}/{total} {unit} {rate(done, started, unit)} {words}".rstrip())
        return HTML(f'{html.escape(title)} <progress value="{done}" max="{max(total, 1)}"></progress> {text}')

    handle = display(bar(""), display_id=True)
    last = ""

    def advance(count: int, words: str) -> None:
        nonlocal done, shown, last
        with lock:
            done, last = done + count, words
            if time.monotonic() - shown < PAUSE:
                return
            shown = time.monotonic()
            handle.update(bar(words))

    try:
        yield advance
    finally:
        handle.update(bar(last))


def rate(done: int, started: float, unit: str) -> str:
    return f"{done / max(time.monotonic() - started, 0.001):.1f} {unit}/s"
