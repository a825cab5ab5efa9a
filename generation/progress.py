"""A progress bar: updated in place on a terminal or in a notebook, otherwise one plain line a minute."""

import contextlib
import sys
from collections.abc import Callable, Iterator

Advance = Callable[[int, str], None]
_LINES_EVERY = 60.0  # seconds between the lines of a log; shorter work writes none


@contextlib.contextmanager
def progress_bar(title: str, total: int, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """Yield a function that advances the bar by a count and sets the words next to it."""
    from tqdm import tqdm

    in_place = sys.stderr.isatty() or "ipykernel" in sys.modules
    every = 0.2 if in_place else _LINES_EVERY
    form = None if in_place else "{desc}: {n_fmt} of {total_fmt}{unit}, {rate_fmt}{postfix}, {remaining} left\n"
    with tqdm(
        total=total,
        desc=title,
        unit=f" {unit}",
        disable=quiet,
        delay=0 if in_place else _LINES_EVERY,
        mininterval=every,
        maxinterval=every,
        dynamic_ncols=True,
        bar_format=form,
    ) as bar:

        def advance(count: int, words: str) -> None:
            if words:
                bar.set_postfix_str(words, refresh=False)
            bar.update(count)

        yield advance
