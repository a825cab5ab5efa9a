"""Prepares a chain's input: resizes the source once, before the first round, to a size its editor is stable at."""

import functools
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from .pictures import decode, fit_to
from .records import Chain
from .store_reader import read_source_file

_Size = tuple[int, int]


def prepare(picture: Image.Image, short_side: int, sizes: tuple[_Size, ...] = ()) -> Image.Image:
    """Resize and crop evenly; otherwise the first round's crop would count as decay."""
    return fit_to(picture, prepared_size(picture.size, short_side, sizes))


def prepared_size(size: _Size, short_side: int, sizes: tuple[_Size, ...]) -> _Size:
    """The declared size of the nearest shape, then area; else that of the short side."""

    def distance(goal: _Size) -> tuple[float, int]:
        """The distance of the aspect ratios, rounded so that size settles near ties."""
        ratio = float(np.log(goal[0] / goal[1] * size[1] / size[0]))
        return round(abs(ratio), 3), abs(min(goal) - short_side)

    if sizes:
        return min(sizes, key=distance)
    scale = short_side / min(size)
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def prepare_from(
    run: Path, sizes: dict[str, tuple[_Size, ...]]
) -> Callable[[Chain], tuple[Image.Image, Image.Image | None]]:
    """A function that gives a chain's prepared input, and its reference if it is another."""

    one_at_a_time = threading.Lock()  # or all chains of a source would prepare it at once

    @functools.lru_cache(maxsize=8)
    def picture(sha256: str, short_side: int, goals: tuple[_Size, ...]) -> Image.Image:
        return prepare(decode(read_source_file(run, sha256)[1]), short_side, goals)

    def prepared(chain: Chain) -> tuple[Image.Image, Image.Image | None]:
        goal = (int(chain.settings["short_side"] or 0), sizes[chain.editor])
        reference = chain.source.reference
        with one_at_a_time:
            return picture(chain.source.sha256, *goal), picture(reference, *goal) if reference else None

    return prepared
