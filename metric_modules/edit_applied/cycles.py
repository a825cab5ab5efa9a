"""Which steps of a program's cycle make an edit, and which one takes back which."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_FILLERS = frozenset(
    ["a", "again", "an", "and", "back", "from", "in", "it", "of", "on", "out", "put", "the", "this", "to", "undo"]
)

# A sentence that begins with the verb and moves the whole
# picture: "mirror the image", not "add a mirror".
_TRANSFORM = re.compile(
    r"\W*(?:please )?(flip|mirror|rotate|turn)(?: (?:the|this|whole|entire))*(?: (?:image|picture|photo(?:graph)?|it))?"
    r"(?= (?:by|back|again|around|horizontal|vertical|left|top|upside|clockwise|counter|anti|to|once|\d)|[.!,]|$)"
)


class Role(NamedTuple):
    """What one position of a cycle does, in pictures of its round: 0 is the previous return, k what position k gave."""

    kind: str  # forward, undo, or neither
    start: int = 0  # the edit happens between this picture
    end: int = 0  # and this one
    target: int = 0  # what an undo is compared with
    other: tuple[int, int] | None = None  # another edit that is still in the picture; its region is left out


def roles(cycle: Sequence[str], closes: bool) -> tuple[Role, ...]:
    """The role of every position.

    If the program does not close, every instruction adds something. A single instruction
    that closes asks for no lasting change. If their number is odd, or all are flips and
    rotations, the last one takes back all others. Otherwise the second half takes back the
    first: in the same order if the words match better that way, else in reverse order.

    >>> [role.kind for role in roles(["add a hat", "add a dog", "remove the dog", "remove the hat"], closes=True)]
    ['forward', 'forward', 'undo', 'undo']
    """
    length = len(cycle)
    if not closes:
        return tuple(Role("forward", k - 1, k) for k in range(1, length + 1))
    if length == 1:
        return (Role("neither"),)
    geometric = all(asked_transforms(instruction) for instruction in cycle)
    if length % 2 or geometric:
        return (*(Role("forward", k - 1, k) for k in range(1, length)), Role("undo", 0, length - 1))
    half = length // 2
    forwards = tuple(Role("forward", k - 1, k) for k in range(1, half + 1))
    if _in_the_same_order(cycle):
        # Edit k is taken back while the later ones are still there; those before it are already taken back.
        return forwards + tuple(
            Role("undo", k - 1, k, target=0, other=(k, half) if k < half else None) for k in range(1, half + 1)
        )
    return forwards + tuple(Role("undo", k - 1, k, target=k - 1) for k in range(half, 0, -1))


def _in_the_same_order(cycle: Sequence[str]) -> bool:
    half = len(cycle) // 2
    words = [set(re.findall(r"\w+", instruction.lower())) - _FILLERS for instruction in cycle]
    forwards, undos = words[:half], words[half:]
    same = sum(len(a & b) for a, b in zip(forwards, undos, strict=True))
    reverse = sum(len(a & b) for a, b in zip(forwards, undos[::-1], strict=True))
    return same > reverse


def asked_transforms(instruction: str) -> frozenset[str]:
    """The transforms that an instruction asks for; empty if it asks for something else.

    >>> sorted(asked_transforms("Rotate the image by 90 degrees."))
    ['rotate 270', 'rotate 90']
    """
    text = instruction.lower()
    verb = _TRANSFORM.match(text)
    if verb is None:
        return frozenset()
    angle = re.search(r"\b(90|180|270)\b|\bquarter\b|\bhalf\b", text)
    if verb[1] in ("rotate", "turn"):
        if "upside down" in text or (angle and angle[0] in ("180", "half")):
            return frozenset({"rotate 180"})
        if angle is None:
            return frozenset()
        turns = {"rotate 270", "rotate 90"}
        if "clockwise" not in text and not re.search(r"\bto the (left|right)\b", text):
            return frozenset(turns)
        is_left_turn = bool(re.search(r"counter|anti-?clockwise|to the left", text))
        return frozenset({"rotate 270" if is_left_turn != (angle[0] == "270") else "rotate 90"})
    if "upside down" in text or "vertical" in text or "top to bottom" in text:
        return frozenset({"flip vertically"})
    return frozenset({"flip horizontally"})
