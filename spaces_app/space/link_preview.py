"""The picture that a link to the Space has elsewhere: one typical case of the best editor and of the last."""

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from ..analysis.typical import case_at
from .headline import leaderboard
from .leaderboard.story import story_cases, strip, tested_editors
from .previews import decode
from .served_dataset import DAMAGED_FILE, NoPicture, ServedDataset

_WIDE, _HIGH, _FRAMES = 1200, 630, 4
_INK, _MUTED = "#1b2330", "#566070"


@lru_cache(maxsize=1)
def strip_jpeg(dataset: ServedDataset) -> bytes:
    """A JPEG of 1200 by 630, each row with its first and last frames; empty if no case is counted."""
    board = leaderboard(dataset) if dataset.counted else None
    rows = tested_editors(board) if board else []
    if board is None or board.group is None or not rows:
        return b""
    shown = [rows[0], rows[-1]] if len(rows) > 1 else rows
    key = story_cases(board)[0]
    canvas = Image.new("RGB", (_WIDE, _HIGH), "white")
    pen = ImageDraw.Draw(canvas)
    title = "Edit, undo, repeat: how many rounds before the picture breaks?"
    pen.text((30, 18), title, _INK, ImageFont.load_default(34))
    height = (_HIGH - 80) // len(shown)
    for number, row in enumerate(shown):
        case = case_at(board.group, row["editor"], key)
        if case is None:
            continue
        top = 80 + number * height
        words = f"{dataset.display[row['editor']]}: {row['rounds_kept']:.1f} of {row['last_round']} rounds"
        pen.text((30, top), words, _INK, ImageFont.load_default(26))
        _draw_frames(canvas, top, height, dataset, case.chain.id, strip(dataset, board, row, case)["frames"])
    buffer = io.BytesIO()
    canvas.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def _draw_frames(
    canvas: Image.Image,
    top: int,
    height: int,
    dataset: ServedDataset,
    chain: str,
    frames: Sequence[Mapping[str, Any]],
) -> None:
    pen = ImageDraw.Draw(canvas)
    side = min(height - 60, (_WIDE - 60) // _FRAMES - 16)
    for place, frame in enumerate([frames[0], frames[1], *frames[-2:]]):
        left = 30 + place * ((_WIDE - 60) // _FRAMES)
        try:
            data = dataset.reader.picture(chain, frame["step"]) if frame["there"] else None
            picture = decode(data) if data else None
        except (NoPicture, *DAMAGED_FILE):
            picture = None
        if picture:
            picture.thumbnail((side * 4 // 3, side))
            canvas.paste(picture, (left, top + 36))
        label = f"{frame['label']} {frame['share'] or ''}".strip()
        pen.text((left, top + 38 + side), label, _MUTED, ImageFont.load_default(20))
