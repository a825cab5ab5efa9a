"""Turns chains into the dataset folder that is also the Hub repository."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .building.build import Built

__all__ = ["build"]


def build(
    runs: str | Path | Sequence[str | Path],
    out: str | Path = "convergebench",
    *,
    licence: str | None = None,
    attribution: str | None = None,
    quiet: bool = False,
) -> "Built":
    """Build a dataset folder from the finished chains of one or more runs, or update an existing one.

    `licence` and `attribution` apply to pictures that state none; publishing requires both.
    If several launched processes call it, they wait for each other and the first one builds.
    """
    from convergebench.generation.progress import progress_bar
    from convergebench.generation.shares import by_the_first
    from convergebench.generation.store_reader import find_finished

    from .building import build as building

    # What else belongs beside a dataset: a file beside.py of any folder of this room.
    files = Path(__file__).parent.glob("*/beside.py")
    beside = [importlib.import_module(f"{__name__}.{file.parent.name}.beside") for file in sorted(files)]
    rights = {key: value for key, value in (("licence", licence), ("attribution", attribution)) if value}
    folders = [runs] if isinstance(runs, str | Path) else runs

    def _build() -> "Built":
        finished = find_finished({Path(run) for run in folders})
        for laid in beside:
            laid.check(Path(out))
        with progress_bar("build", finished.steps, "steps", quiet) as advance:
            built = building.build(finished, Path(out), lambda: advance(1, ""), rights)
        for laid in beside:
            laid.copy_to(Path(out))
        return built

    return by_the_first(_build)
