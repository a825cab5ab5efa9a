"""A printed page: letters that have to stay letters."""

import numpy

from .exact import ONE, Whole, across, draw, flat, mix, noise

# Five columns a letter, seven bits a column, the lowest bit at the top.
LETTERS = {
    "A": "7e1111117e", "B": "7f49494936", "C": "3e41414122", "D": "7f4141221c", "E": "7f49494941", "F": "7f09090901",
    "G": "3e4149497a", "H": "7f0808087f", "I": "00417f4100", "J": "2040413f01", "K": "7f08142241", "L": "7f40404040",
    "M": "7f020c027f", "N": "7f0408107f", "O": "3e4141413e", "P": "7f09090906", "Q": "3e4151215e", "R": "7f09192946",
    "S": "4649494931", "T": "01017f0101", "U": "3f4040403f", "V": "1f2040201f", "W": "3f4038403f", "X": "6314081463",
    "Y": "0708700807", "Z": "6151494543", "0": "3e5149453e", "1": "00427f4000", "2": "4261514946", "3": "2141454b31",
    "4": "1814127f10", "5": "2745454539", "6": "3c4a494930", "7": "0171090503", "8": "3649494936", "9": "064949291e",
    ".": "0060600000", ",": "0050300000", "-": "0808080808", ":": "0036360000", "'": "0005030000", " ": "0000000000",
}  # fmt: skip
LINES = (
    "EVERY COPY OF A COPY KEEPS A LITTLE LESS OF WHAT WAS THERE.",
    "A LETTER IS RIGHT OR WRONG: NOTHING IN BETWEEN CAN BE READ.",
    "ASK FOR A CHANGE, TAKE IT BACK, AND LOOK AT WHAT REMAINS.",
    "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG, 1234567890.",
    "PACK MY BOX WITH FIVE DOZEN LIQUOR JUGS, THEN PACK IT AGAIN.",
    "SPHINX OF BLACK QUARTZ, JUDGE MY VOW - ROUND AFTER ROUND.",
    "WHAT COMES BACK UNCHANGED WAS NEVER IN DANGER OF BEING LOST.",
    "HOW VEXINGLY QUICK DAFT ZEBRAS JUMP, 20 TIMES OVER.",
)


def text(width: int, height: int, seed: int) -> Whole:
    """A page of print on paper, from a headline down to small type."""
    x, y = across(width, height)
    paper = flat(width, height, (244, 239, 226))
    paper = paper - (noise(x, y, 3, 3, [seed, 1]) * 14 // ONE + noise(x, y, 220, 220, [seed, 2]) * 9 // ONE)[..., None]
    unit = min(width, height)
    margin, top = unit // 12, unit // 12
    first = int(draw([seed, 3], 1, 0, len(LINES))[0])
    sizes = [unit // 90, unit // 150, unit // 220, unit // 300]
    inks = [(150, 36, 30), (34, 38, 60), (40, 36, 34), (40, 36, 34)]
    row = 0
    while top < height - unit // 12:
        step = 0 if row == 0 else 1 if row < 4 else 2 if row < 12 else 3
        dot = max(1, sizes[step])
        words = " ".join(LINES[(first + 3 * row + more) % len(LINES)] for more in range(6))
        words = words[: max(1, (width - 2 * margin) // (6 * dot))]
        cut = words.rfind(" ")
        ink = line_of(words[:cut] if cut > 0 else words, dot)[: height - top, : width - margin]
        place = paper[top : top + ink.shape[0], margin : margin + ink.shape[1]]
        place[:] = mix(place, inks[step], ink * ONE)
        top += dot * (12 if row in (0, 3, 11) else 10)
        row += 1
    return paper


def line_of(words: str, dot: int) -> Whole:
    """One line of letters as ones and zeros, each of their dots so many pixels wide."""
    columns = [byte for letter in words for byte in [*bytes.fromhex(LETTERS[letter]), 0]]
    dots = numpy.array([[column >> bit & 1 for column in columns] for bit in range(7)], numpy.int64)
    return dots.repeat(dot, 0).repeat(dot, 1)


PAINTERS = (text,)
