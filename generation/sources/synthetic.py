"""Synthetic pictures: the same pixels on any machine, at any size, for any seed.

Textures are hard to copy in five ways: regular grids, low contrast, fine particles,
smooth gradients, fine barbs. On a printed page, letters have to stay letters.

Floating point may round differently on a processor with other vector
instructions, and numpy promises an unchanging stream for the raw generator
alone. So everything here is integer arithmetic on the raw words of PCG64.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..files import toml_beside

Whole = NDArray[np.int64]
_Colour = tuple[int, int, int]

ONE = 1 << 16  # noise and ramps run from 0 to ONE - 1
_TURN = 1 << 12  # a full turn of _sine()
_SINE = np.array([round(math.sin(2 * math.pi * i / _TURN) * (1 << 14)) for i in range(_TURN)], np.int64)


def draw(seed: Sequence[int], count: int, low: int, high: int) -> Whole:
    words = np.random.PCG64(np.random.SeedSequence(list(seed))).random_raw(count)
    return low + ((words >> np.uint64(32)).astype(np.int64) * (high - low) >> 32)


def _sine(turns: Whole) -> Whole:
    return _SINE[turns & (_TURN - 1)]


def across(width: int, height: int) -> tuple[Whole, Whole]:
    """The pixels' places as a row of x and a column of y, in 4096ths of the short side."""
    x, y = ((np.arange(side, dtype=np.int64) << 12) // min(width, height) for side in (width, height))
    return x[None], y[:, None]


def _noise(x: Whole, y: Whole, columns: int, rows: int, seed: Sequence[int]) -> Whole:
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
        total += share * _noise(x, y, columns << octave, rows << octave, [*seed, octave])
        weight += share
    return total // weight


def flat(width: int, height: int, colour: _Colour) -> Whole:
    return np.tile(np.array(colour, np.int64), (height, width, 1))


def _ramp(values: Whole, stops: Sequence[tuple[int, _Colour]]) -> Whole:
    """Colours along stops; a stop's place is in 0..ONE like the values."""
    table = np.zeros((257, 3), np.int64)
    for i in range(257):
        place = i << 8
        after = next((k for k, (at, _) in enumerate(stops) if at > place), len(stops) - 1)
        before = max(0, after - 1)
        (start, first), (end, second) = stops[before], stops[after]
        part = min(max(place - start, 0), max(end - start, 1))
        table[i] = [
            a * 256 + (b - a) * 256 * part // max(end - start, 1) for a, b in zip(first, second, strict=True)
        ]
    inside = np.arange(ONE)
    low, rest = inside >> 8, (inside & 255)[:, None]
    colours = (table[low] * (256 - rest) + table[low + 1] * rest) >> 16
    return colours[np.clip(values, 0, ONE - 1)]


def mix(below: Whole, above: Whole | _Colour, share: Whole | int) -> Whole:
    """`above` laid over `below` by a share from 0 to ONE."""
    weight = np.asarray(share, np.int64)
    weight = np.clip(weight, 0, ONE)[..., None] if weight.ndim else weight
    return below + ((np.asarray(above, np.int64) - below) * weight >> 16)


def root(values: Whole) -> Whole:
    """The whole square root; the float one is at most one off and is put right."""
    guess = np.sqrt(values.astype(np.float64)).astype(np.int64)
    guess -= guess * guess > values
    return guess + ((guess + 1) * (guess + 1) <= values)


def _bearing(x: Whole, y: Whole) -> Whole:
    """A direction in 4096ths of a turn, evenly around a diamond rather than a circle."""
    span = abs(x) + abs(y)
    quarter = 1024 * abs(y) // np.maximum(span, 1)
    half = np.where(x >= 0, quarter, 2048 - quarter)
    return np.where(y >= 0, half, 4096 - half) & (_TURN - 1)


# --- the pictures


def make(name: str, size: tuple[int, int], seed: int = 0) -> Image.Image:
    pixels = EVERY[name](*size, seed)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _grid(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    tall = int(y.max()) + 1
    sky = _ramp(np.broadcast_to(y * ONE // tall, (height, width)), [(0, (120, 160, 205)), (ONE, (205, 220, 232))])
    middle = int(x.max()) // 2 + int(draw([seed, 1], 1, -300, 300)[0])
    reach = 900 + 900 * y // tall
    inside = (x - middle) * 2048 // reach  # -2048..2048 across the tower
    depth = (y * 3 * 4096) // (tall + 2 * y)  # floors shrink with height
    columns, floors = 16 + int(draw([seed, 2], 1, 0, 8)[0]), 34 + int(draw([seed, 3], 1, 0, 12)[0])
    along, up = (inside + 2048) * columns, depth * floors
    pane = ((along & 4095) > 560) & ((up & 4095) > 900)
    number = (along >> 12) * 131 + (up >> 12)
    shine = draw([seed, 4], 1 << 14, 0, ONE)[number & 16383]
    glass = _ramp(
        (shine >> 1) + (up & 4095) * 6 + (along & 4095) * 2, [(0, (28, 44, 66)), (ONE, (168, 198, 220))]
    )
    lit = (draw([seed, 5], 1 << 14, 0, 100)[number & 16383] < 7) & pane
    wall = mix(flat(width, height, (96, 92, 90)), (160, 150, 138), (inside + 2048) * 16)
    tower = np.where(pane[..., None], glass, wall)
    tower = np.where(lit[..., None], (236, 206, 138), tower)
    tower = mix(tower, (196, 212, 228), np.broadcast_to((tall - y) * 52000 // tall, (height, width)))
    return np.where((abs(inside) < 2048)[..., None], tower, sky)


def _haze(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    tall = int(y.max()) + 1
    cloud = fractal(x, y, 2, 5, 4, [seed, 1]) >> 2
    picture = _ramp((y * ONE // tall * 3 >> 2) + cloud, [(0, (214, 220, 224)), (ONE, (182, 194, 198))])
    rows = 7
    for row in range(rows):
        count = 34 - 4 * row
        drift = _noise(x, y[:1], 3, 3, [seed, 2, row]) - ONE // 2
        base = tall * (30 + 9 * row) // 100 + drift * tall // (ONE * 6)
        edge = np.full((1, width), 1 << 30, np.int64)
        places = draw([seed, 3, row], count, 0, int(x.max()) + 1)
        heights = draw([seed, 4, row], count, 280 + 90 * row, 560 + 170 * row)
        rough = _noise(x, y[:1], 260, 1, [seed, 5, row]) >> 10
        for place, rise in zip(places, heights, strict=True):
            slope = abs(x - place) * 5
            teeth = slope % (rise // 7 + 1) * 2 // 3  # the steps of the branches
            edge = np.minimum(edge, base - rise + slope - teeth + rough)
        edge = np.minimum(edge, base + 120)
        below = np.clip((y - edge) * 9000, 0, ONE)
        strength = ONE * (row + 2) // (rows + 3)
        trees = mix(flat(1, 1, (190, 202, 206)), (34, 52, 50), strength)
        mist = np.clip((y - base) * ONE // (tall // 4), 0, ONE) * (rows - row) // (rows + 1)
        layer = mix(np.broadcast_to(trees, picture.shape), (202, 212, 215), mist)
        picture = mix(picture, layer, below)
    grain = _noise(x, y, 400, 400, [seed, 6]) >> 13
    return picture + grain[..., None] - 4


def _particles(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    picture = flat(width, height, (14, 12, 20))
    hues = [(236, 40, 110), (250, 190, 30), (40, 180, 200), (140, 60, 210), (90, 210, 70), (250, 110, 40)]
    wide, tall = int(x.max()), int(y.max())
    for puff, hue in enumerate(hues):
        place = draw([seed, 1, puff], 4, 0, 1000)
        across_, down = wide * (220 + place[0] * 56 // 100) // 1000, tall * (250 + place[1] // 2) // 1000
        size = 900 + int(place[2]) * 6 // 10
        away = root((x - across_) ** 2 + (y - down) ** 2)
        swirl = fractal(x, y, 5, 5, 6, [seed, 2, puff])
        dust = (ONE - away * ONE // size) + (swirl - ONE // 2) * 3 // 2
        fine = _noise(x, y, 420, 420, [seed, 3, puff])
        body = np.clip(dust * 3 // 2 - (fine >> 2), 0, ONE)
        shade = flat(1, 1, hue) * (ONE // 4 + swirl + (fine >> 3))[..., None] >> 16
        picture = mix(picture, shade, body * 15 >> 4)
        grains = 2600
        angle = draw([seed, 4, puff], grains, 0, 4096)
        far = draw([seed, 5, puff], grains, 0, size * 2) * draw([seed, 6, puff], grains, 200, 1000) // 1000
        columns = (across_ + (far * _sine(angle + 1024) >> 14)) * min(width, height) >> 12
        lines = (down + (far * _sine(angle) >> 14)) * min(width, height) >> 12
        seen = (columns >= 1) & (columns < width - 1) & (lines >= 1) & (lines < height - 1)
        bright = np.minimum(255, np.asarray(hue) * 9 // 8 + 30)
        for step in range(1 + min(width, height) // 500):
            picture[lines[seen], columns[seen] - step] = bright
    return picture


def _gradient(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    tall = int(y.max()) + 1
    sky = np.broadcast_to(y * ONE // tall * 5 // 4, (height, width))
    dusk = [(0, (44, 52, 98)), (ONE * 5 // 10, (196, 130, 132))]
    picture = _ramp(sky, [*dusk, (ONE * 8 // 10, (250, 196, 140)), (ONE, (252, 214, 160))])
    for layer in range(3):
        bend = draw([seed, layer], 3, 0, 4096)
        crest = tall * (46 + 14 * layer) // 100 + (_sine(x * (3 + layer) // 8 + bend[0]) * tall // 14 >> 14)
        crest = crest + (_sine(x * 7 // 8 + bend[1]) * tall // 60 >> 14)
        lean = x - (y - crest) * 2 + (_sine((y + bend[2]) >> 1) >> 7)
        light = (_sine(lean * (2 + layer) // 9 + bend[2]) + (1 << 14)) << 1
        ripples = _sine(y * 46 + x * 5 + (_sine(x * 3 // 2 + bend[0]) >> 4)) >> 3
        far = np.clip((y - crest) * ONE // (tall * 6 // 10), 0, ONE)
        hues = [(0, (66, 46, 66)), (ONE // 2, (168, 110, 88)), (ONE, (238, 186, 128))]
        sand = _ramp(light + ripples * far // ONE, hues)
        picture = mix(picture, sand, np.clip((y - crest) * 9000, 0, ONE))
    return picture


def _feather(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    middle = int(x.max()) // 2 + int(draw([seed, 1], 1, -200, 200)[0])
    down = int(y.max()) * 42 // 100
    dx, dy = x - middle, y - down
    away = root(dx * dx * 3 // 2 + np.where(dy > 0, dy * dy * 3 // 4, dy * dy * 5 // 4))
    lean = _bearing(dx * 2, -dy - 2600 - abs(dx) // 3)
    wave = _noise(x, y, 9, 9, [seed, 2]) >> 9
    barbs = _sine(lean * 150 + wave * 24 + away)
    fine = _sine(away * 70 + lean * 30)
    rings = away * 24 + (barbs >> 3) + ((_noise(x, y, 6, 6, [seed, 3]) - ONE // 2) >> 3)
    colours = [
        (0, (12, 14, 56)), (7000, (18, 26, 110)), (12500, (16, 92, 168)), (17500, (28, 170, 170)),
        (22500, (120, 84, 38)), (30000, (186, 140, 60)), (36000, (96, 142, 52)), (44000, (34, 104, 62)),
        (54000, (120, 112, 54)), (ONE, (30, 44, 34)),
    ]  # fmt: skip
    light = 200 + (barbs * 46 >> 14) + (fine * 14 >> 14)
    picture = _ramp(rings, colours) * light[..., None] // 220
    stem = (abs(dx + (_sine(y >> 1) >> 8)) < 26) & (dy > 600)
    gaps = np.clip((away - 2300) * 40 + barbs * 2, 0, ONE)
    picture = mix(picture, (16, 22, 20), gaps)
    return np.where(stem[..., None], np.asarray((222, 208, 168)) - abs(dx)[..., None], picture)


_PAGE = toml_beside(__file__, "page.toml")


def _text(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    grain = _noise(x, y, 3, 3, [seed, 1]) * 14 // ONE + _noise(x, y, 220, 220, [seed, 2]) * 9 // ONE
    paper = flat(width, height, (244, 239, 226)) - grain[..., None]
    unit = min(width, height)
    margin, top = unit // 12, unit // 12
    lines = _PAGE["lines"]
    first = int(draw([seed, 3], 1, 0, len(lines))[0])
    sizes = [unit // 90, unit // 150, unit // 220, unit // 300]
    inks = [(150, 36, 30), (34, 38, 60), (40, 36, 34), (40, 36, 34)]
    row = 0
    while top < height - unit // 12:
        step = 0 if row == 0 else 1 if row < 4 else 2 if row < 12 else 3
        dot = max(1, sizes[step])
        words = " ".join(lines[(first + 3 * row + offset) % len(lines)] for offset in range(6))
        words = words[: max(1, (width - 2 * margin) // (6 * dot))]
        cut = words.rfind(" ")
        ink = _line_of(words[:cut] if cut > 0 else words, dot)[: height - top, : width - margin]
        place = paper[top : top + ink.shape[0], margin : margin + ink.shape[1]]
        place[:] = mix(place, inks[step], ink * ONE)
        top += dot * (12 if row in (0, 3, 11) else 10)
        row += 1
    return paper


def _line_of(words: str, dot: int) -> Whole:
    columns = [byte for letter in words for byte in [*bytes.fromhex(_PAGE["letters"][letter]), 0]]
    dots = np.array([[column >> bit & 1 for column in columns] for bit in range(7)], np.int64)
    return dots.repeat(dot, 0).repeat(dot, 1)


def _boards(width: int, height: int, seed: int) -> Whole:
    x, y = across(width, height)
    wide, tall = int(x.max()) + 1, int(y.max()) + 1
    cloud = fractal(x, y, 2, 2, 4, [seed, 1]) >> 3
    wall = _ramp((y * ONE // tall) + cloud, [(0, (206, 202, 194)), (ONE, (150, 142, 132))])
    edge = tall * 27 // 100
    down = np.maximum(y - edge, 0)
    side = (x - wide // 2) * 4096 // (2600 + down)
    along = down * 12_000 // (2600 + down)
    board, inside = (side * 5) >> 12, (side * 5) & 4095
    tone = draw([seed, 2], 64, -20, 21)[board & 63]
    start = draw([seed, 3], 64, 0, 4096)[board & 63]
    bend = _sine(along // 2 + start) >> 4
    rings = _sine(inside * 2 + bend * 3 + start * 7 + (_sine(along + start * 3) >> 5))
    fine = _sine(inside * 23 + bend * 5 + start * 11)
    streaks = _noise(x, y, 240, 9, [seed, 4]) - ONE // 2
    light = tone + (rings * 15 >> 14) + (fine * 6 >> 14) + (streaks * 26 >> 16) + down * 26 // tall
    wood = np.asarray((142, 98, 62)) + light[..., None] * np.asarray((100, 84, 62)) // 100
    seam = np.clip((90 - np.minimum(inside, 4096 - inside)) * 700, 0, ONE)
    table = mix(wood, (52, 34, 22), seam)
    table = mix(table, (70, 50, 36), np.broadcast_to(np.clip((170 - down) * 200, 0, ONE // 2), seam.shape))
    return np.where((y >= edge)[..., None], table, wall)


# By name; the answers of the editor `random` depend on their order.
PICTURES: dict[str, Callable[[int, int, int], Whole]] = {
    "grid": _grid,
    "haze": _haze,
    "particles": _particles,
    "gradient": _gradient,
    "feather": _feather,
    "text": _text,
}
EVERY = PICTURES | {"boards": _boards}  # with later additions, which `random` does not use
