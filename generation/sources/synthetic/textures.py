"""Textures that are hard to copy: regular grids, low contrast, fine particles, smooth gradients, fine barbs."""

import numpy

from .exact import ONE, Whole, across, bearing, draw, flat, fractal, mix, noise, ramp, root, sine


def grid(width: int, height: int, seed: int) -> Whole:
    """A glass tower seen from the street: a regular grid that narrows and pales towards the sky."""
    x, y = across(width, height)
    tall = int(y.max()) + 1
    sky = ramp(numpy.broadcast_to(y * ONE // tall, (height, width)), [(0, (120, 160, 205)), (ONE, (205, 220, 232))])
    middle = int(x.max()) // 2 + int(draw([seed, 1], 1, -300, 300)[0])
    reach = 900 + 900 * y // tall
    inside = (x - middle) * 2048 // reach  # -2048..2048 across the tower
    depth = (y * 3 * 4096) // (tall + 2 * y)  # floors shrink with height
    columns, floors = 16 + int(draw([seed, 2], 1, 0, 8)[0]), 34 + int(draw([seed, 3], 1, 0, 12)[0])
    along, up = (inside + 2048) * columns, depth * floors
    pane = ((along & 4095) > 560) & ((up & 4095) > 900)
    number = (along >> 12) * 131 + (up >> 12)
    shine = draw([seed, 4], 1 << 14, 0, ONE)[number & 16383]
    glass = ramp((shine >> 1) + (up & 4095) * 6 + (along & 4095) * 2, [(0, (28, 44, 66)), (ONE, (168, 198, 220))])
    lit = (draw([seed, 5], 1 << 14, 0, 100)[number & 16383] < 7) & pane
    wall = mix(flat(width, height, (96, 92, 90)), (160, 150, 138), (inside + 2048) * 16)
    tower = numpy.where(pane[..., None], glass, wall)
    tower = numpy.where(lit[..., None], (236, 206, 138), tower)
    tower = mix(tower, (196, 212, 228), numpy.broadcast_to((tall - y) * 52000 // tall, (height, width)))
    return numpy.where((abs(inside) < 2048)[..., None], tower, sky)


def haze(width: int, height: int, seed: int) -> Whole:
    """A misty forest: rows of firs, each paler than the one before it."""
    x, y = across(width, height)
    tall = int(y.max()) + 1
    cloud = fractal(x, y, 2, 5, 4, [seed, 1]) >> 2
    picture = ramp((y * ONE // tall * 3 >> 2) + cloud, [(0, (214, 220, 224)), (ONE, (182, 194, 198))])
    rows = 7
    for row in range(rows):
        count = 34 - 4 * row
        base = tall * (30 + 9 * row) // 100 + (noise(x, y[:1], 3, 3, [seed, 2, row]) - ONE // 2) * tall // (ONE * 6)
        edge = numpy.full((1, width), 1 << 30, numpy.int64)
        places = draw([seed, 3, row], count, 0, int(x.max()) + 1)
        heights = draw([seed, 4, row], count, 280 + 90 * row, 560 + 170 * row)
        rough = noise(x, y[:1], 260, 1, [seed, 5, row]) >> 10
        for place, rise in zip(places, heights, strict=True):
            slope = abs(x - place) * 5
            teeth = slope % (rise // 7 + 1) * 2 // 3  # the steps of the branches
            edge = numpy.minimum(edge, base - rise + slope - teeth + rough)
        edge = numpy.minimum(edge, base + 120)
        below = numpy.clip((y - edge) * 9000, 0, ONE)
        strength = ONE * (row + 2) // (rows + 3)
        trees = mix(flat(1, 1, (190, 202, 206)), (34, 52, 50), strength)
        mist = numpy.clip((y - base) * ONE // (tall // 4), 0, ONE) * (rows - row) // (rows + 1)
        layer = mix(numpy.broadcast_to(trees, picture.shape), (202, 212, 215), mist)
        picture = mix(picture, layer, below)
    grain = noise(x, y, 400, 400, [seed, 6]) >> 13
    return picture + grain[..., None] - 4


def particles(width: int, height: int, seed: int) -> Whole:
    """Coloured powder thrown into the air: high contrast clouds that fall apart into single grains."""
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
        fine = noise(x, y, 420, 420, [seed, 3, puff])
        body = numpy.clip(dust * 3 // 2 - (fine >> 2), 0, ONE)
        shade = flat(1, 1, hue) * (ONE // 4 + swirl + (fine >> 3))[..., None] >> 16
        picture = mix(picture, shade, body * 15 >> 4)
        grains = 2600
        angle = draw([seed, 4, puff], grains, 0, 4096)
        far = draw([seed, 5, puff], grains, 0, size * 2) * draw([seed, 6, puff], grains, 200, 1000) // 1000
        columns = (across_ + (far * sine(angle + 1024) >> 14)) * min(width, height) >> 12
        lines = (down + (far * sine(angle) >> 14)) * min(width, height) >> 12
        seen = (columns >= 1) & (columns < width - 1) & (lines >= 1) & (lines < height - 1)
        bright = numpy.minimum(255, numpy.asarray(hue) * 9 // 8 + 30)
        for step in range(1 + min(width, height) // 500):
            picture[lines[seen], columns[seen] - step] = bright
    return picture


def gradient(width: int, height: int, seed: int) -> Whole:
    """A dune at twilight: long smooth gradients where any step shows."""
    x, y = across(width, height)
    tall = int(y.max()) + 1
    sky = numpy.broadcast_to(y * ONE // tall * 5 // 4, (height, width))
    picture = ramp(
        sky,
        [(0, (44, 52, 98)), (ONE * 5 // 10, (196, 130, 132)), (ONE * 8 // 10, (250, 196, 140)), (ONE, (252, 214, 160))],
    )
    for layer in range(3):
        bend = draw([seed, layer], 3, 0, 4096)
        crest = tall * (46 + 14 * layer) // 100 + (sine(x * (3 + layer) // 8 + bend[0]) * tall // 14 >> 14)
        crest = crest + (sine(x * 7 // 8 + bend[1]) * tall // 60 >> 14)
        lean = x - (y - crest) * 2 + (sine((y + bend[2]) >> 1) >> 7)
        light = (sine(lean * (2 + layer) // 9 + bend[2]) + (1 << 14)) << 1
        ripples = sine(y * 46 + x * 5 + (sine(x * 3 // 2 + bend[0]) >> 4)) >> 3
        far = numpy.clip((y - crest) * ONE // (tall * 6 // 10), 0, ONE)
        sand = ramp(
            light + ripples * far // ONE, [(0, (66, 46, 66)), (ONE // 2, (168, 110, 88)), (ONE, (238, 186, 128))]
        )
        picture = mix(picture, sand, numpy.clip((y - crest) * 9000, 0, ONE))
    return picture


def feather(width: int, height: int, seed: int) -> Whole:
    """The eye of a peacock's feather: iridescent rings under fine barbs."""
    x, y = across(width, height)
    middle = int(x.max()) // 2 + int(draw([seed, 1], 1, -200, 200)[0])
    down = int(y.max()) * 42 // 100
    dx, dy = x - middle, y - down
    away = root(dx * dx * 3 // 2 + numpy.where(dy > 0, dy * dy * 3 // 4, dy * dy * 5 // 4))
    lean = bearing(dx * 2, -dy - 2600 - abs(dx) // 3)
    wave = noise(x, y, 9, 9, [seed, 2]) >> 9
    barbs = sine(lean * 150 + wave * 24 + away)
    fine = sine(away * 70 + lean * 30)
    rings = away * 24 + (barbs >> 3) + ((noise(x, y, 6, 6, [seed, 3]) - ONE // 2) >> 3)
    colours = [
        (0, (12, 14, 56)), (7000, (18, 26, 110)), (12500, (16, 92, 168)), (17500, (28, 170, 170)),
        (22500, (120, 84, 38)), (30000, (186, 140, 60)), (36000, (96, 142, 52)), (44000, (34, 104, 62)),
        (54000, (120, 112, 54)), (ONE, (30, 44, 34)),
    ]  # fmt: skip
    light = 200 + (barbs * 46 >> 14) + (fine * 14 >> 14)
    picture = ramp(rings, colours) * light[..., None] // 220
    stem = (abs(dx + (sine(y >> 1) >> 8)) < 26) & (dy > 600)
    gaps = numpy.clip((away - 2300) * 40 + barbs * 2, 0, ONE)
    picture = mix(picture, (16, 22, 20), gaps)
    return numpy.where(stem[..., None], numpy.asarray((222, 208, 168)) - abs(dx)[..., None], picture)


PAINTERS = (grid, haze, particles, gradient, feather)
