"""A progress bar on a terminal or in a notebook; `convergebench status` shows the progress of a run elsewhere."""

import contextlib
import sys
from collections.abc import Callable, Iterator

Advance = Callable[[int, str], None]


@contextlib.contextmanager
def progress_bar(title: str, total: int, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """Yields a function that advances the bar by a count and sets the words next to it."""
    from tqdm import tqdm

    is_shown = not quiet and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    with tqdm(total=total, desc=title, unit=f" {unit}", disable=not is_shown, dynamic_ncols=True) as bar:

        def advance(count: int, words: str) -> None:
            bar.set_postfix_str(words, refresh=False)
            bar.update(count)

        yield advance
