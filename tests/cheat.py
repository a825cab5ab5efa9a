"""What the recall audit is there to catch: an editor that gives back what it remembers."""

import functools
import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from convergebench.generation import editors, pictures
from convergebench.generation.records import Answer
from PIL import ImageDraw
from stores import encoded

_NEAR = 0.06  # share of the pixels that may be in another bin of the histogram


@dataclass(frozen=True)
class Editor:
    """Paints a disc, and takes it back by remembering the original: by hash or by likeness."""

    by: str = "hash"
    embedded: ClassVar[bool] = True
    audited: ClassVar[bool] = True

    @functools.cached_property
    def _memory(self):
        return {}

    def edit(self, image, instruction, seed):
        mark, is_known = self._mark(image), bytes.__eq__ if self.by == "hash" else _are_alike
        for known, original in self._memory.items():
            if is_known(known, mark):
                return Answer(original)
        drawn = image.copy()
        width, height = image.size
        ImageDraw.Draw(drawn).ellipse((width * 0.3, height * 0.3, width * 0.7, height * 0.7), fill=(220, 20, 20))
        drawn = pictures.decode(encoded(drawn, "JPEG", quality=40))
        self._memory[self._mark(drawn)] = pictures.encode_png(image)
        return Answer(pictures.encode_png(drawn))

    def _mark(self, image):
        """What it knows the picture by: its hash, or the share of pixels in each of 4x4x4 colours."""
        if self.by == "hash":
            return hashlib.sha256(image.tobytes()).digest()
        cells = np.asarray(image).astype(np.intp) >> 6
        index = cells[..., 0] * 16 + cells[..., 1] * 4 + cells[..., 2]
        return (np.bincount(index.ravel(), minlength=64) / index.size).tobytes()


def _are_alike(known, mark):
    return bool(np.abs(np.frombuffer(known) - np.frombuffer(mark)).sum() / 2 < _NEAR)


def choice(by="hash"):
    label = "cheat" if by == "hash" else f"cheat:by={by}"
    return editors.Choice(label, "cheat", label, {"by": by, "seed": "per-step"}, Editor(by))
