"""Did a step make its edit, or take one back? The rules, on looks and, if available, CLIP's likenesses."""

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import cv2
import numpy as np

from .._shared.looks import (
    DRIFT,
    VISIBLE,
    Placement,
    compare,
    find_edit,
    fitted,
    laid_back,
    largest,
    outline,
    smooth,
    together,
)
from . import whole_picture
from .cycles import Role, roles
from .whole_picture import asked_transforms, find_transform, residual, square

# docs/verdicts.md tabulates the accuracy of verdicts under other limits: shares of 0.1% to 1%, LEFT from 0.2 to 0.6.
SHARE = 0.003  # of the picture: the smallest area of an edit or of a lost part
SHARE_SMALL = 0.001  # the same for programs marked small: glasses, earrings
LEFT = 0.4  # of an edit: the most that may be left of it
MEANING_LEFT = 0.5  # of the rise in likeness to the words: the most that may be left of it
EXPLAINED = 0.75  # of what is left of an edit: from this share on it is the edit itself, not another loss
NEAR = 2.5  # cells: sigma of the neighbourhood in which what is left is projected onto the edit
NOISE = 4.0  # times the picture's median change; a lost part must exceed this, or it counts as wear

# Structure finds what the colour rule misses, such as a face repainted in the same colours.
ALIKE = 0.6  # correlation of a neighbourhood's structure, below which something else is drawn there
STRANGE = 0.2  # the same limit however worn the whole picture is
WORN = 0.25  # the most that wear takes of the correlation at the median; twenty rounds of it took 0.21
CONTRAST = 3.0  # grey levels (of 100): the least local contrast in which structure can be compared
_BLURS = (0.0, 0.7, 1.2)  # cells: sigmas by which the whole return may be softer than the source
COARSE, WINDOW = 3.0, 1.5  # cells: sigma of what is taken off as shading, and of the neighbourhood

_TONE = re.compile(
    r"\b(monochrome|black and white|gr[ae]y ?scale|colou?ri[sz]e|sepia|night|day(time|light)?|bright(en|er)|"
    r"dark(en|er)|warm(er)?|cool(er)?|contrast|saturat\w+|vivid|lighting|exposure|season|winter|summer|autumn|invert|"
    r"watercolou?r|oil painting|pencil drawing|cartoon|anime|comic|pixel art)\b|"
    r"\bcolou?r the\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\W*(please )?(add|remove|delete|erase|put|place|insert|draw|take|replace|undo)\b", re.IGNORECASE
)

FORWARD = ("applied", "region_share")
UNDO = ("undone", "undo_ratio", "undo_explained")
_PART = ("part_lost", "part_lost_share", "part_redrawn_share", "part_outline")

# Of one step, by name: a number or an outline, or the code of the reason why there is none; spec.py has the sentences.
Judgement = dict[str, Any]
_NO_UNDO = dict.fromkeys(UNDO, "not_an_undo")
_NO_FORWARD = dict.fromkeys(FORWARD, "not_a_forward")


def _asks_for_tone(instruction: str) -> bool:
    """Whether an instruction is about the whole picture's light, colours or style.

    >>> [_asks_for_tone(text) for text in ("make it night", "add a dark red ball")]
    [True, False]
    """
    return bool(_TONE.search(instruction)) and not _THING.match(instruction)


def cosine(picture: np.ndarray, text: np.ndarray) -> float:
    first, second = np.asarray(picture, float), np.asarray(text, float)
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def judge_forward(
    before: np.ndarray,
    after: np.ndarray,
    *,
    asked: Collection[str] = (),
    small: bool = False,
    tone: bool = False,
    meaning: tuple[float, float] | None = None,
) -> Judgement:
    """Whether the edit between two looks happened.

    `asked` names transforms for the exact oracle. With `tone` only the drift of ordinary wear is removed. `meaning` is
    both pictures' likeness to the words, which has to rise.
    """
    if asked:
        transform = find_transform(before, after, asked)
        made = "symmetric" if transform is None else float(transform[0] in asked)
        return {**_NO_UNDO, "applied": made, "region_share": "whole_picture"}
    share = float(find_edit(before, after, limit=DRIFT if tone else None)[1].mean())
    applied = share >= (SHARE_SMALL if small else SHARE) and (meaning is None or meaning[1] > meaning[0])
    return {**_NO_UNDO, "applied": float(applied), "region_share": share}


def _judge_undo(
    before: np.ndarray,
    forward: np.ndarray,
    back: np.ndarray,
    targets: Sequence[np.ndarray],
    *,
    other: tuple[np.ndarray, np.ndarray] | None,
    small: bool,
    tone: bool,
    meaning: tuple[float, float, float] | None,
) -> Judgement:
    """Whether the edit between the looks `before` and `forward`, known to be applied, is gone from `back`.

    `targets` are the looks to come back to: the round's, and the chain's reference, because a lasting loss would look
    undone one round later. The region of another edit, between the looks `other`, is left out. If the edit does not
    explain what is left in the region, it is gone and a part was lost.
    """
    limit = DRIFT if tone else None
    (size, vector), whole_region = find_edit(before, forward, limit=limit)
    region = whole_region
    if other is not None:
        region = region & ~find_edit(*(fitted(cells, before) for cells in other))[1]
        if region.sum() < whole_region.sum() / 2:
            return _NO_FORWARD | dict.fromkeys(UNDO, "overlap")
    certain = region & (size > VISIBLE)  # the faint rim does not show how much of the edit is left
    if certain.mean() >= (SHARE_SMALL if small else SHARE):
        region = certain
    if other is not None or np.array_equal(targets[0], targets[-1]):
        targets = targets[:1]
    changes = [
        compare(fitted(target, before), back, limit=limit) for target in targets
    ]  # on the cells of `before`
    remains = [_change_left(remaining, region, tone) for remaining, _ in changes]
    most = max(remains)
    ratio = most / float(size[region].mean())
    explained = _explained_by(vector, changes[remains.index(most)][1], region)
    gone = ratio <= LEFT or (explained is not None and explained < EXPLAINED)
    if meaning is not None:
        gone = gone and meaning[2] - meaning[0] <= MEANING_LEFT * (meaning[1] - meaning[0])
    lost = {"part_lost": 1.0} if ratio > LEFT and gone else {}
    left = "all_gone" if explained is None else explained
    return {**_NO_FORWARD, "undone": float(gone), "undo_ratio": ratio, "undo_explained": left, **lost}


def _judge_transform_undone(
    before: np.ndarray, forward: np.ndarray, back: np.ndarray, target: np.ndarray
) -> Judgement:
    transform = find_transform(target, back, {"none"})
    if transform is None:
        return _NO_FORWARD | dict.fromkeys(UNDO, "symmetric")
    name, left = transform
    ratio = left / max(residual(square(before), square(forward)), 1e-6)
    return {**_NO_FORWARD, "undone": float(name == "none"), "undo_ratio": ratio, "undo_explained": "whole_picture"}


def _change_left(size: np.ndarray, region: np.ndarray, tone: bool) -> float:
    """The mean change in a region minus the median change outside it, except for a tone."""
    elsewhere = 0.0 if tone or region.all() else float(np.median(size[~region]))
    return max(0.0, float(size[region].mean()) - elsewhere)


def _explained_by(edit: np.ndarray, remaining: np.ndarray, region: np.ndarray) -> float | None:
    """The share of the remaining change that is the edit itself; None if nothing remains.

    The projection is local: if half of a thing remains intact, one factor for the region would explain only half of it.
    """
    gap, made = (change * region[..., None] for change in (remaining, edit))
    total = float((gap * gap).sum())
    if total < 1e-6:
        return None
    local = np.clip(smooth((gap * made).sum(axis=2), NEAR) / (smooth((made * made).sum(axis=2), NEAR) + 1), 0, 1.2)
    return 1 - float(((gap - local[..., None] * made) ** 2).sum()) / total


def judge_part(source: np.ndarray, back: np.ndarray, placement: Placement | None = None) -> Judgement:
    """Whether a part of the look `source` is lost from the look `back`.

    If `placement` says how the whole picture moved, the comparison after undoing that counts if it shows less.
    """
    judged = _part_between(source, back, None)
    if judged["part_lost"] and placement is not None:
        laid = _part_between(source, *laid_back(back, placement))
        return min(judged, laid, key=lambda part: max(part["part_lost_share"], part["part_redrawn_share"]))
    return judged


def _part_between(source: np.ndarray, back: np.ndarray, inside: np.ndarray | None) -> Judgement:
    change, alike = compare(source, back)[0], _likeness(source, back)
    if inside is not None:
        inside = inside[: change.shape[0], : change.shape[1]]
        change, alike = np.where(inside, change, 0), np.where(inside, alike, 1)
    recoloured = largest(change > max(VISIBLE, NOISE * float(np.median(change))))
    unlike = 1 - alike
    usual = float(np.median(unlike[unlike > 0])) if (unlike > 0).any() else 0.0
    worn = NOISE * usual if usual <= WORN else 0.0  # beyond that the whole picture was redrawn
    redrawn = largest(unlike > min(max(1 - ALIKE, worn), 1 - STRANGE))
    shares = {"colour": float(recoloured.mean()), "structure": float(redrawn.mean())}
    rule = max(shares, key=shares.__getitem__)
    lost = shares[rule] >= SHARE
    polygons = outline(recoloured if rule == "colour" else redrawn) if lost else None
    return {
        "part_lost": float(lost),
        "part_lost_share": shares["colour"],
        "part_redrawn_share": shares["structure"],
        "part_outline": {"rule": rule, "polygons": polygons} if lost else "no_part",
    }


def _likeness(source: np.ndarray, returned: np.ndarray) -> np.ndarray:
    """Around every cell, how well the structure of one look correlates with that of the other; 1 if there is none.

    Shading is taken off first. Of the source, unchanged and blurred, the version counts that fits the whole picture
    best; around each cell, the best shift by one cell.
    """
    result = np.ones(source.shape[:2], np.float32)
    source, returned, overlap = together(source, returned)
    light, other = (np.ascontiguousarray(cells[..., 0]) for cells in (source, returned))
    rows, columns = light.shape
    padded = cv2.copyMakeBorder(other - smooth(other, COARSE), 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    shifts = [
        np.ascontiguousarray(padded[down : down + rows, right : right + columns])
        for down in range(3)
        for right in range(3)
    ]
    powers = [smooth(shifted * shifted, WINDOW) + 1 for shifted in shifts]
    best_mean = -2.0
    for blur in _BLURS:
        blurred = smooth(light, blur) if blur else light
        first = blurred - smooth(blurred, COARSE)
        power = smooth(first * first, WINDOW)
        best = np.full(first.shape, -1, np.float32)
        for shifted, strength in zip(shifts, powers, strict=True):
            np.maximum(best, smooth(first * shifted, WINDOW) / np.sqrt((power + 1) * strength), out=best)
        structured = power > CONTRAST**2
        mean = float(best[structured].mean()) if structured.any() else 1.0
        if mean > best_mean:
            best_mean, result[overlap] = mean, np.where(structured, best, 1)
    return result


def judge_step(
    cycle: Sequence[str],
    closes: bool,
    position: int,
    looks: Sequence[np.ndarray | None],
    *,
    source: np.ndarray | None = None,
    small: bool = False,
    meaning: Sequence[float] | None = None,
    placement: Placement | None = None,
    greys: Sequence[np.ndarray | None] = (),
    source_grey: np.ndarray | None = None,
) -> Judgement:
    """Judge one step of a chain from the looks of its round: the previous return, then one for each position so far.

    `source` is the look of the chain's reference, and `placement` where registration puts the return on it. `meaning`
    is the pictures' likeness to the words. Sharpness is judged on `greys`.
    """
    role = roles(cycle, closes)[position - 1]
    verb = whole_picture.asked_sharpness(cycle[role.start : role.end])
    reference = (source_grey if verb else source) if role.target == 0 else None
    edit = _judge_edit(cycle, position, role, greys if verb else looks, reference, verb, small, meaning)
    back = looks[position] if len(looks) > position else None
    if not closes or position < len(cycle):
        reason = "not_a_return"
    elif source is None:
        reason = "no_source"
    elif back is None:
        reason = "round_incomplete"
    else:
        part = judge_part(source, back, placement)
        return edit | part | {"part_lost": max(part["part_lost"], edit.get("part_lost", 0.0))}
    return dict.fromkeys(_PART, reason) | edit


def _judge_edit(
    cycle: Sequence[str],
    position: int,
    role: Role,
    round_pictures: Sequence[np.ndarray | None],
    source: np.ndarray | None,
    verb: str | None,
    small: bool,
    meaning: Sequence[float] | None,
) -> Judgement:
    """Whether a step made its edit, or took one back.

    `source` is the reference if a return should also come back to that. With a `verb` of sharpness the pictures are
    grey, otherwise looks.
    """
    if role.kind == "neither":
        return dict.fromkeys(FORWARD + UNDO, "no_change")
    pictures = [picture for picture in round_pictures[: position + 1] if picture is not None]
    if len(pictures) <= position:
        return dict.fromkeys(FORWARD + UNDO, "round_incomplete")
    before, forward, back, target = (pictures[place] for place in (role.start, role.end, position, role.target))
    targets = [target] if source is None else [target, source]
    if verb:
        sharpness = whole_picture.sharpness_edit(verb, before, forward, targets, back)
        return (
            _judge_whole_picture(role.kind, *sharpness)
            if sharpness
            else dict.fromkeys(FORWARD + UNDO, "no_detail")
        )
    words = None  # how near the three pictures are to the words for what the forward picture shows
    # With another edit in the picture, or in an odd cycle, the words describe other changes too.
    if meaning and not role.other and not (len(cycle) % 2 and role.start > 0):
        words = meaning[role.start], meaning[role.end], meaning[position]
    steps = pictures[role.start : role.end + 1]
    other = (pictures[role.other[0]], pictures[role.other[1]]) if role.other else None
    return _judge_looks(cycle[role.start : role.end], role.kind, steps, targets, back, other, small, words)


def _judge_looks(
    instructions: Sequence[str],
    kind: str,
    looks: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    back: np.ndarray,
    other: tuple[np.ndarray, np.ndarray] | None,
    small: bool,
    words: tuple[float, float, float] | None,
) -> Judgement:
    before, forward = looks[0], looks[-1]
    transforms = [asked_transforms(instruction) for instruction in instructions]
    tone = any(_asks_for_tone(instruction) for instruction in instructions)
    if all(transforms):  # composed transforms are not looked for: each of them has to be made
        steps = [
            judge_forward(*step, asked=names) for step, names in zip(pairwise(looks), transforms, strict=True)
        ]
        edit = min(steps, key=lambda step: -1 if step["applied"] == "symmetric" else step["applied"])
    else:
        edit = judge_forward(before, forward, small=small, tone=tone, meaning=words and words[:2])
        what = whole_picture.asked_colour(instructions[0])
        if (
            what and edit["applied"] == 0 and (words is None or words[1] > words[0])
        ):  # too faint for `judge_forward`
            colours = whole_picture.colour_edit(what, before, forward, targets, back)
            return _judge_whole_picture(kind, *colours) if colours else dict.fromkeys(FORWARD + UNDO, "already_so")
    if kind == "forward":
        return edit
    if edit["applied"] != 1:
        return _NO_FORWARD | dict.fromkeys(UNDO, edit["applied"] or "not_applied")
    if all(transforms):
        return _judge_transform_undone(before, forward, back, targets[0])
    return _judge_undo(before, forward, back, targets, other=other, small=small, tone=tone, meaning=words)


def _judge_whole_picture(kind: str, is_made: bool, share_left: Callable[[], float]) -> Judgement:
    if kind == "forward":
        return {**_NO_UNDO, "applied": float(is_made), "region_share": "whole_picture"}
    if not is_made:
        return _NO_FORWARD | dict.fromkeys(UNDO, "not_applied")
    ratio = share_left()
    return {**_NO_FORWARD, "undone": float(ratio <= LEFT), "undo_ratio": ratio, "undo_explained": "whole_picture"}
