"""Things worn on the face, the ears and the neck, in units of the face's box: 0 to 1 from its upper left corner."""

from .drawing import Canvas, Colour, mirror
from .things import Thing

GLASS = (205, 225, 235)
SKIN_SHADOW = (60, 34, 26)


def darker(colour: Colour, by: float = 0.6) -> Colour:
    return colour[0] * by, colour[1] * by, colour[2] * by


def lens(x: float) -> list[tuple[float, float]]:
    """The outline of one lens, a rounded trapezium."""
    side = -1 if x < 0.5 else 1
    outline = [
        (-0.15, -0.085),
        (0.0, -0.105),
        (0.15, -0.085),
        (0.155, 0.02),
        (0.09, 0.105),
        (-0.06, 0.11),
        (-0.145, 0.03),
    ]
    from .drawing import smooth

    return smooth([(x + side * dx, 0.4 + dy) for dx, dy in outline], closed=True)


def glasses(canvas: Canvas, colour: Colour) -> None:
    for x in (0.3, 0.7):
        canvas.shape(lens(x), GLASS, "slope", 0.16)
        canvas.line([*lens(x), lens(x)[0]], 0.034, colour)
    canvas.curve([(0.44, 0.385), (0.5, 0.36), (0.56, 0.385)], 0.034, colour)
    for side in (False, True):
        arm = [(0.15, 0.36), (0.06, 0.345), (0.0, 0.35)]
        canvas.line(mirror(arm) if side else arm, 0.034, colour)
    canvas.line([(0.21, 0.34), (0.26, 0.325)], 0.012, (235, 235, 240), "flat", 0.7)
    canvas.line([(0.61, 0.34), (0.66, 0.325)], 0.012, (235, 235, 240), "flat", 0.7)


def sunglasses(canvas: Canvas, colour: Colour) -> None:
    glasses(canvas, colour)
    for x in (0.3, 0.7):
        canvas.shape(lens(x), darker(colour, 0.9), "slope", 0.97)
        canvas.line([(x - 0.1, 0.43), (x - 0.02, 0.33)], 0.022, (150, 160, 176), "flat", 0.75)
        canvas.line([(x - 0.05, 0.45), (x + 0.01, 0.37)], 0.012, (120, 130, 150), "flat", 0.6)


def earrings(canvas: Canvas, colour: Colour) -> None:
    for x in (0.0, 1.0):
        canvas.oval(x, 0.66, 0.028, 0.028, colour)
        canvas.line([(x, 0.68), (x, 0.74)], 0.016, darker(colour, 0.8))
        canvas.oval(x, 0.8, 0.07, 0.085, colour)


THINGS = (
    Thing("glasses", glasses, (-0.05, 0.25, 1.05, 0.56), ("black", "brown", "red"), words=("spectacles", "eyeglasses")),
    Thing("sunglasses", sunglasses, (-0.05, 0.25, 1.05, 0.56), ("black", "brown"), words=("shades",)),
    Thing("earrings", earrings, (-0.1, 0.6, 1.1, 0.92), ("gold", "silver", "teal"), words=("earring", "ear rings")),
)
