"""Whether a step made exactly the edit that was asked for, against the truth that is drawn from the scene's data."""

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from convergebench.generation.studies.exact.drawing import draw_scene
from convergebench.generation.studies.exact.operations import find_edit
from convergebench.generation.studies.exact.scenes import RENDERER

from .._shared.scoring import Program, Signature, Value

# Chosen on scenes of 256 pixels: the right answer after JPEG
# 75 agrees by 0.93 or more, half an edit by 0.77 at most.
SIDE = 128  # pictures are compared at this size ...
BLUR = 0.7  # ... and with this sigma, which takes off noise and the traces of re-encoding
# Delta E within which a pixel has the colour that it should have; 18 takes some halves for the whole.
COLOUR = 14.0
SAME = 0.85  # the least share of the edit that must be exact, and that must not have been there before
# Delta E from which a protected pixel has changed: on 21 edits, JPEG 75 changes
# 0.06% of pictures of 1024 pixels so far at most, and 6% of one of 256.
VISIBLE = 3.0
UNLIKE = 6.0  # mean delta E between a chain's reference and its scene, above which it is not that scene's picture

_COLUMNS = ("exact_as_asked", "exact_iou", "exact_start", "exact_elsewhere", "exact_protected", "exact_match")
_Lab = np.ndarray  # (SIDE, SIDE, 3), float32


def _to_lab(picture: np.ndarray) -> _Lab:
    """A square RGB picture as it is compared."""
    small = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    return cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), (0, 0), BLUR)


def _gap(first: _Lab, second: _Lab) -> np.ndarray:
    return np.linalg.norm(first - second, axis=2)


def _exact_step(before: _Lab, after: _Lab, asked_from: _Lab, asked_for: _Lab) -> dict[str, float | bool]:
    """How a step from `before` to `after` agrees with the edit from one truth to another.

    Of the region in which the truths differ, `exact_iou` counts what has the colour
    it should have, as a share of that region and of all that changed elsewhere;
    `exact_start` is how much of the region was as the first truth has it. A cast over
    the whole picture may be taken off, because it is wear. `exact_protected` forgives
    nothing: of what an edit's mask protects, it is the share that the step changed.
    """
    region = _gap(asked_from, asked_for) > COLOUR
    rim = cv2.dilate(region.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    right = region & (_gap_without_cast(after, asked_for, ~rim) <= COLOUR)
    elsewhere = ~rim & (_gap_without_cast(after, before, ~rim) > COLOUR)
    ready = region & (_gap_without_cast(before, asked_from, ~rim) <= COLOUR)
    iou = float(right.sum() / (region.sum() + elsewhere.sum()))
    start = float(ready.sum() / region.sum())
    match = float((_gap_without_cast(after, asked_for, ~rim) <= COLOUR).mean())
    protected = float((_gap(after, before) > VISIBLE)[~rim].mean())
    as_asked = iou >= SAME and start >= SAME
    values = as_asked, iou, start, float(elsewhere.mean()), protected, match
    return dict(zip(_COLUMNS, values, strict=True))


def _gap_without_cast(picture: _Lab, truth: _Lab, where: np.ndarray) -> np.ndarray:
    cast = np.median((picture - truth)[where], axis=0)
    return np.minimum(_gap(picture, truth), _gap(picture - cast, truth))


@lru_cache(64)
def _truths(program: str, side: int) -> tuple[_Lab, _Lab] | None:
    edit = find_edit(program)
    if edit is None:
        return None
    source, forward = (_to_lab(np.asarray(draw_scene(scene, side))) for scene in (edit.before, edit.after))
    return source, forward


_LIMITS = {"side": SIDE, "blur": BLUR, "colour": COLOUR, "same": SAME, "visible": VISIBLE}
signature: Signature = {"version": 2, "renderer": RENDERER, **_LIMITS}


def prepare(picture: np.ndarray) -> tuple[_Lab, int]:
    return _to_lab(picture), min(picture.shape[:2])


def reduce(picture: np.ndarray) -> np.ndarray:
    return cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)


def judge(
    program: Program,
    position: int,
    pictures: Sequence[np.ndarray | None],
    reference: tuple[_Lab, int],
) -> dict[str, Value]:
    truths = _truths(program["program"], reference[1])
    if truths is None:
        return dict.fromkeys(_COLUMNS, "no_scene")
    if float(_gap(reference[0], truths[0]).mean()) > UNLIKE:
        return dict.fromkeys(_COLUMNS, "other_picture")
    before, after = pictures[position - 1], pictures[position]
    if before is None or after is None:
        return dict.fromkeys(_COLUMNS, "no_picture")
    return dict(_exact_step(_to_lab(before), _to_lab(after), *(truths if position == 1 else truths[::-1])))
