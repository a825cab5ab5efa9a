"""Whether an edit can be taken back, from its words: for programs whose author does not say.

The rules were written for the shipped programs, which people have classed. `python
tests/benchmarks/reversibility.py` says how often they agree, and what a probe of the embedded editor says.
"""

import re
from collections.abc import Sequence

from .files import toml_beside
from .records import REVERSIBILITY

UNSURE = "unsure"
_COMMON = {"the", "make", "add", "change", "move", "and", "with", "image", "picture", "photo"}
_RULES = toml_beside(__file__, "reversibility.toml")["rule"]


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
    for rule in _RULES:
        if re.search(rule["pattern"], words) if rule["pattern"] else shared_words:
            return rule["reversibility"], rule["reason"]
    return UNSURE, f"no rule covers {words[:60]!r}"
