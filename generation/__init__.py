"""Makes chains: what is asked, of whom, in which order, and where the answers are kept."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .calls import Refused

if TYPE_CHECKING:
    from .scheduler import Outcome

__all__ = ["Refused", "generate"]


def generate(
    editor: "Callable[..., Any] | str | Sequence[Callable[..., Any] | str]",
    suite: str = "demo",
    out: str | Path | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
    rounds: int | None = None,
    runs: int | None = None,
    workers: int | None = None,
    max_cost: float | None = None,
    retry: Collection[str] = (),
    **selection: Any,
) -> "Outcome":
    """Run a suite with an editor: your own function, the words of `--editor`, or a list of both.

    Your function is `edit(image, instruction, seed)`: it gets a PIL picture and gives one, or the bytes of a file, and
    raises `Refused` where it declines. The same call again goes on where the last one stopped, as long as the editor
    has the same name and version; unless you give them, they are the function's name and a hash of its file.
    `programs`, `categories`, `kinds` and `sources` are lists that choose cases, `limit` takes a balanced few of them.
    """
    from . import editors, plan, scheduler, suites
    from .selection import Selection

    many = [editor] if isinstance(editor, str) or callable(editor) else list(editor)
    given = {key: value for key, value in (("name", name), ("version", version)) if value is not None}
    chosen = [each if isinstance(each, str) else editors.own_choice(each, "", given) for each in many]
    planned = plan.make_plan(suites.load(suite), chosen, rounds, runs, Selection(**selection))
    rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    mine = plan.share(planned.chains, rank, size)
    return scheduler.generate(
        planned, mine, Path(out or Path("runs") / suite), workers, max_cost and max_cost / size, retry=retry
    )
