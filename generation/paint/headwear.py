"""Things worn on the head, in units of the face's box."""

from .drawing import Canvas, Colour, arc, mirror
from .things import Thing
from .wearables import darker


def hat(canvas: Canvas, colour: Colour) -> None:
    """A brimmed hat with a band."""
    canvas.oval(0.5, -0.04, 0.78, 0.14, darker(colour, 0.72), "slope")
    crown = [(0.08, -0.07), (0.1, -0.3), (0.18, -0.5), (0.34, -0.57), (0.5, -0.53)]
    canvas.blob([*crown, *mirror(crown)[::-1][1:], (0.5, 0.0)], colour, "tube")
    band = [*arc(0.5, -0.18, 0.415, 0.09, 0.5, 0.0), *arc(0.5, -0.07, 0.42, 0.08, 0.0, 0.5)]
    canvas.shape(band, (70, 40, 34), "tube")
    canvas.shape([*arc(0.5, -0.06, 0.78, 0.14, 0.5, 0.0), *arc(0.5, -0.1, 0.46, 0.06, 0.0, 0.5)], colour, "slope")


THINGS = (Thing("hat", hat, (-0.32, -0.62, 1.32, 0.14), ("straw", "red", "teal"), words=("sun hat", "fedora")),)
