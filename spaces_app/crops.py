"""Which part of a picture a strip shows: the place that was to change, and the place that broke."""

import numpy as np
from convergebench.generation import pictures
from PIL import Image

_CELL = 16  # pixels of the grid that is searched for the place that changed most, at a short side of 512
_ROOM = 0.4  # of each side, around the places
_SHAPE = 4 / 3  # width over height, if the picture has room for it

Place = tuple[float, float]  # from 0 to 1
Box = tuple[float, float, float, float]


def changed_place(original: Image.Image, picture: Image.Image) -> Place:
    """The middle of what differs most."""
    size = pictures.evaluation_size(*original.size, 512)
    first, second = (
        np.asarray(image.convert("L").resize(size, Image.Resampling.BOX), float) for image in (original, picture)
    )
    rows, columns = (max(side // _CELL, 1) for side in first.shape)
    far = np.abs(first - second)[: rows * _CELL, : columns * _CELL]
    cells = far.reshape(rows, far.shape[0] // rows, columns, -1).mean((1, 3))
    padded = np.pad(cells, 2, mode="edge")
    near = sum(padded[y : y + rows, x : x + columns] for y in range(5) for x in range(5))
    row, column = np.unravel_index(int(np.argmax(near)), cells.shape)
    return (column + 0.5) / columns, (row + 0.5) / rows


def box_around(size: tuple[int, int], places: list[Place]) -> Box:
    """A box inside a picture of this size that holds all places with room around them.

    >>> box_around((400, 300), [(0.5, 0.5)]), box_around((400, 300), [(0.0, 0.1), (0.9, 0.9)])
    ((120.0, 90.0, 280.0, 210.0), (0.0, 0.0, 400.0, 300.0))
    """
    middles, spans = [], []
    for axis, side in enumerate(size):
        along = [place[axis] * side for place in places] or [side / 2]
        middles.append((min(along) + max(along)) / 2)
        spans.append(min(max(along) - min(along) + _ROOM * side, side))
    wide = min(max(spans[0], spans[1] * _SHAPE), size[0])
    high = min(max(spans[1], wide / _SHAPE), size[1])
    left, top = (
        min(max(middle - span / 2, 0.0), side - span)
        for middle, span, side in zip(middles, (wide, high), size, strict=True)
    )
    return left, top, left + wide, top + high
