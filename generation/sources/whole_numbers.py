"""Noise, waves and colours in whole numbers only, so that a picture made of them is the same bytes on any machine.

Floating point may round differently on a processor with other vector instructions, and numpy promises an unchanging
stream for the raw generator alone. So everything here is integer arithmetic on the raw words of PCG64.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
_Colour = tuple[int, int, int]

ONE = 1 << 16  # noise and ramps run from 0 to ONE - 1
_TURN = 1 << 12  # a full turn of sine()
_SINE = np.array([round(math.sin(2 * math.pi * i / _TURN) * (1 << 14)) for i in range(_TURN)], np.int64)


def draw(seed: Sequence[int], count: int, low: int, high: int) -> Whole:
    words = np.random.PCG64(np.random.SeedSequence(list(seed))).random_raw(count)
    return low + ((words >> np.uint64(32)).astype(np.int64) * (high - low) >> 32)


def sine(turns: Whole) -> Whole:
    return _SINE[turns & (_TURN - 1)]


def across(width: int, height: int) -> tuple[Whole, Whole]:
    """The pixels' places as a row of x and a column of y, in 4096ths of the short side."""
    x, y = ((np.arange(side, dtype=np.int64) << 12) // min(width, height) for side in (width, height))
    return x[None], y[:, None]


def noise(x: Whole, y: Whole, columns: int, rows: int, seed: Sequence[int]) -> Whole:
    """Smooth value noise with so many cells to the short side, over x and y."""
    left, a = _cells(x, columns)
    top, b = _cells(y, rows)
    wide, high = int(left.max()) + 2, int(top.max()) + 2
    lattice = draw([*seed, columns, rows], wide * high, 0, ONE).reshape(high, wide)
    left, a = left.ravel(), a.ravel()
    lines = (lattice[:, left] * (1024 - a) + lattice[:, left + 1] * a) >> 10
    top, b = top.ravel(), b.ravel()[:, None]
    return (lines[top] * (1024 - b) + lines[top + 1] * b) >> 10


def _cells(place: Whole, count: int) -> tuple[Whole, Whole]:
    whole = place * count
    inside = (whole & 4095) >> 2
    return whole >> 12, inside * inside * (3072 - 2 * inside) >> 20


def fractal(x: Whole, y: Whole, columns: int, rows: int, octaves: int, seed: Sequence[int]) -> Whole:
    """Noise over noise of half the size and half the weight."""
    total = np.zeros((y.shape[0], x.shape[1]), np.int64)
    weight = 0
    for octave in range(octaves):
        share = 1 << (octaves - 1 - octave)
        total += share * noise(x, y, columns << octave, rows << octave, [*seed, octave])
        weight += share
    return total // weight


def flat(width: int, height: int, colour: _Colour) -> Whole:
    return np.tile(np.array(colour, np.int64), (height, width, 1))


def ramp(values: Whole, stops: Sequence[tuple[int, _Colour]]) -> Whole:
    """Colours along stops; a stop's place is in 0..ONE like the values."""
    table = np.zeros((257, 3), np.int64)
    for i in range(257):
        place = i << 8
        after = next((k for k, (at, _) in enumerate(stops) if at > place), len(stops) - 1)
        before = max(0, after - 1)
        (start, first), (end, second) = stops[before], stops[after]
        part = min(max(place - start, 0), max(end - start, 1))
        table[i] = [a * 256 + (b - a) * 256 * part // max(end - start, 1) for a, b in zip(first, second, strict=True)]
    inside = np.clip(values, 0, ONE - 1)
    low, rest = inside >> 8, (inside & 255)[..., None]
    return (table[low] * (256 - rest) + table[low + 1] * rest) >> 16


def mix(below: Whole, above: Whole | _Colour, share: Whole | int) -> Whole:
    """`above` laid over `below` by a share from 0 to ONE."""
    weight = np.asarray(share, np.int64)
    weight = np.clip(weight, 0, ONE)[..., None] if weight.ndim else weight
    return (below * (ONE - weight) + np.asarray(above, np.int64) * weight) >> 16


def root(values: Whole) -> Whole:
    """The whole square root; the float one is at most one off and is put right."""
    guess = np.sqrt(values.astype(np.float64)).astype(np.int64)
    guess -= guess * guess > values
    return guess + ((guess + 1) * (guess + 1) <= values)


def bearing(x: Whole, y: Whole) -> Whole:
    """A direction in 4096ths of a turn, evenly around a diamond rather than a circle."""
    span = abs(x) + abs(y)
    quarter = 1024 * abs(y) // np.maximum(span, 1)
    half = np.where(x >= 0, quarter, 2048 - quarter)
    return np.where(y >= 0, half, 4096 - half) & (_TURN - 1)
