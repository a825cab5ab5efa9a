"""Fruit: a few shapes, and which fruit has which shape and colours."""

import math

from .drawing import Canvas, Colour, Thing, arc, darker, lighter

STEM = (96, 66, 40)


def round_fruit(canvas: Canvas, colour: Colour) -> None:
    canvas.blob([(0.5, 0.24), (0.72, 0.17), (0.93, 0.34), (0.92, 0.62), (0.72, 0.92), (0.5, 0.89), (0.28, 0.92),
                 (0.08, 0.62), (0.07, 0.34), (0.28, 0.17)], colour, "ball")  # fmt: skip
    canvas.oval(0.5, 0.25, 0.1, 0.035, darker(colour, 0.5), "flat")
    canvas.line([(0.5, 0.26), (0.53, 0.06)], 0.04, STEM)
    canvas.blob([(0.54, 0.14), (0.68, 0.02), (0.84, 0.05), (0.7, 0.16)], (70, 140, 60))


def citrus(canvas: Canvas, colour: Colour) -> None:
    canvas.oval(0.5, 0.54, 0.44, 0.42, colour)
    canvas.oval(0.5, 0.15, 0.05, 0.03, (90, 120, 50), "flat")
    for k in range(26):
        turn, far = 2.4 * k, 0.07 * math.sqrt(k)
        canvas.oval(
            0.5 + far * math.cos(turn), 0.56 + far * math.sin(turn), 0.01, 0.01, darker(colour, 0.75), "flat", 0.6
        )


def pear(canvas: Canvas, colour: Colour) -> None:
    canvas.line([(0.5, 0.14), (0.54, 0.02)], 0.035, STEM)
    canvas.blob([(0.5, 0.1), (0.62, 0.2), (0.68, 0.42), (0.86, 0.66), (0.74, 0.93), (0.5, 0.97), (0.26, 0.93),
                 (0.14, 0.66), (0.32, 0.42), (0.38, 0.2)], colour, "ball")  # fmt: skip


def long_fruit(canvas: Canvas, colour: Colour) -> None:
    canvas.blob([(0.06, 0.26), (0.14, 0.22), (0.3, 0.5), (0.56, 0.62), (0.86, 0.5), (0.95, 0.54), (0.84, 0.74),
                 (0.52, 0.84), (0.2, 0.7), (0.08, 0.42)], colour, "slope")  # fmt: skip
    canvas.curve([(0.12, 0.32), (0.3, 0.62), (0.56, 0.73), (0.9, 0.58)], 0.012, darker(colour, 0.75))
    canvas.line([(0.1, 0.26), (0.05, 0.14)], 0.06, darker(colour, 0.6))


def berries(canvas: Canvas, colour: Colour) -> None:
    canvas.curve([(0.5, 0.4), (0.52, 0.2), (0.6, 0.06)], 0.03, (90, 120, 60))
    for x, y in (
        (0.34, 0.4),
        (0.64, 0.38),
        (0.22, 0.58),
        (0.5, 0.54),
        (0.76, 0.58),
        (0.36, 0.74),
        (0.64, 0.74),
        (0.5, 0.9),
    ):
        canvas.oval(x, y - 0.05, 0.145, 0.145, colour)
    canvas.blob([(0.5, 0.3), (0.66, 0.16), (0.84, 0.2), (0.7, 0.34)], (70, 140, 60))


def strawberry(canvas: Canvas, colour: Colour) -> None:
    canvas.blob(
        [(0.5, 0.2), (0.8, 0.2), (0.92, 0.4), (0.76, 0.74), (0.5, 0.97), (0.24, 0.74), (0.08, 0.4), (0.2, 0.2)],
        colour,
        "ball",
    )
    for x, y in (
        (0.3, 0.4),
        (0.5, 0.36),
        (0.7, 0.4),
        (0.4, 0.54),
        (0.6, 0.54),
        (0.32, 0.66),
        (0.5, 0.7),
        (0.68, 0.66),
        (0.5, 0.86),
    ):
        canvas.oval(x, y, 0.018, 0.026, (248, 220, 130), "flat")
    for k in range(5):
        x = 0.22 + 0.14 * k
        canvas.shape([(x - 0.09, 0.16), (x + 0.09, 0.16), (x + (x - 0.5) * 0.4, 0.32)], (70, 140, 60))


def melon(canvas: Canvas, colour: Colour) -> None:
    canvas.oval(0.5, 0.54, 0.47, 0.4, colour)
    for k in range(-3, 4):
        canvas.curve(
            [(0.5 + 0.02 * k, 0.16), (0.5 + 0.13 * k, 0.54), (0.5 + 0.02 * k, 0.92)], 0.03, darker(colour, 0.6)
        )


def spiky(canvas: Canvas, colour: Colour) -> None:
    for k in range(-2, 3):
        canvas.blob([(0.46, 0.34), (0.5 + 0.12 * k, 0.02 + 0.04 * abs(k)), (0.54, 0.34)], (60, 130, 64))
    canvas.oval(0.5, 0.62, 0.32, 0.36, colour)
    for k in range(-5, 6):
        for lean in (-1, 1):
            ends = [(0.5 + 0.1 * k - lean * 0.2, 0.28), (0.5 + 0.1 * k + lean * 0.2, 0.96)]
            inside = [p for p in _along(ends) if ((p[0] - 0.5) / 0.32) ** 2 + ((p[1] - 0.62) / 0.36) ** 2 < 0.96]
            if len(inside) > 1:
                canvas.line([inside[0], inside[-1]], 0.012, darker(colour, 0.62), "flat")


def _along(ends: list[tuple[float, float]]) -> list[tuple[float, float]]:
    (x, y), (right, low) = ends
    return [(x + (right - x) * t / 24, y + (low - y) * t / 24) for t in range(25)]


def kiwi(canvas: Canvas, colour: Colour) -> None:
    """A fruit cut open: a rind, bright flesh and a pale middle with seeds."""
    canvas.oval(0.5, 0.5, 0.46, 0.42, darker(colour, 0.5))
    canvas.oval(0.5, 0.5, 0.41, 0.37, lighter(colour, 0.2), "slope")
    canvas.oval(0.5, 0.5, 0.14, 0.12, lighter(colour, 0.75), "slope")
    for x, y in arc(0.5, 0.5, 0.2, 0.18)[::5]:
        canvas.oval(x, y, 0.014, 0.014, (30, 26, 24), "flat")


FRUITS = (
    (round_fruit, 0.11, "red green", "apple"),
    (round_fruit, 0.1, "orange red", "peach, nectarine, persimmon, tomato, pomegranate, apricot"),
    (round_fruit, 0.09, "purple red", "plum, mangosteen, sloe, damson, fig, acerola, jabuticaba, black sapote"),
    (round_fruit, 0.1, "brown wood", "medlar, sapodilla, date, langsat, longan, santol, salak, jujube, mamey sapote"),
    (round_fruit, 0.1, "brown wood", "coconut, tamarind"),
    (round_fruit, 0.09, "green yellow", "olive, greengage, guava, feijoa, breadfruit, cherimoya, soursop, noni"),
    (round_fruit, 0.09, "yellow green", "sugar apple, mirabelle plum, cape gooseberry"),
    (citrus, 0.1, "orange yellow", "mandarin, tangerine, clementine, kumquat, calamondin, grapefruit, loquat"),
    (citrus, 0.1, "orange yellow", "orange"),
    (citrus, 0.1, "yellow green", "lemon, lime, pomelo, yuzu, bergamot, citron"),
    (pear, 0.11, "yellow green", "pear, quince, mango, papaya, avocado, pepino, ackee, horned melon"),
    (pear, 0.1, "red purple", "tamarillo, prickly pear, dragon fruit"),
    (long_fruit, 0.18, "yellow green", "banana, plantain, starfruit"),
    (long_fruit, 0.18, "green teal", "cucumber"),
    (berries, 0.1, "red pink", "cherry, raspberry, cranberry, redcurrant, lingonberry, cloudberry, lychee, rambutan"),
    (berries, 0.1, "red pink", "barberry, rose hip, goji berry, camu camu, miracle fruit"),
    (berries, 0.1, "purple blue", "grape, blueberry, blackberry, blackcurrant, mulberry, elderberry, acai berry"),
    (berries, 0.1, "purple blue", "boysenberry, loganberry"),
    (berries, 0.1, "green yellow", "gooseberry"),
    (berries, 0.1, "orange yellow", "sea buckthorn"),
    (strawberry, 0.1, "red pink", "strawberry"),
    (melon, 0.18, "green teal", "watermelon, honeydew melon, galia melon"),
    (melon, 0.16, "orange yellow", "cantaloupe"),
    (spiky, 0.16, "yellow orange", "pineapple, durian, jackfruit"),
    (kiwi, 0.1, "green yellow", "kiwi, passion fruit"),
)
THINGS = tuple(
    Thing(name, draw, (0, 0, 1, 1), tuple(colours.split()), "table", size)
    for draw, size, colours, names in FRUITS
    for name in names.split(", ")
)
