"""Things that stand on the floor or hang on the wall, one unit wide."""

import math

from .drawing import Canvas, Colour, arc, darker, lighter
from .things import Thing


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


THINGS = (
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
