"""Reads an instruction into a request; the result is None, never a guess, if it is not understood."""

import re
from dataclasses import dataclass
from functools import lru_cache

from ...files import toml_beside
from .drawing import COLOURS, all_things

_WORDS = toml_beside(__file__, "instructions.toml")
_SIDES = ("left", "right", "middle", "centre", "center")
_TURNS = {"90": 1, "180": 2, "270": 3, "quarter": 1, "half": 2}


@dataclass(frozen=True)
class Request:
    """`verb` is add, remove, recolour, move, flip, turn, copy or tone; a tone is named by `thing`."""

    verb: str
    thing: str = ""
    colour: str = ""
    side: str = ""
    amount: int = 0  # quarter turns clockwise
    to: str = ""  # the new colour


@lru_cache
def parse(instruction: str) -> Request | None:
    text = re.sub(r"#([0-9a-f]{6})\b", _nearest_colour, instruction.lower())
    text = re.sub(r"[^a-z0-9°%' -]+", " ", text.replace("-", " "))
    text = re.sub(r"\s+", " ", text).strip()
    if re.search(rf"\b(?:{_WORDS['copy']})\b", text):
        return Request("copy", "denoise" if re.search(rf"\b(?:{_WORDS['tones']['denoise']})", text) else "")
    tone = _first("tones", text)
    return _geometry(text) or _change(text) or (Request("tone", tone) if tone else None)


def _first(table: str, text: str) -> str:
    """The first of a table's names whose words are in the text; empty if none is."""
    patterns = _WORDS[table].items()
    return next((name for name, pattern in patterns if re.search(rf"\b(?:{pattern})\b", text)), "")


def _nearest_colour(match: re.Match[str]) -> str:
    wanted = bytes.fromhex(match[1])
    return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(wanted, COLOURS[name], strict=True)))


def _geometry(text: str) -> Request | None:
    if re.search(r"\b(flip|mirror)\w*\b", text):
        side = "vertical" if re.search(r"vertical|upside|top to bottom", text) else "horizontal"
        return Request("flip", side=side)
    if re.search(r"\b(rotate|turn)\b", text):
        turns = next((quarters for word, quarters in _TURNS.items() if re.search(rf"\b{word}", text)), None)
        back = re.search(r"counter ?clockwise|anti ?clockwise|to the left", text)
        if turns and (back or turns == 2 or re.search(r"clockwise|to the right", text)):
            return Request("turn", amount=(-turns if back else turns) % 4)
    return None


def _change(text: str) -> Request | None:
    verb = _first("verbs", text)
    named = _first_thing_named(text)
    if not named:
        return None
    thing, at = named
    later = [word for word in text[at:].split() if word in COLOURS]
    to = later[-1] if later and re.match(r"(?:make|change|turn|paint) the\b", text) else ""
    verb = "recolour" if to else "move" if text.startswith("move ") else verb
    if not verb:
        return None
    before = [word.replace("gray", "grey").replace("golden", "gold") for word in text[:at].split()[-3:]]
    colour = next((word for word in reversed(before) if word in COLOURS), "")
    if later and verb == "add" and re.search(r"\bof the colou?r\b", text):
        colour = later[-1]
    side = next((word for word in _SIDES if re.search(rf"\b{word}\b", text)), "")
    return Request(verb, thing, colour, "middle" if side in ("centre", "center") else side, to=to)


def _first_thing_named(text: str) -> tuple[str, int] | None:
    spots = []
    for name, thing in all_things().items():
        for word in (name, *thing.words):
            # "an orange", not "an orange ball".
            alone = r"(?= (?:to|on|from|in|at)\b|$)" if word in COLOURS else ""
            for match in re.finditer(rf"\b{word}(?:s|es)?\b{alone}", text):
                spots.append((match.start(), -len(word), name))
    return next(((name, start) for start, _, name in sorted(spots)), None)
