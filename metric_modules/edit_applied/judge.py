"""Did a step make its edit, or take one back? The rules, on looks; CLIP's embeddings join in where they are given."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from .cycles import roles
from .looks import difference, find_edit
from .transforms import asked_transforms, find_transform, residual, square

SHARE = 0.003  # of the picture: the least that an edit covers
SHARE_SMALL = 0.001  # the same for programs marked small: glasses, earrings
ABOUT_SHARPNESS = re.compile(r"\W*(please )?(un)?(blur|sharpen)\b", re.IGNORECASE)
UNDONE = 0.5  # of an edit: the most that may be left of it

FORWARD = ("applied", "region_share")
UNDO = ("undone", "undo_ratio")

# Why there is no judgement; spec.py has the sentences.
NO_CHANGE = "no_change"
NOT_AN_UNDO = "not_an_undo"
NOT_A_FORWARD = "not_a_forward"
NOT_APPLIED = "not_applied"
ROUND_INCOMPLETE = "round_incomplete"
SYMMETRIC = "symmetric"
WHOLE_PICTURE = "whole_picture"
SHARPNESS = "sharpness"
OVERLAP = "overlap"


class Judgement(NamedTuple):
    """What one step did; every null has its reason's code under the same name."""

    applied: float | None = None
    region_share: float | None = None
    undone: float | None = None
    undo_ratio: float | None = None
    reasons: dict[str, str] = {}  # noqa: RUF012 - a tuple's default, replaced and never changed


def nothing(reason: str) -> Judgement:
    """All four null, for one reason."""
    return Judgement(reasons=dict.fromkeys(FORWARD + UNDO, reason))


def cosine(picture: np.ndarray, text: np.ndarray) -> float:
    """The cosine between a picture's embedding and that of the words for what the forward picture shows.

    >>> cosine(np.array([0.0, 3.0]), np.array([0.0, 2.0]))
    1.0
    """
    first, second = np.asarray(picture, float), np.asarray(text, float)
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def judge_forward(
    before: np.ndarray,
    after: np.ndarray,
    *,
    asked: Collection[str] = (),
    small: bool = False,
    meaning: tuple[float, float] | None = None,
) -> Judgement:
    """Whether the edit between two looks happened.

    `asked` names transforms for the exact oracle, `small` marks programs whose change covers little, and `meaning`
    holds both pictures' likeness to the words for what the second should show: it has to rise.
    """
    reasons = dict.fromkeys(UNDO, NOT_AN_UNDO)
    if asked:
        seen = find_transform(before, after, asked)
        reasons["region_share"] = WHOLE_PICTURE
        if seen is None:
            return Judgement(reasons=reasons | {"applied": SYMMETRIC})
        return Judgement(applied=float(seen.name in asked), reasons=reasons)
    share = find_edit(before, after).share
    applied = share >= (SHARE_SMALL if small else SHARE) and (meaning is None or meaning[1] > meaning[0])
    return Judgement(applied=float(applied), region_share=share, reasons=reasons)


def judge_undo(
    before: np.ndarray,
    forward: np.ndarray,
    back: np.ndarray,
    *,
    target: np.ndarray | None = None,
    other: tuple[np.ndarray, np.ndarray] | None = None,
    geometric: bool = False,
    meaning: tuple[float, float, float] | None = None,
) -> Judgement:
    """Whether the edit between the looks `before` and `forward`, known to be applied, is gone from `back`.

    `target` is the look to come back to where it is not `before`; the region of the edit between the looks `other`
    is left out. `meaning` holds the three pictures' likeness to the words for what the forward one should show: of its
    rise, half at most may be left.
    """
    target = before if target is None else target
    reasons = dict.fromkeys(FORWARD, NOT_A_FORWARD)
    if geometric:
        seen = find_transform(target, back, {"none"})
        if seen is None:
            return Judgement(reasons=reasons | dict.fromkeys(UNDO, SYMMETRIC))
        ratio = seen.residual / max(residual(square(before), square(forward)), 1e-6)
        return Judgement(undone=float(seen.name == "none"), undo_ratio=ratio, reasons=reasons)
    edit = find_edit(before, forward)
    region = edit.region
    if other is not None:
        region = region & ~find_edit(*other).region
        if region.sum() < edit.region.sum() / 2:
            return Judgement(reasons=reasons | dict.fromkeys(UNDO, OVERLAP))
    ratio = float(difference(target, back)[region].mean() / edit.change[region].mean())
    gone = ratio <= UNDONE
    if meaning is not None:
        gone = gone and meaning[2] - meaning[0] <= UNDONE * (meaning[1] - meaning[0])
    return Judgement(undone=float(gone), undo_ratio=ratio, reasons=reasons)


def judge_step(
    cycle: Sequence[str],
    closes: bool,
    position: int,
    looks: Sequence[np.ndarray | None],
    *,
    small: bool = False,
    meaning: Sequence[float] | None = None,
) -> Judgement:
    """Judge one step of a chain from the looks of its round: the previous return, then one for each position so far.

    `meaning` holds the same pictures' likeness to the words for what the program's forward picture shows; flips and
    rotations do without.
    """
    if not 1 <= position <= len(cycle):
        raise ValueError(f"position is {position}; the cycle has positions 1 to {len(cycle)}")
    kind, start, end, target, other = roles(cycle, closes)[position - 1]
    if kind == "neither":
        return nothing(NO_CHANGE)
    pictures = [picture for picture in looks[: position + 1] if picture is not None]
    if len(pictures) <= position:
        return nothing(ROUND_INCOMPLETE)
    if any(ABOUT_SHARPNESS.match(instruction) for instruction in cycle[start:end]):
        return nothing(SHARPNESS)
    if other or (len(cycle) % 2 and start > 0):
        meaning = None  # the program's words tell of the other edit too, or of the first picture only
    asked = [asked_transforms(instruction) for instruction in cycle]
    geometric = all(asked[start:end])
    if geometric:  # composed transforms are not looked for: each of them has to be made
        steps = [judge_forward(pictures[k], pictures[k + 1], asked=asked[k]) for k in range(start, end)]
        forward = min(steps, key=lambda step: -1 if step.applied is None else step.applied)
    else:
        forward = judge_forward(
            pictures[start], pictures[end], small=small, meaning=(meaning[start], meaning[end]) if meaning else None
        )
    if kind == "forward":
        return forward
    if not forward.applied:
        reason = SYMMETRIC if forward.applied is None else NOT_APPLIED
        return Judgement(reasons=dict.fromkeys(FORWARD, NOT_A_FORWARD) | dict.fromkeys(UNDO, reason))
    return judge_undo(
        pictures[start],
        pictures[end],
        pictures[position],
        target=pictures[target],
        other=other and (pictures[other[0]], pictures[other[1]]),
        geometric=geometric,
        meaning=(meaning[start], meaning[end], meaning[position]) if meaning else None,
    )
