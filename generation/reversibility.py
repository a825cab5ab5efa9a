"""Whether an edit can be taken back, from its words: for programs whose author does not say.

The rules were written for the shipped programs, which people have classed. `python tests/benchmarks/reversibility.py`
says how often they agree, and what a probe of the embedded editor says.
"""

import re
from collections.abc import Sequence

from .records import REVERSIBILITY

UNSURE = "unsure"
_COMMON = {"the", "make", "add", "change", "move", "and", "with", "image", "picture", "photo"}
_ADDS = r"^(?:please )?(?:add|put|place|draw|insert|include|write|give)\b(?!.*\b(?:smile|expression)\b)"

# Patterns, each with one of REVERSIBILITY and the reason. The first that matches an instruction decides; "" means
# a thing that the program itself has added.
_RULES = (
    (r"\b(?:replica|identical copy|recreate this image exactly|reproduce|no alterations)\b",
     ("exact", "asks for a copy")),
    (r"\b(?:flip|mirror|rotate)\b", ("exact", "pixels move, none is lost")),
    (r"^(?:sharpen|restore|enhance|improve|upscale|deblur|denoise|colou?ri[sz]e)\b",
     ("invents information", "asks for detail that the picture does not have")),
    (r"\b(?:blur|pixelate|crop|compress)|\b(?:entire|whole) (?:image|picture) (?:black|white)",
     ("destroys information", "removes detail everywhere")),
    (r"\b(?:replace|change|remove) the (?:\w+ )?background|\bin the style of\b"
     r"|\binto an? .*(?:painting|sketch|drawing|cartoon|style)",
     ("destroys information", "what it redraws is not in the picture any more")),
    (_ADDS, ("clear", "a thing that was not there before; what it hides has to be drawn again")),
    ("", ("clear", "changes a thing that the program itself has added")),
    (r"\b(?:monochrome|gr[ea]y ?scale|black and white|night|day|season|winter|summer|smile|expression|tint)\b"
     r"|\b(?:warmer|cooler|greener|brighter|darker|younger|older|simplif\w+|patches|edges|move|resize|larger|smaller)\b"
     r"|^(?:make|turn|paint|colou?r|dye|change) .*"
     r"\b(?:red|orange|yellow|green|blue|purple|pink|brown|black|white|blonde?)\b",
     ("partial", "how it was before has to be guessed")),
    (r"^(?:please )?(?:remove|erase|delete|clear|take (?:away|off|out)|get rid of)\b",
     ("destroys information", "what it removes is not in the picture any more")),
)  # fmt: skip


def classify(cycle: Sequence[str], closes: bool = True) -> tuple[str, str]:
    """The worst of a program's edits, and the reason; the instructions that take them back are not judged.

    >>> classify(["add a hat", "remove the hat"])[0], classify(["remove the dog", "add the dog back"])[0]
    ('clear', 'destroys information')
    >>> classify(["make it nicer", "undo that"])[0]
    'unsure'
    """
    edits = cycle[: len(cycle) if not closes else max(1, len(cycle) - len(cycle) // 2)]
    verdicts = [_judge(words.lower(), " ".join(edits[:place]).lower()) for place, words in enumerate(edits)]
    return max(verdicts, key=lambda verdict: [*REVERSIBILITY, UNSURE].index(verdict[0]))


def _judge(words: str, before: str) -> tuple[str, str]:
    shared_words = {word for word in re.findall(r"[a-z]{3,}", words) if word in before} - _COMMON
    for pattern, verdict in _RULES:
        if re.search(pattern, words) if pattern else shared_words:
            return verdict
    return UNSURE, f"no rule covers {words[:60]!r}"
