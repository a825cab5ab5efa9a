"""Did a step make its edit, or take one back? The rules, on looks and, if available, CLIP's likenesses."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any

import cv2
import numpy as np
from PIL import ImageColor

from .._shared.looks import (
    DRIFT,
    VISIBLE,
    Change,
    Placement,
    Seen,
    colour_shift,
    compare,
    find_edit,
    fitted,
    laid_back,
    smooth,
)
from . import whole_picture
from .cycles import Role, asked_transforms, roles
from .whole_picture import TOWARDS, find_transform, grey, transform_undone

# docs/verdicts.md tabulates the accuracy of verdicts under
# other limits: shares of 0.1% to 1%, LEFT from 0.2 to 0.6.
SHARE = 0.003  # of the picture: the smallest area of an edit
SHARE_SMALL = 0.001  # the same for programs marked small: glasses, earrings
LEFT = 0.4  # of an edit: the most that may be left of it
EXPLAINED = 0.75  # if this share of the remaining change is the edit itself, the edit was not undone
NEAR = 2.5  # cells: sigma of the neighbourhood in which the remaining change is projected onto the edit

# Hues that PIL knows as names; "a black and white cat" asks for none of them.
_COLOUR = re.compile(r"\b(red|orange|yellow|green|blue|purple|pink|gold)(?:en)?\b", re.IGNORECASE)
_ADDS = re.compile(r"\W*(please )?(add|put|place|insert|draw)\b", re.IGNORECASE)

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

FORWARD = ("changed", "as_asked", "asked_by", "region_share")
UNDO = ("undone", "undo_ratio", "undo_explained")

# Of one step, by name: a number or what checked the words; or the
# code of the reason why there is none, whose sentence is in spec.py.
Judgement = dict[str, Any]


def _asks_for_tone(instruction: str) -> bool:
    """Whether an instruction is about the whole picture's light, colours or style.

    >>> [_asks_for_tone(text) for text in ("make it night", "add a dark red ball")]
    [True, False]
    """
    return bool(_TONE.search(instruction)) and not _THING.match(instruction)


def cosine(picture: np.ndarray, text: np.ndarray) -> float:
    first, second = np.asarray(picture, float), np.asarray(text, float)
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def _forward(changed: bool, share: float | str, checks: Mapping[str, bool]) -> Judgement:
    """`checks` has what each check of the words found. A colour alone cannot show that they were followed."""
    answers = {name: bool(changed and answer) for name, answer in checks.items()}
    verdict: float | str = "words_not_checked"
    if not all(answers.values()) or answers.keys() - {"colour"}:
        verdict = float(all(answers.values()))
    forward = float(changed), verdict, answers or "words_not_checked", share
    return dict(zip(FORWARD, forward, strict=True))


def _judge_forward(
    before: np.ndarray,
    after: np.ndarray,
    *,
    asked: Collection[str] = (),
    small: bool = False,
    tone: bool = False,
    meaning: tuple[float, float] | None = None,
    colour: np.ndarray | None = None,
) -> Judgement:
    """Whether something changed between two looks, and whether it was what the words ask for, if they can be checked.

    `asked` names transforms for the exact oracle. With `tone` only the drift
    of ordinary wear is removed. `meaning` is both pictures' likeness to the
    words, which has to rise. `colour` is the one that the words name, in Lab.
    """
    if asked:
        transform = find_transform(before, after, asked)
        if transform is None:
            return dict.fromkeys(FORWARD, "symmetric")
        return _forward(transform[0] != "none", "whole_picture", {"transform": transform[0] in asked})
    (size, vector, _), region = find_edit(before, after, limit=DRIFT if tone else None)
    share = float(region.mean())
    checks = {} if meaning is None else {"clip": meaning[1] > meaning[0]}
    if colour is not None:
        checks["colour"] = _moved_towards(colour, before, vector, region & (size > VISIBLE))
    return _forward(share >= (SHARE_SMALL if small else SHARE), share, checks)


def _named_colour(instructions: Sequence[str]) -> np.ndarray | None:
    """The one colour that the words give to a thing that is added, in Lab; None if there is none, or more.

    >>> _named_colour(["add a red ball"]).round().tolist(), _named_colour(["make the red ball blue"])
    ([53.0, 80.0, 67.0], None)
    """
    names = {name.lower() for text in instructions for name in _COLOUR.findall(text)}
    if len(names) != 1 or not all(map(_ADDS.match, instructions)):
        return None
    rgb = np.array([[ImageColor.getrgb(names.pop())]], np.float32) / 255
    return cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)[0, 0]


def _moved_towards(colour: np.ndarray, before: np.ndarray, change: np.ndarray, region: np.ndarray) -> bool:
    """Whether enough of a region took on a colour: real editors redraw much more than what they add."""
    way, moved = colour - before[region], change[region]
    lengths = np.linalg.norm(way, axis=1) * np.linalg.norm(moved, axis=1)
    return float(((way * moved).sum(axis=1) >= TOWARDS * lengths).sum()) >= SHARE_SMALL * region.size


def _judge_undo(
    before: np.ndarray,
    forward: np.ndarray,
    back: np.ndarray,
    targets: Sequence[np.ndarray],
    *,
    other: tuple[np.ndarray, np.ndarray] | None,
    small: bool,
    tone: bool,
    placement: Placement | None,
) -> Judgement:
    """Whether the edit between the looks `before` and `forward`, which differ, is gone from `back`.

    `targets` are the looks to come back to: the round's, and the chain's reference,
    because a lasting loss would look undone one round later. If `placement` says how the
    whole picture moved, the comparison after undoing that counts if it leaves less. The
    region of another edit, between the looks `other`, is left out. If the region still
    differs and the edit does not explain it, the rule cannot say what it sees there.
    """
    limit = DRIFT if tone else None
    (size, vector, _), whole_region = find_edit(before, forward, limit=limit)
    region = whole_region
    if other is not None:
        region = region & ~find_edit(*(fitted(cells, before) for cells in other))[1]
        if region.sum() < whole_region.sum() / 2:
            return dict.fromkeys(UNDO, "overlap")
    certain = region & (size > VISIBLE)  # the faint rim does not show how much of the edit is left
    if certain.mean() >= (SHARE_SMALL if small else SHARE):
        region = certain
    if other is not None or np.array_equal(targets[0], targets[-1]):
        targets = targets[:1]
    backs = [back] if placement is None else [back, laid_back(back, placement)]
    left = [
        min(
            (_left(compare(fitted(target, before), shown, limit=limit), region, tone) for shown in backs),
            key=itemgetter(0),
        )
        for target in targets  # on the cells of `before`
    ]
    most, remaining = max(left, key=itemgetter(0))
    ratio = most / float(size[region].mean())
    explained = _explained_by(vector, remaining, region)
    gone: float | str = float(ratio <= LEFT)
    if not gone and explained is not None and explained < EXPLAINED:
        gone = "something_else"
    return {"undone": gone, "undo_ratio": ratio, "undo_explained": "all_gone" if explained is None else explained}


def _left(change: Change, region: np.ndarray, tone: bool) -> tuple[float, np.ndarray]:
    """The mean change in a region minus the median change outside it, except for a tone; and the change itself."""
    size, vector, _ = change
    elsewhere = 0.0 if tone or region.all() else float(np.median(size[~region]))
    return max(0.0, float(size[region].mean()) - elsewhere), vector


def _explained_by(edit: np.ndarray, remaining: np.ndarray, region: np.ndarray) -> float | None:
    """The share of the remaining change that is the edit itself; None if nothing remains.

    The projection is local: if half of a thing remains intact,
    one factor for the region would explain only half of it.
    """
    gap, made = (change * region[..., None] for change in (remaining, edit))
    total = float((gap * gap).sum())
    if total < 1e-6:
        return None
    local = np.clip(
        smooth((gap * made).sum(axis=2), NEAR) / (smooth((made * made).sum(axis=2), NEAR) + 1), 0, 1.2
    )
    return 1 - float(((gap - local[..., None] * made) ** 2).sum()) / total


def judge_step(
    cycle: Sequence[str],
    closes: bool,
    position: int,
    round: Sequence[Seen | None],
    *,
    source: Seen | None = None,
    small: bool = False,
    meaning: Sequence[float] | None = None,
    placement: Placement | None = None,
) -> Judgement:
    """Judge one step of a chain from the pictures of its round: the previous return, then one for each position so far.

    `source` is the chain's reference, and `placement` where registration
    puts the return on it. `meaning` is the pictures' likeness to the words.
    """
    role = roles(cycle, closes)[position - 1]
    instructions = cycle[role.start : role.end]
    verb = whole_picture.asked_sharpness(instructions)
    pictures = [grey(pixels) if verb else look for pixels, look in filter(None, round[: position + 1])]
    if role.kind == "neither":
        edit = dict.fromkeys(FORWARD + UNDO, "no_change")
    elif len(pictures) <= position:
        edit = dict.fromkeys(FORWARD + UNDO, "round_incomplete")
    else:
        before, forward, back, target = (pictures[n] for n in (role.start, role.end, position, role.target))
        sources = [grey(source[0]) if verb else source[1]] if source and role.target == 0 else []
        targets = [target, *sources]
        if verb:
            sharpness = whole_picture.sharpness_edit(verb, before, forward, targets, back)
            edit = _judge_whole_picture(role.kind, sharpness, "no_detail")
        else:
            # With another edit in the picture, or in an odd cycle, the words describe other changes too.
            is_alone = not role.other and not (len(cycle) % 2 and role.start > 0)
            words = (meaning[role.start], meaning[role.end]) if meaning and is_alone else None
            edit = _judge_looks(instructions, role, pictures, targets, small, words, placement)
    returned = round[position] if len(round) > position else None
    shift: float | str = "round_incomplete"
    if not closes or position < len(cycle):
        shift = "not_a_return"
    elif source is None:
        shift = "no_source"
    elif returned:
        shift = colour_shift(source[1], returned[1])
    other = (
        dict.fromkeys(UNDO, "not_an_undo") if role.kind == "forward" else dict.fromkeys(FORWARD, "not_a_forward")
    )
    return other | edit | {"colour_shift": shift}


def _judge_looks(
    instructions: Sequence[str],
    role: Role,
    pictures: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    small: bool,
    words: tuple[float, float] | None,
    placement: Placement | None,
) -> Judgement:
    """`words` says how near the pictures before and after are to the words for what the forward picture shows."""
    before, forward, back = pictures[role.start], pictures[role.end], pictures[-1]
    transforms = [asked_transforms(instruction) for instruction in instructions]
    tone = any(_asks_for_tone(instruction) for instruction in instructions)
    if all(transforms):  # composed transforms are not looked for: each of them has to be made
        between = pairwise(pictures[role.start : role.end + 1])
        steps = [_judge_forward(*step, asked=names) for step, names in zip(between, transforms, strict=True)]
        edit = min(steps, key=lambda step: -1 if step["as_asked"] == "symmetric" else step["as_asked"])
    else:
        named = _named_colour(instructions)
        edit = _judge_forward(before, forward, small=small, tone=tone, meaning=words, colour=named)
        if what := whole_picture.asked_colour(instructions[0]):
            colours = whole_picture.colour_edit(what, before, forward, targets, back)
            if not edit["changed"]:  # too faint for `_judge_forward`
                return _judge_whole_picture(role.kind, colours, "already_so")
            if colours:
                checks = edit["asked_by"] if isinstance(edit["asked_by"], dict) else {}
                edit = _forward(True, edit["region_share"], {**checks, "whole_picture": colours[0]})
    if role.kind == "forward":
        return edit
    made = edit["as_asked"] if all(transforms) else edit["changed"]
    if made != 1:
        return dict.fromkeys(UNDO, made or "not_changed")
    if all(transforms):
        undone = transform_undone(before, forward, back, targets[0])
        if undone is None:
            return dict.fromkeys(UNDO, "symmetric")
        return {"undone": float(undone[0]), "undo_ratio": undone[1], "undo_explained": "whole_picture"}
    other = (pictures[role.other[0]], pictures[role.other[1]]) if role.other else None
    return _judge_undo(before, forward, back, targets, other=other, small=small, tone=tone, placement=placement)


def _judge_whole_picture(kind: str, edit: tuple[bool, Callable[[], float]] | None, missing: str) -> Judgement:
    """`missing` is the reason if there is no edit that could be judged."""
    if edit is None:
        return dict.fromkeys(FORWARD + UNDO, missing)
    is_made, share_left = edit
    if kind == "forward":
        return _forward(is_made, "whole_picture", {"whole_picture": is_made})
    if not is_made:
        return dict.fromkeys(UNDO, "not_changed")
    ratio = share_left()
    return {"undone": float(ratio <= LEFT), "undo_ratio": ratio, "undo_explained": "whole_picture"}
