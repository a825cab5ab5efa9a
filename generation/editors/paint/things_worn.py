"""Things worn on the face, head and neck, in units of the face's box: 0 to 1 from its upper left corner."""

import math

from .drawing import Canvas, Colour, Point, Thing, arc, darker, lighter, mirror, smooth

GLASS = (205, 225, 235)


def lens(x: float) -> list[Point]:
    """The outline of one lens, a rounded trapezium."""
    side = -1 if x < 0.5 else 1
    edge = [(-0.15, -0.085), (0, -0.105), (0.15, -0.085), (0.155, 0.02), (0.09, 0.105), (-0.06, 0.11), (-0.145, 0.03)]
    return smooth([(x + side * dx, 0.4 + dy) for dx, dy in edge], closed=True)


def glasses(canvas: Canvas, colour: Colour) -> None:
    for x in (0.3, 0.7):
        canvas.shape(lens(x), GLASS, "slope", 0.16)
        canvas.line([*lens(x), lens(x)[0]], 0.034, colour)
    canvas.curve([(0.44, 0.385), (0.5, 0.36), (0.56, 0.385)], 0.034, colour)
    arm = [(0.15, 0.36), (0.06, 0.345), (0.0, 0.35)]
    for side in (arm, mirror(arm)):
        canvas.line(side, 0.034, colour)
    canvas.line([(0.21, 0.34), (0.26, 0.325)], 0.012, (235, 235, 240), "flat", 0.7)
    canvas.line([(0.61, 0.34), (0.66, 0.325)], 0.012, (235, 235, 240), "flat", 0.7)


def sunglasses(canvas: Canvas, colour: Colour) -> None:
    glasses(canvas, colour)
    for x in (0.3, 0.7):
        canvas.shape(lens(x), darker(colour, 0.9), "slope", 0.97)
        canvas.line([(x - 0.1, 0.43), (x - 0.02, 0.33)], 0.022, (150, 160, 176), "flat", 0.75)
        canvas.line([(x - 0.05, 0.45), (x + 0.01, 0.37)], 0.012, (120, 130, 150), "flat", 0.6)


def monocle(canvas: Canvas, colour: Colour) -> None:
    ring = arc(0.7, 0.4, 0.15, 0.15)
    canvas.shape(ring, GLASS, "slope", 0.2)
    canvas.curve([(0.84, 0.45), (0.95, 0.7), (0.9, 0.95), (0.97, 1.15)], 0.016, darker(colour, 0.8))
    canvas.line(ring, 0.036, colour)
    canvas.line([(0.61, 0.35), (0.67, 0.29)], 0.014, (240, 240, 244), "flat", 0.8)


def eye_patch(canvas: Canvas, colour: Colour) -> None:
    canvas.line([(-0.02, 0.14), (0.5, 0.24), (0.86, 0.36), (1.03, 0.44)], 0.03, colour)
    patch = [(0.52, 0.3), (0.7, 0.255), (0.89, 0.32), (0.88, 0.46), (0.7, 0.57), (0.55, 0.47)]
    canvas.blob(patch, colour)
    canvas.curve([(0.58, 0.34), (0.7, 0.3), (0.83, 0.35)], 0.012, lighter(colour, 0.35))


def earrings(canvas: Canvas, colour: Colour) -> None:
    for x in (0.0, 1.0):
        canvas.oval(x, 0.66, 0.028, 0.028, colour)
        canvas.line([(x, 0.68), (x, 0.74)], 0.016, darker(colour, 0.8))
        canvas.oval(x, 0.8, 0.07, 0.085, colour)


def mustache(canvas: Canvas, colour: Colour) -> None:
    half = [
        (0.5, 0.695),
        (0.4, 0.672),
        (0.28, 0.72),
        (0.16, 0.755),
        (0.1, 0.7),
        (0.14, 0.8),
        (0.28, 0.815),
        (0.42, 0.775),
    ]
    for side in (half, mirror(half)):
        canvas.blob([*side, (0.5, 0.76)], colour)
        for k in range(5):
            x, y = side[k + 2]
            canvas.line([(0.5 + (x - 0.5) * 0.25, 0.725), (x, y)], 0.006, lighter(colour, 0.25), "flat", 0.6)


def beard(canvas: Canvas, colour: Colour) -> None:
    half = [(0.5, 0.9), (0.32, 0.9), (0.24, 0.78), (0.06, 0.56), (0.03, 0.8), (0.12, 1.02), (0.3, 1.18), (0.5, 1.24)]
    canvas.blob([*half, *mirror(half)[::-1][1:-1]], colour, "fold")
    for k in range(9):
        x = 0.14 + k * 0.09
        canvas.curve(
            [(x, 0.94), (0.5 + (x - 0.5) * 0.9, 1.04), (0.5 + (x - 0.5) * 0.7, 1.14)], 0.008, lighter(colour, 0.22)
        )


def face_mask(canvas: Canvas, colour: Colour) -> None:
    for ends in ([(0.1, 0.66), (0.0, 0.52)], [(0.1, 0.86), (0.0, 0.66)]):
        canvas.line(ends, 0.016, (235, 235, 235))
        canvas.line(mirror(ends), 0.016, (235, 235, 235))
    edge = [(0.1, 0.64), (0.34, 0.575), (0.5, 0.55), (0.66, 0.575), (0.9, 0.64), (0.88, 0.9), (0.68, 1.04), (0.5, 1.08)]
    canvas.blob([*edge, (0.32, 1.04), (0.12, 0.9)], colour, "slope")
    for y in (0.7, 0.79, 0.88):
        canvas.curve([(0.12, y), (0.5, y + 0.03), (0.88, y)], 0.012, darker(colour, 0.82))


def necklace(canvas: Canvas, colour: Colour) -> None:
    for x, y in arc(0.5, 1.12, 0.36, 0.36, 0.02, 0.48)[::3]:
        canvas.oval(x, y, 0.036, 0.036, colour)
    canvas.oval(0.5, 1.55, 0.06, 0.075, (188, 30, 60))


def scarf(canvas: Canvas, colour: Colour) -> None:
    stripe = lighter(colour, 0.55)
    tail = [(0.58, 1.3), (0.82, 1.26), (0.9, 1.95), (0.64, 1.99)]
    canvas.shape(tail, darker(colour, 0.88), "fold")
    for k in range(3):
        y = 1.62 + 0.11 * k
        canvas.line([(0.63, y + 0.03), (0.86, y)], 0.035, stripe, "fold")
    for k in range(7):
        x = 0.66 + 0.036 * k
        canvas.line([(x, 1.96), (x + 0.01, 2.06)], 0.014, darker(colour, 0.8))
    ring = [(-0.02, 1.1), (0.22, 1.2), (0.5, 1.24), (0.78, 1.2), (1.02, 1.1), (1.06, 1.28), (0.8, 1.46), (0.5, 1.52)]
    canvas.blob([*ring, (0.2, 1.46), (-0.06, 1.28)], colour, "fold")
    for y in (1.26, 1.36):
        canvas.curve([(0.0, y - 0.06), (0.5, y + 0.07), (1.0, y - 0.06)], 0.02, darker(colour, 0.8))
    canvas.blob([(0.56, 1.24), (0.82, 1.22), (0.86, 1.44), (0.6, 1.5)], colour, "fold")


def bow_tie(canvas: Canvas, colour: Colour) -> None:
    wing = [(0.5, 1.22), (0.3, 1.12), (0.14, 1.11), (0.12, 1.24), (0.14, 1.38), (0.3, 1.36), (0.5, 1.27)]
    for side in (wing, mirror(wing)):
        canvas.blob(side, colour, "slope")
        canvas.line(
            [(0.5 + (side[1][0] - 0.5) * 0.3, 1.235), (0.5 + (side[2][0] - 0.5) * 0.75, 1.2)],
            0.014,
            darker(colour, 0.7),
        )
    canvas.blob([(0.43, 1.17), (0.57, 1.17), (0.58, 1.32), (0.42, 1.32)], darker(colour, 0.9), "tube")


def tie(canvas: Canvas, colour: Colour) -> None:
    canvas.shape([(0.42, 1.32), (0.58, 1.32), (0.68, 2.0), (0.5, 2.2), (0.32, 2.0)], colour, "tube")
    for k in range(5):
        y = 1.46 + 0.14 * k
        canvas.line([(0.4 - 0.02 * k, y + 0.06), (0.6 + 0.02 * k, y - 0.04)], 0.03, lighter(colour, 0.5), "slope")
    canvas.shape([(0.37, 1.16), (0.63, 1.16), (0.57, 1.36), (0.43, 1.36)], darker(colour, 0.88), "tube")


def smile(canvas: Canvas, colour: Colour) -> None:
    """An open mouth with its teeth, from cheek to cheek."""
    upper = [(0.14, 0.66), (0.3, 0.735), (0.5, 0.755)]
    lower = [(0.74, 0.86), (0.62, 0.95), (0.5, 0.975), (0.38, 0.95), (0.26, 0.86)]
    canvas.blob([*upper, *mirror(upper)[::-1][1:], *lower], colour, "slope")
    edge = [(0.22, 0.715), (0.34, 0.77), (0.5, 0.785)]
    canvas.blob([*edge, *mirror(edge)[::-1][1:], (0.66, 0.86), (0.5, 0.895), (0.34, 0.86)], (246, 243, 236), "slope")


EYES = -0.08, 0.22, 1.08, 0.58
ON_THE_FACE = (
    Thing("glasses", glasses, EYES, ("black", "brown", "red"), words=("spectacles", "eyeglasses")),
    Thing("sunglasses", sunglasses, EYES, ("black", "brown"), words=("shades", "dark glasses")),
    Thing("monocle", monocle, (0.48, 0.2, 1.06, 1.2), ("gold", "black")),
    Thing("eye patch", eye_patch, (-0.06, 0.1, 1.08, 0.62), ("black", "red"), words=("eyepatch",)),
    Thing("earrings", earrings, (-0.1, 0.6, 1.1, 0.92), ("gold", "silver", "teal"), words=("earring", "ear rings")),
    Thing("mustache", mustache, (0.05, 0.64, 0.95, 0.84), ("black", "brown", "grey"), words=("moustache",)),
    Thing("beard", beard, (-0.02, 0.52, 1.02, 1.28), ("brown", "black", "grey")),
    Thing(
        "face mask", face_mask, (-0.04, 0.48, 1.04, 1.12), ("sky", "white", "black"), words=("surgical mask", "mask")
    ),
    Thing("smile", smile, (0.08, 0.62, 0.92, 1.0), ("red", "black"), words=("grin",)),
    Thing("necklace", necklace, (0.08, 1.08, 0.92, 1.66), ("white", "gold", "teal"), words=("pearls",)),
    Thing("scarf", scarf, (-0.12, 1.04, 1.12, 2.1), ("red", "teal", "yellow"), words=("shawl",)),
    Thing("bow tie", bow_tie, (0.08, 1.06, 0.92, 1.42), ("red", "blue", "yellow"), words=("bowtie",)),
    Thing("tie", tie, (0.28, 1.12, 0.72, 2.24), ("blue", "red", "yellow"), words=("necktie",)),
)


def hat(canvas: Canvas, colour: Colour) -> None:
    """A brimmed hat with a band."""
    canvas.oval(0.5, -0.04, 0.78, 0.14, darker(colour, 0.72), "slope")
    crown = [(0.08, -0.07), (0.1, -0.3), (0.18, -0.5), (0.34, -0.57), (0.5, -0.53)]
    canvas.blob([*crown, *mirror(crown)[::-1][1:], (0.5, 0.0)], colour, "tube")
    band = [*arc(0.5, -0.18, 0.415, 0.09, 0.5, 0.0), *arc(0.5, -0.07, 0.42, 0.08, 0.0, 0.5)]
    canvas.shape(band, (70, 40, 34), "tube")
    canvas.shape([*arc(0.5, -0.06, 0.78, 0.14, 0.5, 0.0), *arc(0.5, -0.1, 0.46, 0.06, 0.0, 0.5)], colour, "slope")


def top_hat(canvas: Canvas, colour: Colour) -> None:
    canvas.oval(0.5, -0.02, 0.64, 0.11, darker(colour, 0.75), "slope")
    canvas.shape(
        [(0.14, -0.84), (0.86, -0.84), (0.82, -0.06), *arc(0.5, -0.06, 0.32, 0.06, 0.0, 0.5), (0.18, -0.06)],
        colour,
        "tube",
    )
    canvas.oval(0.5, -0.84, 0.36, 0.06, lighter(colour, 0.18), "slope")
    band = [(0.175, -0.24), (0.825, -0.24), (0.82, -0.08), *arc(0.5, -0.08, 0.32, 0.06, 0.0, 0.5), (0.18, -0.08)]
    canvas.shape(band, (150, 30, 40), "tube")
    canvas.shape([*arc(0.5, -0.04, 0.64, 0.11, 0.5, 0.0), *arc(0.5, -0.08, 0.34, 0.05, 0.0, 0.5)], colour, "slope")


def cap(canvas: Canvas, colour: Colour) -> None:
    """A baseball cap."""
    dome = [*arc(0.5, 0.02, 0.5, 0.46, 0.5, 1.0), *arc(0.5, 0.02, 0.5, 0.1, 0.0, 0.5)]
    canvas.shape(dome, colour, "ball")
    for x in (0.32, 0.68):
        canvas.curve([(0.5, -0.43), (x, -0.24), (0.5 + (x - 0.5) * 1.45, 0.08)], 0.01, darker(colour, 0.7))
    canvas.oval(0.5, -0.44, 0.035, 0.025, darker(colour, 0.8))
    brim = [(0.02, 0.05), (0.2, 0.0), (0.5, -0.02), (0.8, 0.0), (0.98, 0.05), (0.92, 0.17), (0.5, 0.24), (0.08, 0.17)]
    canvas.blob(brim, darker(colour, 0.78), "slope")
    canvas.curve([(0.1, 0.14), (0.5, 0.205), (0.9, 0.14)], 0.01, lighter(colour, 0.3))


def beanie(canvas: Canvas, colour: Colour) -> None:
    """A knitted hat with a bobble."""
    dome = [*arc(0.5, 0.0, 0.5, 0.52, 0.5, 1.0), *arc(0.5, 0.0, 0.5, 0.08, 0.0, 0.5)]
    canvas.shape(dome, colour, "ball")
    for k in range(-4, 5):
        canvas.curve(
            [(0.5 + 0.02 * k, -0.5), (0.5 + 0.085 * k, -0.3), (0.5 + 0.11 * k, 0.0)], 0.012, darker(colour, 0.8)
        )
    cuff = [(-0.02, -0.1), (0.5, -0.04), (1.02, -0.1), (1.03, 0.08), (0.5, 0.15), (-0.03, 0.08)]
    canvas.blob(cuff, lighter(colour, 0.2), "tube")
    for k in range(13):
        x = 0.04 + k * 0.077
        canvas.line([(x, -0.055), (x, 0.1)], 0.014, darker(colour, 0.95), "flat", 0.6)
    canvas.oval(0.5, -0.56, 0.13, 0.12, (242, 240, 234))


def crown(canvas: Canvas, colour: Colour) -> None:
    base = [(0.06, -0.02), (0.02, -0.42), (0.2, -0.2), (0.28, -0.5), (0.42, -0.22), (0.5, -0.58)]
    canvas.shape([*base, *mirror(base)[::-1][1:], *arc(0.5, -0.02, 0.44, 0.07, 0.0, 0.5)], colour, "tube")
    for x, y in ((0.02, -0.42), (0.28, -0.5), (0.5, -0.58), (0.72, -0.5), (0.98, -0.42)):
        canvas.oval(x, y, 0.045, 0.045, lighter(colour, 0.4))
    canvas.curve([(0.07, -0.08), (0.5, -0.01), (0.93, -0.08)], 0.022, darker(colour, 0.66))
    for x, y, gem in ((0.22, -0.08, (200, 30, 60)), (0.5, -0.06, (40, 90, 200)), (0.78, -0.08, (200, 30, 60))):
        canvas.oval(x, y - 0.06, 0.05, 0.05, gem)


def headband(canvas: Canvas, colour: Colour) -> None:
    band = [(-0.02, 0.02), (0.24, -0.06), (0.5, -0.085), (0.76, -0.06), (1.02, 0.02), (1.03, 0.17), (0.5, 0.085)]
    canvas.blob([*band, (-0.03, 0.17)], colour, "tube")
    for y in (-0.01, 0.04):
        canvas.curve([(-0.01, y + 0.08), (0.5, y - 0.005), (1.01, y + 0.08)], 0.014, (244, 244, 240))


def headphones(canvas: Canvas, colour: Colour) -> None:
    canvas.line(arc(0.5, 0.32, 0.6, 0.64, 0.5, 1.0), 0.09, colour)
    canvas.line(arc(0.5, 0.32, 0.57, 0.6, 0.56, 0.94), 0.02, lighter(colour, 0.4))
    for x in (-0.1, 1.1):
        canvas.oval(x, 0.46, 0.12, 0.22, darker(colour, 0.8))
        canvas.oval(x + (0.03 if x < 0.5 else -0.03), 0.46, 0.07, 0.17, (60, 60, 66))


def flower(canvas: Canvas, colour: Colour) -> None:
    """A flower worn over the ear."""
    canvas.blob([(0.96, 0.18), (1.16, 0.24), (1.2, 0.38), (1.02, 0.32)], (60, 130, 70))
    for k in range(6):
        turn = 2 * math.pi * k / 6
        canvas.oval(0.93 + 0.13 * math.cos(turn), 0.06 + 0.13 * math.sin(turn), 0.1, 0.1, colour, "ball")
    canvas.oval(0.93, 0.06, 0.075, 0.075, (244, 200, 60))


def party_hat(canvas: Canvas, colour: Colour) -> None:
    canvas.shape([(0.5, -0.86), (0.84, 0.02), *arc(0.5, 0.02, 0.34, 0.07, 0.0, 0.5), (0.16, 0.02)], colour, "tube")
    for x, y in ((0.46, -0.5), (0.56, -0.3), (0.36, -0.2), (0.64, -0.08), (0.46, -0.04), (0.28, 0.0), (0.76, 0.02)):
        canvas.oval(x, y, 0.038, 0.038, (250, 230, 90), "flat")
    canvas.oval(0.5, -0.86, 0.09, 0.09, (250, 246, 240))


ON_THE_HEAD = (
    Thing("hat", hat, (-0.32, -0.62, 1.32, 0.14), ("straw", "red", "teal"), words=("sun hat", "fedora", "straw hat")),
    Thing("top hat", top_hat, (-0.18, -0.93, 1.18, 0.13), ("black", "purple")),
    Thing("cap", cap, (-0.06, -0.5, 1.06, 0.28), ("red", "blue", "yellow"), words=("baseball cap",)),
    Thing("beanie", beanie, (-0.08, -0.7, 1.08, 0.19), ("blue", "red", "yellow"), words=("woolly hat", "knitted hat")),
    Thing("crown", crown, (-0.06, -0.65, 1.06, 0.08), ("gold", "silver"), words=("tiara",)),
    Thing("headband", headband, (-0.08, -0.12, 1.08, 0.2), ("red", "blue", "yellow"), words=("head band", "sweatband")),
    Thing("headphones", headphones, (-0.26, -0.38, 1.26, 0.72), ("red", "black", "white"), words=("headset",)),
    Thing("flower in the hair", flower, (0.66, -0.22, 1.24, 0.42), ("pink", "yellow", "white"), words=("flower",)),
    Thing("party hat", party_hat, (0.1, -0.98, 0.9, 0.12), ("blue", "red", "green")),
)
THINGS = (*ON_THE_FACE, *ON_THE_HEAD)
