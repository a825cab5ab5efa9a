"""The mask of an exact edit, for editors that take one: what they may change."""

import cv2
import numpy as np
from PIL import Image

from ...records import Chain
from .drawing import draw_scene
from .operations import find_edit

_RIM = 2 / 128  # of a side, around the edit: as much as the exact scores leave out


def mask_of(chain: Chain, size: tuple[int, int]) -> Image.Image | None:
    """White where the truths before and after the edit differ, the same there and back; None for other programs."""
    edit = find_edit(chain.program.id)
    if edit is None:
        return None
    side = min(size)
    before, after = (np.asarray(draw_scene(scene, side)) for scene in (edit.before, edit.after))
    rim = 2 * round(_RIM * side) + 1
    changed = cv2.dilate((before != after).any(axis=2).astype(np.uint8) * 255, np.ones((rim, rim), np.uint8))
    return Image.fromarray(changed).resize(size, Image.Resampling.NEAREST)
