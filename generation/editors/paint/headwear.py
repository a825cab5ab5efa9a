"""Things worn on the head, in units of the face's box."""

import math

from .drawing import Canvas, Colour, arc, darker, lighter, mirror
from .things import Thing


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


THINGS = (
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
