"""Did a step make its edit, or take one back? The rules, on looks; CLIP's embeddings join in where they are given."""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._shared.looks import (
    DRIFT,
    VISIBLE,
    Change,
    Placement,
    compare,
    find_edit,
    fitted,
    laid_back,
    largest,
    outline,
    smooth,
)
from . import colours, sharpness
from .cycles import roles
from .structure import ALIKE, STRANGE, WORN, likeness
from .transforms import asked_transforms, find_transform, residual, square

SHARE = 0.003  # of the picture: the least that an edit, or a lost part, covers
SHARE_SMALL = 0.001  # the same for programs marked small: glasses, earrings
LEFT = 0.4  # of an edit: the most that may be left of it
MEANING_LEFT = 0.5  # of the rise in likeness to the words: the most that may be left of it
EXPLAINED = 0.75  # of what is left of an edit: from this share on it is the edit itself, and not another loss
NEAR = 2.5  # cells: sigma of the neighbourhood in which what is left is projected onto the edit
NOISE = 4.0  # times what the picture changed by at the median: what a lost part must exceed, or it is wear

TONE = re.compile(
    r"\b(monochrome|black and white|gr[ae]y ?scale|colou?ri[sz]e|sepia|night|day(time|light)?|bright(en|er)|"
    r"dark(en|er)|warm(er)?|cool(er)?|contrast|saturat\w+|vivid|lighting|exposure|season|winter|summer|autumn|invert|"
    r"watercolou?r|oil painting|pencil drawing|cartoon|anime|comic|pixel art)\b|"
    r"\bcolou?r the\b",
    re.IGNORECASE,
)
THING = re.compile(r"\W*(please )?(add|remove|delete|erase|put|place|insert|draw|take|replace|undo)\b", re.IGNORECASE)

FORWARD = ("applied", "region_share")
UNDO = ("undone", "undo_ratio", "undo_explained")
PART = ("part_lost", "part_lost_share", "part_redrawn_share", "part_outline")

# Why there is no judgement; spec.py has the sentences.
NO_CHANGE = "no_change"
NOT_AN_UNDO = "not_an_undo"
NOT_A_FORWARD = "not_a_forward"
NOT_APPLIED = "not_applied"
ROUND_INCOMPLETE = "round_incomplete"
SYMMETRIC = "symmetric"
WHOLE_PICTURE = "whole_picture"
NO_DETAIL = "no_detail"
OVERLAP = "overlap"
ALREADY_SO = "already_so"
ALL_GONE = "all_gone"
NOT_A_RETURN = "not_a_return"
NO_SOURCE = "no_source"
NO_PART = "no_part"


class Judgement(NamedTuple):
    """What one step did; every null has its reason's code under the same name."""

    applied: float | None = None
    region_share: float | None = None
    undone: float | None = None
    undo_ratio: float | None = None
    undo_explained: float | None = None
    part_lost: float | None = None
    part_lost_share: float | None = None
    part_redrawn_share: float | None = None
    part_outline: dict[str, Any] | None = None  # {"rule": ..., "polygons": points from 0 to 1}, where a part was lost
    reasons: dict[str, str] = {}  # noqa: RUF012 - a tuple's default, replaced and never changed


def nothing(reason: str) -> Judgement:
    """No answer about the edit, for one reason."""
    return Judgement(reasons=dict.fromkeys(FORWARD + UNDO, reason))


def asks_for_tone(instruction: str) -> bool:
    """Whether an instruction is about the whole picture's light, colours or style.

    >>> [asks_for_tone(text) for text in ("make it night", "add a dark red ball")]
    [True, False]
    """
    return bool(TONE.search(instruction)) and not THING.match(instruction)


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
    tone: bool = False,
    meaning: tuple[float, float] | None = None,
) -> Judgement:
    """Whether the edit between two looks happened.

    `asked` names transforms for the exact oracle, `small` marks programs whose change covers little, `tone` those about
    the whole picture's light and colours, where only as much is taken for drift as ordinary wear makes. `meaning` holds
    both pictures' likeness to the words for what the second should show: it has to rise.
    """
    reasons = dict.fromkeys(UNDO, NOT_AN_UNDO)
    if asked:
        seen = find_transform(before, after, asked)
        reasons["region_share"] = WHOLE_PICTURE
        if seen is None:
            return Judgement(reasons=reasons | {"applied": SYMMETRIC})
        return Judgement(applied=float(seen.name in asked), reasons=reasons)
    share = find_edit(before, after, limit=DRIFT if tone else None).share
    applied = share >= (SHARE_SMALL if small else SHARE) and (meaning is None or meaning[1] > meaning[0])
    return Judgement(applied=float(applied), region_share=share, reasons=reasons)


def judge_undo(
    before: np.ndarray,
    forward: np.ndarray,
    back: np.ndarray,
    *,
    target: np.ndarray | None = None,
    source: np.ndarray | None = None,
    other: tuple[np.ndarray, np.ndarray] | None = None,
    geometric: bool = False,
    small: bool = False,
    tone: bool = False,
    meaning: tuple[float, float, float] | None = None,
) -> Judgement:
    """Whether the edit between the looks `before` and `forward`, known to be applied, is gone from `back`.

    `target` is the look to come back to where it is not `before`. Against `source`, the chain's reference, it is judged
    as well: a lasting loss would look undone one round later. The region of the edit between the looks `other` is left
    out. Where more than LEFT of the change is left in the edit's region, it is projected onto the edit: where that does
    not explain it, the edit is gone and a part was lost. `meaning` holds the three pictures' likeness to the words for
    what the forward one should show: of its rise, half at most may be left.
    """
    target = before if target is None else target
    reasons = dict.fromkeys(FORWARD, NOT_A_FORWARD)
    if geometric:
        seen = find_transform(target, back, {"none"})
        if seen is None:
            return Judgement(reasons=reasons | dict.fromkeys(UNDO, SYMMETRIC))
        ratio = seen.residual / max(residual(square(before), square(forward)), 1e-6)
        reasons["undo_explained"] = WHOLE_PICTURE
        return Judgement(undone=float(seen.name == "none"), undo_ratio=ratio, reasons=reasons)
    limit = DRIFT if tone else None
    edit = find_edit(before, forward, limit=limit)
    region = edit.region
    if other is not None:
        region = region & ~find_edit(*(fitted(each, before) for each in other)).region
        if region.sum() < edit.region.sum() / 2:
            return Judgement(reasons=reasons | dict.fromkeys(UNDO, OVERLAP))
    certain = region & (edit.change.size > VISIBLE)  # the faint rim of an edit is no measure of what is left of it
    if certain.mean() >= (SHARE_SMALL if small else SHARE):
        region = certain
    targets = [target] if source is None or np.array_equal(source, target) else [target, source]
    targets = [fitted(each, before) for each in targets]  # the region lies on the cells of `before`
    left = [(change_left(rest, region, tone), rest) for rest in (compare(each, back, limit=limit) for each in targets)]
    most, rest = max(left, key=lambda each: each[0])
    ratio, explained = most / float(edit.change.size[region].mean()), explained_by(edit.change, rest, region)
    if explained is None:
        reasons["undo_explained"] = ALL_GONE
    gone = ratio <= LEFT or (explained is not None and explained < EXPLAINED)
    if meaning is not None:
        gone = gone and meaning[2] - meaning[0] <= MEANING_LEFT * (meaning[1] - meaning[0])
    lost = 1.0 if ratio > LEFT and gone else None
    return Judgement(None, None, float(gone), ratio, explained, part_lost=lost, reasons=reasons)


def change_left(rest: Change, region: np.ndarray, tone: bool) -> float:
    """The mean change that is left in a region, less what the rest of the picture changed by.

    A tone lies everywhere, so that nothing is taken off.
    """
    elsewhere = 0.0 if tone or region.all() else float(np.median(rest.size[~region]))
    return max(0.0, float(rest.size[region].mean()) - elsewhere)


def explained_by(edit: Change, rest: Change, region: np.ndarray) -> float | None:
    """The share of what is left that is the edit itself; None where nothing at all is left.

    It is projected neighbourhood by neighbourhood: where half of a thing is left whole, one factor for the region would
    explain half of it only.
    """
    left, made = (change.vector * region[..., None] for change in (rest, edit))
    whole = float((left * left).sum())
    if whole < 1e-6:
        return None
    local = np.clip(smooth((left * made).sum(axis=2), NEAR) / (smooth((made * made).sum(axis=2), NEAR) + 1), 0, 1.2)
    return 1 - float(((left - local[..., None] * made) ** 2).sum()) / whole


def judge_part(source: np.ndarray, back: np.ndarray, placement: Placement | None = None) -> Judgement:
    """Whether a part of the look `source` is lost from the look `back`.

    Either a connected region has another colour, or something else is drawn in it. Where `placement` says how the whole
    picture moved, it is laid back first if that shows less.
    """
    judged = part_between(source, back, None)
    if judged.part_lost and placement is not None and not placement.still:
        laid = part_between(source, *laid_back(back, placement))
        if max(shares_of(laid)) < max(shares_of(judged)):
            return laid
    return judged


def part_between(source: np.ndarray, back: np.ndarray, inside: np.ndarray | None) -> Judgement:
    """The same for a return that lies where it lies; what is not `inside` is not asked about."""
    change, alike = compare(source, back).size, likeness(source, back)
    if inside is not None:
        inside = inside[: change.shape[0], : change.shape[1]]
        change, alike = np.where(inside, change, 0), np.where(inside, alike, 1)
    recoloured = largest(change > max(VISIBLE, NOISE * float(np.median(change))))
    unlike = 1 - alike
    usual = float(np.median(unlike[unlike > 0])) if (unlike > 0).any() else 0.0
    worn = NOISE * usual if usual <= WORN else 0.0  # beyond that it is no wear: the whole picture was drawn anew
    redrawn = largest(unlike > min(max(1 - ALIKE, worn), 1 - STRANGE))
    shares = {"colour": float(recoloured.mean()), "structure": float(redrawn.mean())}
    rule = max(shares, key=shares.__getitem__)
    lost = shares[rule] >= SHARE
    found = {"rule": rule, "polygons": outline(recoloured if rule == "colour" else redrawn)} if lost else None
    return Judgement(
        part_lost=float(lost),
        part_lost_share=shares["colour"],
        part_redrawn_share=shares["structure"],
        part_outline=found,
        reasons={} if lost else {"part_outline": NO_PART},
    )


def shares_of(judged: Judgement) -> tuple[float, float]:
    return judged.part_lost_share or 0.0, judged.part_redrawn_share or 0.0


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

    `source` is the look of the chain's reference, for returns, and `placement` where an accepted registration puts the
    return on it. `meaning` holds the same pictures' likeness to the words for what the program's forward picture shows;
    flips and rotations do without. Sharpness is judged on the pictures' `greys` and on the reference's.
    """
    if not 1 <= position <= len(cycle):
        raise ValueError(f"position is {position}; the cycle has positions 1 to {len(cycle)}")
    start, end = roles(cycle, closes)[position - 1][1:3]
    verb = sharpness.asks_for_sharpness(cycle[start:end])
    if verb is not None:
        edit = judge_sharpness(cycle, closes, position, greys, verb, source_grey)
    else:
        edit = judge_edit(cycle, closes, position, looks, source=source, small=small, meaning=meaning)
    back = looks[position] if len(looks) > position else None
    if not closes or position < len(cycle):
        reason = NOT_A_RETURN
    elif source is None:
        reason = NO_SOURCE
    elif back is None:
        reason = ROUND_INCOMPLETE
    else:
        part = judge_part(source, back, placement)
        lost = max(part.part_lost or 0.0, edit.part_lost or 0.0)
        reasons = edit.reasons | part.reasons
        return edit._replace(part_lost=lost, **{name: getattr(part, name) for name in PART[1:]}, reasons=reasons)
    missing = PART if edit.part_lost is None else PART[1:]
    return edit._replace(reasons=edit.reasons | dict.fromkeys(missing, reason))


def judge_edit(
    cycle: Sequence[str],
    closes: bool,
    position: int,
    looks: Sequence[np.ndarray | None],
    *,
    source: np.ndarray | None,
    small: bool,
    meaning: Sequence[float] | None,
) -> Judgement:
    """Whether a step made its edit, or took one back."""
    kind, start, end, target, other = roles(cycle, closes)[position - 1]
    if kind == "neither":
        return nothing(NO_CHANGE)
    pictures = [picture for picture in looks[: position + 1] if picture is not None]
    if len(pictures) <= position:
        return nothing(ROUND_INCOMPLETE)
    if other or (len(cycle) % 2 and start > 0):
        meaning = None  # the program's words tell of the other edit too, or of the first picture only
    asked = [asked_transforms(instruction) for instruction in cycle]
    geometric = all(asked[start:end])
    tone = any(asks_for_tone(instruction) for instruction in cycle[start:end])
    if geometric:  # composed transforms are not looked for: each of them has to be made
        steps = [judge_forward(pictures[k], pictures[k + 1], asked=asked[k]) for k in range(start, end)]
        forward = min(steps, key=lambda step: -1 if step.applied is None else step.applied)
    else:
        forward = judge_forward(
            pictures[start],
            pictures[end],
            small=small,
            tone=tone,
            meaning=(meaning[start], meaning[end]) if meaning else None,
        )
        what = colours.asked(cycle[start])
        if what and forward.applied == 0 and (not meaning or meaning[end] > meaning[start]):
            targets = [pictures[target], *([source] if source is not None and target == 0 else [])]
            return judge_colours(what, kind, pictures[start], pictures[end], targets, pictures[position])
    if kind == "forward":
        return forward
    if not forward.applied:
        reason = NOT_APPLIED if forward.applied is not None else forward.reasons["applied"]
        return Judgement(reasons=dict.fromkeys(FORWARD, NOT_A_FORWARD) | dict.fromkeys(UNDO, reason))
    return judge_undo(
        pictures[start],
        pictures[end],
        pictures[position],
        target=pictures[target],
        source=source if target == 0 and not other else None,  # while another edit stands, nothing comes back to it
        other=other and (pictures[other[0]], pictures[other[1]]),
        geometric=geometric,
        small=small,
        tone=tone,
        meaning=(meaning[start], meaning[end], meaning[position]) if meaning else None,
    )


def judge_sharpness(
    cycle: Sequence[str],
    closes: bool,
    position: int,
    greys: Sequence[np.ndarray | None],
    verb: str,
    source: np.ndarray | None,
) -> Judgement:
    """Whether a step blurred or sharpened the picture, or took that back, from the strength of its fine detail."""
    kind, start, end, target, _ = roles(cycle, closes)[position - 1]
    if kind == "neither":
        return nothing(NO_CHANGE)
    pictures = [picture for picture in greys[: position + 1] if picture is not None]
    if len(pictures) <= position:
        return nothing(ROUND_INCOMPLETE)
    made = sharpness.gain(pictures[start], pictures[end])
    if made is None:
        return nothing(NO_DETAIL)
    applied = sharpness.is_made(verb, made)
    if kind == "forward":
        reasons = dict.fromkeys(UNDO, NOT_AN_UNDO) | {"region_share": WHOLE_PICTURE}
        return Judgement(applied=float(applied), reasons=reasons)
    reasons = dict.fromkeys(FORWARD, NOT_A_FORWARD) | {"undo_explained": WHOLE_PICTURE}
    if not applied:
        return Judgement(reasons=reasons | dict.fromkeys(UNDO, NOT_APPLIED))
    targets = [pictures[target], *([source] if source is not None and target == 0 else [])]
    returned = [sharpness.gain(each, pictures[position]) for each in targets]
    ratio = sharpness.left_of(made, [each for each in returned if each is not None] or [made])
    return Judgement(undone=float(ratio <= LEFT), undo_ratio=ratio, reasons=reasons)


def judge_colours(
    what: str, kind: str, before: np.ndarray, after: np.ndarray, targets: Sequence[np.ndarray], back: np.ndarray
) -> Judgement:
    """Whether a picture was made monochrome or tinted where that is too faint for `judge_forward`, or has it undone."""
    if what == "grey" and colours.colour(before) < colours.WEAKEST:
        return nothing(ALREADY_SO)
    applied = colours.is_made(what, before, after)
    if kind == "forward":
        reasons = dict.fromkeys(UNDO, NOT_AN_UNDO) | {"region_share": WHOLE_PICTURE}
        return Judgement(applied=float(applied), reasons=reasons)
    reasons = dict.fromkeys(FORWARD, NOT_A_FORWARD) | {"undo_explained": WHOLE_PICTURE}
    if not applied:
        return Judgement(reasons=reasons | dict.fromkeys(UNDO, NOT_APPLIED))
    ratio = colours.left_of(what, before, after, targets, back)
    return Judgement(undone=float(ratio <= LEFT), undo_ratio=ratio, reasons=reasons)
