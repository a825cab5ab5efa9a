"""What the kinds of `convergebench weights` share."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping

import click


@contextlib.contextmanager
def download_bar(name: str, megabytes: int) -> Iterator[Callable[[], None]]:
    """A progress bar over a download."""
    from convergebench.generation.progress import progress_bar

    with progress_bar(name, megabytes, "MB") as advance:
        yield lambda: advance(1, "")


def fetch_and_print(fetch: Callable[[], Mapping[str, Mapping[str, str]]], as_json: bool) -> None:
    """Fetch weights; with --json print where they are and their digests."""
    from convergebench.generation.packages import Unavailable

    try:
        places = fetch()
    except (OSError, ValueError, Unavailable) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(places))
