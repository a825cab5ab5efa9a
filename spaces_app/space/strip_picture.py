"""The picture that stands beside a link to the Space: one typical case, made when somebody asks for it."""

import io
from functools import cached_property
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from ..study.typical import case_at
from .leaderboard import leaderboard
from .page import STRIP
from .previews import decode
from .served_dataset import ServedDataset
from .story import story_cases, strip, tested_editors

WIDE, HIGH, FRAMES = 1200, 630, 4


class StripPicture:
    """ASGI middleware that answers one path with the picture and hands everything else on."""

    def __init__(self, app: Any, dataset: ServedDataset):
        self.app, self.dataset = app, dataset

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != STRIP:
            await self.app(scope, receive, send)
            return
        data = self.picture
        headers = [(b"content-type", b"image/jpeg"), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 200 if data else 404, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    @cached_property
    def picture(self) -> bytes:
        """A JPEG of 1200 by 630; nothing where no case is counted."""
        return draw_strip(self.dataset) if self.dataset.counted else b""


def draw_strip(dataset: ServedDataset) -> bytes:
    """The best editor above the last one, each with its first and last frames and its name."""
    found = leaderboard(dataset)
    if found.group is None:
        return b""
    rows = tested_editors(found)
    shown = [rows[0], rows[-1]] if len(rows) > 1 else rows
    key = story_cases(found)[0]
    canvas = Image.new("RGB", (WIDE, HIGH), "white")
    pen = ImageDraw.Draw(canvas)
    pen.text(
        (30, 18),
        "Edit, undo, repeat: how many rounds before the picture breaks?",
        "#1b2330",
        ImageFont.load_default(34),
    )
    high = (HIGH - 80) // len(shown)
    for number, row in enumerate(shown):
        case = case_at(found.group, row["editor"], key)
        if case is None:
            continue
        about = strip(dataset, found, row, case)
        top = 80 + number * high
        words = f"{dataset.display[row['editor']]}: {row['rounds_kept']:.1f} of {row['last_round']} rounds"
        pen.text((30, top), words, "#1b2330", ImageFont.load_default(26))
        frames = [about["frames"][0], about["frames"][1], *about["frames"][-2:]]
        side = min(high - 60, (WIDE - 60) // FRAMES - 16)
        for place, frame in enumerate(frames):
            data = dataset.reader.picture(case.chain.id, frame["step"]) if frame["there"] else None
            left = 30 + place * ((WIDE - 60) // FRAMES)
            if data:
                picture = decode(data)
                picture.thumbnail((side * 4 // 3, side))
                canvas.paste(picture, (left, top + 36))
            label = f"{frame['label']} {frame['share'] or ''}".strip()
            pen.text((left, top + 38 + side), label, "#566070", ImageFont.load_default(20))
    buffer = io.BytesIO()
    canvas.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()
