"""Things that lie, stand, hang or float in a scene, one unit wide."""

import math

from .drawing import Canvas, Colour, Thing, arc, darker, lighter, mirror

LEAF = (52, 128, 62)


def ball(canvas: Canvas, colour: Colour) -> None:
    canvas.oval(0.5, 0.5, 0.48, 0.48, colour)


def balloon(canvas: Canvas, colour: Colour) -> None:
    canvas.curve([(0.5, 1.2), (0.45, 1.45), (0.55, 1.7), (0.48, 1.95)], 0.018, (236, 236, 236))
    canvas.shape([(0.44, 1.24), (0.56, 1.24), (0.5, 1.14)], darker(colour, 0.7))
    canvas.blob(
        [(0.5, 0.03), (0.86, 0.2), (0.96, 0.52), (0.78, 0.92), (0.5, 1.17), (0.22, 0.92), (0.04, 0.52), (0.14, 0.2)],
        colour,
        "ball",
    )


def plant(canvas: Canvas, colour: Colour) -> None:
    """A potted plant with broad leaves."""
    leaves = [
        (0.5, 0.1),
        (0.26, 0.2),
        (0.74, 0.2),
        (0.1, 0.42),
        (0.9, 0.42),
        (0.2, 0.64),
        (0.8, 0.64),
        (0.38, 0.36),
        (0.62, 0.36),
    ]
    for i, (x, y) in enumerate(leaves):
        canvas.curve([(0.5, 0.98), (0.5 + (x - 0.5) * 0.35, 0.72), (x, y + 0.1)], 0.022, (62, 96, 44))
        lean = (x - 0.5) * 0.5
        tip = (x + lean * 0.5, y - 0.1)
        side = [(x + 0.07 - lean * 0.3, y + 0.16), (x - lean * 0.7, y + 0.25), (x - 0.09 - lean * 0.3, y + 0.14)]
        canvas.blob([tip, (x + 0.1, y), *side, (x - 0.1, y)], darker(LEAF, 0.82 + 0.12 * (i % 3)), "slope")
        canvas.line([(x - lean * 0.6, y + 0.2), tip], 0.012, (150, 190, 120), "flat", 0.6)
    canvas.shape([(0.27, 0.98), (0.73, 0.98), (0.66, 1.42), (0.34, 1.42)], colour, "tube")
    canvas.shape([(0.24, 0.9), (0.76, 0.9), (0.76, 1.0), (0.24, 1.0)], colour, "tube")


def vase(canvas: Canvas, colour: Colour) -> None:
    """A vase with three flowers."""
    for x, y, petals in ((0.24, 0.26, (238, 120, 166)), (0.52, 0.14, (244, 206, 70)), (0.8, 0.3, (240, 240, 236))):
        canvas.curve([(0.5, 0.86), (0.5 + (x - 0.5) * 0.4, 0.6), (x, y)], 0.024, (62, 120, 60))
        for k in range(7):
            turn = 2 * math.pi * k / 7
            canvas.oval(x + 0.1 * math.cos(turn), y + 0.1 * math.sin(turn), 0.075, 0.075, petals)
        canvas.oval(x, y, 0.06, 0.06, (150, 90, 40))
    half = [(0.4, 0.78), (0.38, 0.92), (0.24, 1.06), (0.2, 1.24), (0.26, 1.42), (0.38, 1.54)]
    canvas.blob([*half, *mirror(half)[::-1]], colour, "tube")
    canvas.oval(0.5, 0.79, 0.12, 0.03, darker(colour, 0.5), "flat")
    canvas.curve([(0.21, 1.2), (0.5, 1.26), (0.79, 1.2)], 0.03, lighter(colour, 0.6), "tube")


def cup(canvas: Canvas, colour: Colour) -> None:
    canvas.line(arc(0.76, 0.44, 0.18, 0.2, -0.28, 0.28), 0.075, darker(colour, 0.8))
    canvas.shape(
        [(0.06, 0.14), (0.78, 0.14), (0.72, 0.78), *arc(0.42, 0.78, 0.3, 0.1, 0.0, 0.5), (0.12, 0.78)], colour, "tube"
    )
    canvas.oval(0.42, 0.14, 0.36, 0.1, lighter(colour, 0.3), "slope")
    canvas.oval(0.42, 0.15, 0.31, 0.075, (74, 44, 26), "slope")


def book(canvas: Canvas, colour: Colour) -> None:
    """A closed book, lying."""
    canvas.shape(
        [(0.04, 0.34), (0.62, 0.46), (0.98, 0.2), (0.98, 0.34), (0.62, 0.62), (0.04, 0.5)], (244, 238, 220), "slope"
    )
    for k in range(3):
        y = 0.37 + 0.035 * k
        canvas.line([(0.06, y), (0.62, y + 0.12), (0.97, y - 0.13)], 0.006, (190, 180, 160), "flat")
    canvas.shape(
        [(0.02, 0.48), (0.62, 0.6), (0.99, 0.32), (0.99, 0.37), (0.62, 0.66), (0.02, 0.53)], darker(colour, 0.7)
    )
    canvas.shape([(0.02, 0.32), (0.4, 0.06), (0.99, 0.16), (0.62, 0.44)], colour, "slope")
    canvas.line([(0.02, 0.32), (0.0, 0.43), (0.03, 0.52)], 0.03, darker(colour, 0.8))
    canvas.line([(0.18, 0.3), (0.44, 0.12), (0.83, 0.19), (0.58, 0.37), (0.18, 0.3)], 0.012, (240, 210, 120), "flat")
    canvas.line([(0.36, 0.26), (0.62, 0.28)], 0.03, (240, 210, 120), "flat")


def candle(canvas: Canvas, colour: Colour) -> None:
    canvas.blob([(0.5, 0.06), (0.6, 0.26), (0.56, 0.38), (0.44, 0.38), (0.4, 0.26)], (252, 178, 52), "flat")
    canvas.blob([(0.5, 0.2), (0.55, 0.3), (0.5, 0.38), (0.45, 0.3)], (255, 244, 190), "flat")
    canvas.line([(0.5, 0.36), (0.5, 0.46)], 0.02, (40, 30, 30))
    canvas.shape([(0.32, 0.46), (0.68, 0.46), (0.68, 1.36), (0.32, 1.36)], colour, "tube")
    canvas.oval(0.5, 0.46, 0.18, 0.05, lighter(colour, 0.4), "slope")
    canvas.oval(0.5, 1.38, 0.44, 0.12, (190, 150, 70), "slope")
    canvas.shape([(0.32, 1.2), (0.68, 1.2), (0.68, 1.36), *arc(0.5, 1.36, 0.18, 0.05, 0.0, 0.5)], colour, "tube")


def bottle(canvas: Canvas, colour: Colour) -> None:
    half = [(0.38, 0.06), (0.38, 0.5), (0.3, 0.66), (0.12, 0.84), (0.1, 1.1), (0.1, 1.98)]
    canvas.shape([*half, *arc(0.5, 1.98, 0.4, 0.06, 0.5, 0.0), *mirror(half)[::-1]], colour, "tube")
    canvas.shape([(0.1, 1.16), (0.9, 1.16), (0.9, 1.68), (0.1, 1.68)], (242, 234, 210), "tube")
    canvas.line([(0.26, 1.34), (0.74, 1.34)], 0.05, (150, 40, 40), "flat")
    canvas.line([(0.3, 1.5), (0.7, 1.5)], 0.03, (90, 80, 70), "flat")
    canvas.box(0.36, 0.03, 0.64, 0.26, (190, 160, 80), "tube")


def umbrella(canvas: Canvas, colour: Colour) -> None:
    """An open umbrella, standing on its point's other end."""
    canvas.line([(0.5, 0.1), (0.5, 1.06)], 0.026, (70, 60, 56))
    canvas.line(arc(0.44, 1.06, 0.06, 0.09, 0.0, 0.5), 0.034, (120, 70, 40))
    roof = arc(0.5, 0.56, 0.48, 0.48, 0.5, 1.0)
    scallops = [point for k in range(6) for point in arc(0.9 - 0.16 * k, 0.56, 0.08, 0.05, 1.0, 0.5)[::4]]
    canvas.shape([*roof, *scallops], colour, "ball")
    for x in (0.18, 0.34, 0.66, 0.82):
        canvas.curve([(0.5, 0.085), (0.5 + (x - 0.5) * 0.8, 0.26), (x, 0.54)], 0.008, darker(colour, 0.6))
    canvas.line([(0.5, 0.02), (0.5, 0.1)], 0.022, (70, 60, 56))


def cat(canvas: Canvas, colour: Colour) -> None:
    """A sitting cat, seen from the front."""
    dark = darker(colour, 0.62)
    canvas.line([(0.74, 1.24), (0.95, 1.2), (0.97, 0.96), (0.88, 0.84)], 0.1, dark)
    half = [(0.36, 0.52), (0.24, 0.76), (0.16, 1.08), (0.2, 1.28), (0.36, 1.34)]
    canvas.blob([*half, *mirror(half)[::-1]], colour, "ball")
    canvas.blob(
        [(0.5, 0.6), (0.6, 0.74), (0.58, 1.0), (0.5, 1.1), (0.42, 1.0), (0.4, 0.74)], lighter(colour, 0.6), "slope"
    )
    for x in (0.4, 0.6):
        canvas.line([(x, 0.9), (x, 1.28)], 0.11, darker(colour, 0.88), "tube")
        canvas.oval(x, 1.31, 0.08, 0.05, lighter(colour, 0.55))
    for mirrored in (False, True):
        ear = [(0.22, 0.3), (0.2, 0.02), (0.44, 0.16)]
        inner = [(0.26, 0.24), (0.245, 0.1), (0.36, 0.17)]
        canvas.shape(mirror(ear) if mirrored else ear, dark)
        canvas.shape(mirror(inner) if mirrored else inner, (226, 150, 140), "flat")
    canvas.oval(0.5, 0.36, 0.32, 0.27, colour)
    for k in (-1, 0, 1):
        canvas.line([(0.5 + 0.07 * k, 0.12), (0.5 + 0.05 * k, 0.22)], 0.022, dark, "flat")
    for x in (0.37, 0.63):
        canvas.oval(x, 0.35, 0.075, 0.07, (196, 214, 80), "flat")
        canvas.oval(x, 0.35, 0.026, 0.062, (16, 16, 16), "flat")
        canvas.oval(x - 0.02, 0.325, 0.015, 0.015, (255, 255, 255), "flat")
    canvas.oval(0.5, 0.5, 0.12, 0.08, lighter(colour, 0.65), "slope")
    canvas.shape([(0.46, 0.445), (0.54, 0.445), (0.5, 0.49)], (214, 110, 110), "flat")
    for side in (-1, 1):
        for dy in (-0.02, 0.03):
            canvas.line([(0.5 + side * 0.1, 0.5), (0.5 + side * 0.36, 0.49 + dy * 2)], 0.008, (246, 246, 246), "flat")


def bird(canvas: Canvas, colour: Colour) -> None:
    for x in (0.46, 0.58):
        canvas.line([(x, 0.7), (x, 0.92), (x - 0.08, 0.95)], 0.024, (210, 140, 50))
    canvas.shape([(0.62, 0.52), (0.99, 0.66), (0.95, 0.76), (0.6, 0.7)], darker(colour, 0.6))
    canvas.blob(
        [(0.2, 0.24), (0.36, 0.1), (0.5, 0.2), (0.74, 0.44), (0.74, 0.66), (0.52, 0.78), (0.28, 0.66), (0.22, 0.44)],
        colour,
        "ball",
    )
    canvas.blob([(0.26, 0.46), (0.4, 0.52), (0.5, 0.72), (0.34, 0.7)], lighter(colour, 0.7), "slope")
    canvas.blob([(0.44, 0.4), (0.62, 0.42), (0.84, 0.64), (0.56, 0.64)], darker(colour, 0.72), "slope")
    canvas.shape([(0.22, 0.24), (0.04, 0.3), (0.23, 0.34)], (236, 160, 50))
    canvas.oval(0.33, 0.23, 0.034, 0.034, (16, 16, 18), "flat")
    canvas.oval(0.32, 0.22, 0.011, 0.011, (255, 255, 255), "flat")


def suitcase(canvas: Canvas, colour: Colour) -> None:
    canvas.line([(0.36, 0.2), (0.38, 0.06), (0.62, 0.06), (0.64, 0.2)], 0.045, (70, 50, 40))
    canvas.blob(
        [(0.05, 0.2), (0.5, 0.17), (0.95, 0.2), (0.97, 0.5), (0.95, 0.8), (0.5, 0.82), (0.05, 0.8), (0.03, 0.5)],
        colour,
        "slope",
    )
    for x in (0.22, 0.78):
        canvas.box(x - 0.035, 0.18, x + 0.035, 0.81, darker(colour, 0.6))
        canvas.box(x - 0.045, 0.4, x + 0.045, 0.48, (214, 190, 110))
    canvas.line([(0.04, 0.34), (0.96, 0.34)], 0.012, darker(colour, 0.5), "flat")


def cone(canvas: Canvas, colour: Colour) -> None:
    """A traffic cone."""
    canvas.shape([(0.02, 1.2), (0.16, 1.1), (0.86, 1.1), (0.98, 1.2), (0.96, 1.28), (0.04, 1.28)], darker(colour, 0.8))
    canvas.shape([(0.45, 0.04), (0.55, 0.04), (0.8, 1.16), (0.2, 1.16)], colour, "tube")
    for top, low in ((0.36, 0.56), (0.76, 0.94)):
        wide, wider = 0.05 + 0.223 * (top - 0.04), 0.05 + 0.223 * (low - 0.04)
        canvas.shape(
            [(0.5 - wide, top), (0.5 + wide, top), (0.5 + wider, low), (0.5 - wider, low)], (246, 246, 242), "tube"
        )


def pumpkin(canvas: Canvas, colour: Colour) -> None:
    canvas.line([(0.5, 0.22), (0.54, 0.06), (0.62, 0.03)], 0.07, (92, 110, 50))
    for x in (0.2, 0.8, 0.34, 0.66, 0.5):
        canvas.oval(x, 0.53, 0.2, 0.35 - 0.12 * abs(x - 0.5), darker(colour, 1.05 - 0.35 * abs(x - 0.5)))


OBJECTS = (
    Thing("ball", ball, (0, 0, 1, 1), ("red", "blue", "yellow"), "ground", 0.14),
    Thing("balloon", balloon, (0, 0, 1, 2), ("red", "blue", "yellow"), "air", 0.15),
    Thing("plant", plant, (0, -0.02, 1, 1.44), ("terracotta", "white"), "ground", 0.2, ("potted plant", "houseplant")),
    Thing("vase", vase, (0.05, 0, 0.98, 1.56), ("blue", "white", "teal"), "table", 0.18, ("flower vase",)),
    Thing("cup", cup, (0, 0, 1, 0.9), ("white", "blue", "yellow"), "table", 0.16, ("mug", "coffee cup", "teacup")),
    Thing("book", book, (-0.03, 0, 1.02, 0.7), ("blue", "red", "green"), "table", 0.22),
    Thing("candle", candle, (0.04, 0.03, 0.96, 1.52), ("cream", "red"), "table", 0.1),
    Thing("bottle", bottle, (0.06, 0, 0.94, 2.06), ("green", "brown"), "table", 0.08, ("wine bottle",)),
    Thing("umbrella", umbrella, (0, 0, 1, 1.2), ("red", "yellow", "blue"), "ground", 0.3, ("parasol",)),
    Thing("cat", cat, (0.1, 0, 1.04, 1.38), ("orange", "grey", "black"), "ground", 0.2, ("kitten",)),
    Thing("bird", bird, (0, 0.04, 1, 1), ("blue", "red", "yellow"), "ground", 0.16),
    Thing("suitcase", suitcase, (0, 0.02, 1, 0.84), ("brown", "teal", "red"), "ground", 0.24, ("luggage", "bag")),
    Thing("traffic cone", cone, (0, 0, 1, 1.3), ("orange", "red"), "ground", 0.16, ("cone",)),
    Thing("pumpkin", pumpkin, (0, 0, 1, 0.92), ("orange", "white"), "ground", 0.18),
)


def chair(canvas: Canvas, colour: Colour) -> None:
    """A wooden chair, seen a little from the side."""
    dark, deep = darker(colour, 0.72), darker(colour, 0.5)
    canvas.line([(0.86, 0.76), (0.9, 1.34)], 0.07, deep)
    canvas.line([(0.3, 0.72), (0.3, 1.26)], 0.065, deep)
    canvas.line([(0.12, 0.06), (0.12, 1.5)], 0.085, dark)
    canvas.line([(0.66, 0.04), (0.68, 0.74)], 0.08, dark)
    for top in (0.1, 0.32):
        canvas.shape([(0.09, top), (0.68, top - 0.03), (0.68, top + 0.12), (0.09, top + 0.15)], colour)
    canvas.shape([(0.05, 0.82), (0.66, 0.7), (0.97, 0.8), (0.4, 0.96)], colour)
    canvas.shape([(0.05, 0.82), (0.4, 0.96), (0.4, 1.04), (0.05, 0.9)], dark, "flat")
    canvas.shape([(0.4, 0.96), (0.97, 0.8), (0.97, 0.88), (0.4, 1.04)], deep, "flat")
    canvas.line([(0.42, 1.0), (0.42, 1.6)], 0.08, dark)
    canvas.line([(0.12, 1.22), (0.42, 1.3)], 0.045, dark)


def stool(canvas: Canvas, colour: Colour) -> None:
    for ends in ([(0.24, 0.2), (0.1, 1.14)], [(0.76, 0.2), (0.9, 1.14)], [(0.5, 0.2), (0.5, 1.2)]):
        canvas.line(ends, 0.085, darker(colour, 0.6))
    canvas.line([(0.16, 0.8), (0.84, 0.8)], 0.05, darker(colour, 0.5))
    canvas.oval(0.5, 0.22, 0.46, 0.13, darker(colour, 0.6), "flat")
    canvas.oval(0.5, 0.16, 0.46, 0.13, colour, "slope")


def bench(canvas: Canvas, colour: Colour) -> None:
    """A park bench with iron legs."""
    iron = (54, 56, 60)
    for x in (0.1, 0.9):
        canvas.line([(x, 0.04), (x, 0.34)], 0.04, iron)
        canvas.line([(x - 0.05, 0.6), (x - 0.02, 0.36), (x + 0.03, 0.36), (x + 0.05, 0.6)], 0.035, iron)
    for y in (0.04, 0.12, 0.2):
        canvas.box(0.02, y, 0.98, y + 0.06, colour)
    for k, y in enumerate((0.3, 0.345, 0.39)):
        canvas.shape(
            [(0.03 - 0.01 * k, y), (0.97 + 0.01 * k, y), (0.98 + 0.01 * k, y + 0.04), (0.02 - 0.01 * k, y + 0.04)],
            lighter(colour, 0.12),
        )
    canvas.box(0.0, 0.43, 1.0, 0.46, darker(colour, 0.6))


def table(canvas: Canvas, colour: Colour) -> None:
    for x, y in ((0.2, 0.52), (0.8, 0.52)):
        canvas.line([(x, 0.16), (x, y)], 0.05, darker(colour, 0.45))
    for x in (0.07, 0.93):
        canvas.line([(x, 0.24), (x, 0.68)], 0.06, darker(colour, 0.7))
    canvas.shape([(0.15, 0.06), (0.85, 0.06), (0.99, 0.22), (0.01, 0.22)], colour)
    canvas.box(0.01, 0.22, 0.99, 0.29, darker(colour, 0.66))


def lamp(canvas: Canvas, colour: Colour) -> None:
    """A floor lamp that is lit."""
    canvas.oval(0.5, 2.36, 0.3, 0.07, (60, 56, 54), "slope")
    canvas.line([(0.5, 0.6), (0.5, 2.34)], 0.055, (84, 78, 74), "tube")
    canvas.shape(
        [(0.28, 0.06), (0.72, 0.06), (0.96, 0.68), *arc(0.5, 0.68, 0.46, 0.06, 0.0, 0.5), (0.04, 0.68)], colour, "tube"
    )
    canvas.oval(0.5, 0.68, 0.42, 0.045, (255, 244, 206), "flat")
    canvas.oval(0.5, 0.06, 0.22, 0.03, lighter(colour, 0.5), "flat")


def clock(canvas: Canvas, colour: Colour) -> None:
    canvas.oval(0.5, 0.5, 0.48, 0.48, colour)
    canvas.oval(0.5, 0.5, 0.4, 0.4, (246, 244, 236), "slope")
    for k in range(12):
        turn = 2 * math.pi * k / 12
        inner = 0.3 if k % 3 == 0 else 0.335
        ends = [(0.5 + r * math.cos(turn), 0.5 + r * math.sin(turn)) for r in (inner, 0.375)]
        canvas.line(ends, 0.026 if k % 3 == 0 else 0.014, (40, 40, 44), "flat")
    canvas.line([(0.5, 0.5), (0.36, 0.37)], 0.036, (30, 30, 34), "flat")
    canvas.line([(0.5, 0.5), (0.7, 0.3)], 0.026, (30, 30, 34), "flat")
    canvas.oval(0.5, 0.5, 0.032, 0.032, (190, 40, 40), "flat")


def painting(canvas: Canvas, colour: Colour) -> None:
    """A framed landscape."""
    canvas.box(0.0, 0.0, 1.0, 0.76, colour)
    canvas.box(0.05, 0.05, 0.95, 0.71, darker(colour, 0.6))
    canvas.box(0.08, 0.08, 0.92, 0.68, (150, 196, 226))
    canvas.oval(0.72, 0.22, 0.07, 0.07, (252, 226, 140), "flat")
    canvas.shape(
        [(0.08, 0.52), (0.3, 0.24), (0.44, 0.42), (0.58, 0.3), (0.92, 0.54), (0.92, 0.68), (0.08, 0.68)], (86, 110, 140)
    )
    canvas.shape([(0.08, 0.54), (0.4, 0.5), (0.92, 0.58), (0.92, 0.68), (0.08, 0.68)], (80, 140, 76))


def bicycle(canvas: Canvas, colour: Colour) -> None:
    tyre = (34, 34, 38)
    for x in (0.21, 0.79):
        for k in range(8):
            turn = math.pi * k / 8
            dx, dy = 0.19 * math.cos(turn), 0.19 * math.sin(turn)
            canvas.line([(x - dx, 0.47 - dy), (x + dx, 0.47 + dy)], 0.006, (190, 192, 196), "flat")
        canvas.line(arc(x, 0.47, 0.19, 0.19), 0.035, tyre)
        canvas.oval(x, 0.47, 0.025, 0.025, (120, 120, 126))
    frame = [[(0.21, 0.47), (0.37, 0.2), (0.67, 0.18), (0.46, 0.47), (0.21, 0.47)], [(0.34, 0.14), (0.46, 0.47)]]
    for part in [*frame, [(0.66, 0.12), (0.79, 0.47)]]:
        canvas.line(part, 0.032, colour)
    canvas.line([(0.6, 0.06), (0.65, 0.11), (0.72, 0.06), (0.77, 0.09)], 0.026, tyre)
    canvas.blob([(0.26, 0.1), (0.42, 0.11), (0.42, 0.15), (0.28, 0.15)], tyre)
    canvas.line([(0.46, 0.47), (0.5, 0.56)], 0.02, (90, 90, 96))
    canvas.oval(0.46, 0.47, 0.045, 0.045, (90, 90, 96))


def sofa(canvas: Canvas, colour: Colour) -> None:
    for x in (0.12, 0.88):
        canvas.line([(x, 0.5), (x, 0.6)], 0.04, (70, 50, 36))
    canvas.blob(
        [(0.1, 0.04), (0.5, 0.02), (0.9, 0.04), (0.93, 0.3), (0.9, 0.46), (0.1, 0.46), (0.07, 0.3)],
        darker(colour, 0.85),
        "slope",
    )
    canvas.line([(0.5, 0.04), (0.5, 0.34)], 0.01, darker(colour, 0.6), "flat")
    for x in (0.3, 0.7):
        canvas.blob(
            [(x - 0.19, 0.29), (x, 0.27), (x + 0.19, 0.29), (x + 0.19, 0.43), (x, 0.45), (x - 0.19, 0.43)],
            lighter(colour, 0.12),
            "slope",
        )
    canvas.box(0.08, 0.42, 0.92, 0.54, darker(colour, 0.75))
    for x in (0.07, 0.93):
        canvas.blob(
            [(x - 0.07, 0.22), (x, 0.18), (x + 0.07, 0.22), (x + 0.065, 0.54), (x - 0.065, 0.54)], colour, "tube"
        )


def tree(canvas: Canvas, colour: Colour) -> None:
    canvas.shape([(0.44, 1.0), (0.56, 1.0), (0.6, 1.58), (0.4, 1.58)], (104, 74, 48), "tube")
    for x, y, r in (
        (0.3, 0.78, 0.28),
        (0.72, 0.78, 0.27),
        (0.5, 0.86, 0.3),
        (0.34, 0.5, 0.28),
        (0.68, 0.48, 0.28),
        (0.5, 0.32, 0.3),
        (0.5, 0.62, 0.3),
    ):
        canvas.oval(x, y, r, r * 0.95, darker(colour, 0.86 + 0.3 * (0.9 - y) * 0.5))


FURNITURE = (
    Thing("chair", chair, (0, 0, 1, 1.64), ("wood", "white", "teal"), "ground", 0.26),
    Thing("stool", stool, (0, 0, 1, 1.26), ("wood", "white", "red"), "ground", 0.2),
    Thing("bench", bench, (-0.01, 0, 1.01, 0.63), ("wood", "green", "white"), "ground", 0.46),
    Thing("table", table, (-0.01, 0.03, 1.01, 0.72), ("wood", "white"), "ground", 0.42),
    Thing("lamp", lamp, (0.02, 0.02, 0.98, 2.44), ("cream", "red", "teal"), "ground", 0.2, ("floor lamp",)),
    Thing("clock", clock, (0, 0, 1, 1), ("black", "red", "wood"), "wall", 0.18, ("wall clock",)),
    Thing(
        "painting",
        painting,
        (-0.01, -0.01, 1.01, 0.77),
        ("gold", "black", "wood"),
        "wall",
        0.3,
        ("picture frame", "framed picture"),
    ),
    Thing("bicycle", bicycle, (0, 0, 1, 0.7), ("red", "blue", "yellow"), "ground", 0.44, ("bike",)),
    Thing("sofa", sofa, (-0.01, 0, 1.01, 0.63), ("teal", "red", "grey"), "ground", 0.5, ("couch",)),
    Thing("tree", tree, (0, 0, 1, 1.62), ("green", "orange"), "ground", 0.32),
)
THINGS = (*OBJECTS, *FURNITURE)
