"""From the words of an instruction to what is wanted; what is not understood is None, never a guess."""

import re
from dataclasses import dataclass

from .things import COLOURS, every

VERBS = {
    "remove": r"remove|take (?:away|off|out)|erase|delete|get rid of|clear away|undo|without",
    "add": r"add|put|place|draw|give|insert|include|paint in",
}
SIDES = ("left", "right", "middle", "centre", "center")
TURNS = {"90": 1, "180": 2, "270": 3, "quarter": 1, "half": 2}


@dataclass(frozen=True)
class Request:
    """One wish. `verb` is add, remove, flip, turn, replicate or the name of a tone."""

    verb: str
    thing: str = ""
    colour: str = ""
    side: str = ""
    amount: int = 0  # quarter turns clockwise


def understand(instruction: str) -> Request | None:
    """The wish in an instruction, or None."""
    text = re.sub(r"[^a-z0-9°%' -]+", " ", instruction.lower().replace("-", " "))
    text = re.sub(r"\s+", " ", text).strip()
    return geometry(text) or change(text)


def geometry(text: str) -> Request | None:
    """Flips and turns."""
    if re.search(r"\b(flip|mirror)\w*\b", text):
        way = "vertical" if re.search(r"vertical|upside|top to bottom", text) else "horizontal"
        return Request("flip", side=way)
    if re.search(r"\b(rotate|turn)\b", text):
        found = next((quarters for word, quarters in TURNS.items() if re.search(rf"\b{word}", text)), None)
        back = re.search(r"counter ?clockwise|anti ?clockwise|to the left", text)
        if found and (back or found == 2 or re.search(r"clockwise|to the right", text)):
            return Request("turn", amount=(-found if back else found) % 4)
    return None


def change(text: str) -> Request | None:
    """Additions and removals of a thing that can be drawn."""
    verb = next((name for name, pattern in VERBS.items() if re.search(rf"\b(?:{pattern})\b", text)), "")
    named = mentioned(text)
    if not verb or not named:
        return None
    thing, at = named
    before = text[:at].split()[-3:]
    colour = next(
        (word.replace("gray", "grey").replace("golden", "gold") for word in reversed(before) if known(word)), ""
    )
    side = next((word for word in SIDES if re.search(rf"\b{word}\b", text)), "")
    return Request(verb, thing, colour, "middle" if side in ("centre", "center") else side)


def known(word: str) -> bool:
    return word.replace("gray", "grey").replace("golden", "gold") in COLOURS


def mentioned(text: str) -> tuple[str, int] | None:
    """The thing that is named first, and where; of two at one place, the longer name."""
    spots = []
    for name, thing in every().items():
        for word in (name, *thing.words):
            for match in re.finditer(rf"\b{word}(?:s|es)?\b", text):
                spots.append((match.start(), -len(word), name))
    if not spots:
        return None
    spots.sort()
    return spots[0][2], spots[0][0]
