"""Things that lie, stand or float in a scene, one unit wide."""

from .drawing import Canvas, Colour, darker
from .things import Thing

LEAF = (52, 128, 62)


def ball(canvas: Canvas, colour: Colour) -> None:
    canvas.oval(0.5, 0.5, 0.48, 0.48, colour)


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
        tint = darker(LEAF, 0.82 + 0.12 * (i % 3))
        lean = (x - 0.5) * 0.5
        tip = (x + lean * 0.5, y - 0.1)
        canvas.blob(
            [
                tip,
                (x + 0.1, y),
                (x + 0.07 - lean * 0.3, y + 0.16),
                (x - lean * 0.7, y + 0.25),
                (x - 0.09 - lean * 0.3, y + 0.14),
                (x - 0.1, y),
            ],
            tint,
            "slope",
        )
        canvas.line([(x - lean * 0.6, y + 0.2), tip], 0.012, (150, 190, 120), "flat", 0.6)
    canvas.shape([(0.27, 0.98), (0.73, 0.98), (0.66, 1.42), (0.34, 1.42)], colour, "tube")
    canvas.shape([(0.24, 0.9), (0.76, 0.9), (0.76, 1.0), (0.24, 1.0)], colour, "tube")


THINGS = (
    Thing("ball", ball, (0, 0, 1, 1), ("red", "blue", "yellow"), "ground", 0.14),
    Thing("plant", plant, (0, -0.02, 1, 1.44), ("terracotta", "white"), "ground", 0.2, ("potted plant", "houseplant")),
)
