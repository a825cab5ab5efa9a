"""An editor for the suite `requests`: it draws what `paint` does not understand, and takes it back from memory."""

import cv2
import numpy as np
from convergebench.generation import pictures, programs
from convergebench.generation.editors import Choice
from convergebench.generation.records import Answer
from PIL import Image

RED, BLUE = (214, 39, 40), (31, 119, 180)


def ball(colour, right=0.5):
    def draw(shown):
        height, width = shown.shape[:2]
        middle = round(right * width), round(0.6 * height)
        return cv2.circle(shown.copy(), middle, min(height, width) // 8, colour, -1, cv2.LINE_AA)

    return draw


def word(text):
    def draw(shown):
        height, width = shown.shape[:2]
        place, scale, white = (width // 10, height * 3 // 5), width / 190, (245, 245, 245)
        return cv2.putText(shown.copy(), text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, white, max(3, width // 40))

    return draw


def tinted(share):
    return lambda shown: np.rint(shown * (1 - share) + share * np.array((40, 170, 60))).astype(np.uint8)


def before_a_wall(shown):
    height, width = shown.shape[:2]
    kept = np.zeros((height, width), np.uint8)
    cv2.ellipse(kept, (width // 2, height * 3 // 5), (width // 4, height // 3), 0, 0, 360, 1, -1)
    return np.where(kept[..., None] > 0, shown, np.array((60, 100, 190), np.uint8))


def washed(shown):
    return np.rint(cv2.pyrMeanShiftFiltering(shown, 8, 40) * 0.65 + 0.35 * 255).astype(np.uint8)


# What each edit of a program makes of the round's first picture.
EDITS = {
    "recolour-by-name": (ball(RED), ball(BLUE)),
    "recolour-by-hex": (ball(RED), ball(BLUE)),
    "ball-by-degrees": (ball(RED, 0.75), ball(RED, 0.6)),
    "greener-by-degrees": (tinted(0.15), tinted(0.3)),
    "open-and-closed": (word("OPEN"), word("CLOSED")),
    "background-and-back": (before_a_wall,),
    "watercolour-and-back": (washed,),
}
ASKED = {text: (name, place) for name in EDITS for place, text in enumerate(programs.get(name).cycle)}


class Editor:
    """Draws each edit on the first picture, and on the way back gives what stood there before."""

    role, embedded, remembers = "baseline", True, True

    def edit(self, image, instruction, seed, history):
        name, place = ASKED[instruction]
        edits = EDITS[name]
        made = place + 1 if place < len(edits) else 2 * len(edits) - 1 - place  # edits that stand after this step
        shown = np.asarray(pictures.decode(history[0].data).convert("RGB"))
        return Answer(pictures.encode_png(Image.fromarray(edits[made - 1](shown) if made else shown)))


def choice():
    return Choice("by-hand", "by-hand", "by-hand", {"seed": "per-step"}, Editor())
