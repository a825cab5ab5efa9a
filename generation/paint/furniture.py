"""Things that stand on the floor or hang on the wall, one unit wide."""

from .drawing import Canvas, Colour, darker
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


THINGS = (Thing("chair", chair, (0, 0, 1, 1.64), ("wood", "white", "teal"), "ground", 0.26),)
