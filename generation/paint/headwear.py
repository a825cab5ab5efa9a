"""Things worn on the head, in units of the face's box."""

from .drawing import Canvas, Colour, arc
from .things import Thing
from .wearables import darker


def hat(canvas: Canvas, colour: Colour) -> None:
    """A brimmed hat with a band."""
    canvas.oval(0.5, 0.06, 0.82, 0.15, darker(colour, 0.72), "slope")
    crown = [
        (0.04, 0.03),
        (0.06, -0.22),
        (0.14, -0.47),
        (0.32, -0.55),
        (0.5, -0.5),
        (0.68, -0.55),
        (0.86, -0.47),
        (0.94, -0.22),
        (0.96, 0.03),
        (0.5, 0.1),
    ]
    canvas.blob(crown, colour, "tube")
    canvas.shape([*arc(0.5, -0.1, 0.455, 0.1, 0.5, 0.0), *arc(0.5, 0.02, 0.46, 0.09, 0.0, 0.5)], (70, 40, 34), "tube")
    canvas.shape([*arc(0.5, 0.04, 0.82, 0.15, 0.5, 0.0), *arc(0.5, 0.0, 0.5, 0.07, 0.0, 0.5)], colour, "slope")


THINGS = (Thing("hat", hat, (-0.36, -0.6, 1.36, 0.24), ("straw", "red", "teal"), words=("sun hat", "fedora")),)
