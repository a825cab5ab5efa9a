"""Does a picture come nearer to what was asked for than to other things that could have been asked for?"""

from collections.abc import Callable

import numpy as np

# What the programs that add a thing show; their suites have their own selection of them.
THINGS = (
    *("glasses", "sunglasses", "a hat", "earrings", "a gold necklace", "a red scarf", "a red bow tie", "headphones"),
    *("a gold crown", "a white flower in the hair", "a chair on the left", "a red ball"),
    *("a potted plant on the right", "a floor lamp on the right", "a wooden bench", "a yellow umbrella"),
    *("a bicycle on the left", "a brown suitcase", "a closed blue book", "a white cup on the right"),
    "a green apple on the left",
)


def rises(before: np.ndarray, forward: np.ndarray, shows: str, embed: Callable[[str], np.ndarray]) -> dict[str, float]:
    """By how much the likeness to what was asked, and to each thing, rose from one embedding to the other."""
    step = forward / np.linalg.norm(forward) - before / np.linalg.norm(before)
    words = {thing: embed(thing) for thing in dict.fromkeys((shows, *THINGS))}
    return {thing: round(float(step @ row / np.linalg.norm(row)), 5) for thing, row in words.items()}
