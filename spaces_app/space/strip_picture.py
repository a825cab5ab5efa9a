"""What a link to the Space looks like elsewhere: words in the page's head, and a picture of one typical case."""

import io
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from starlette.concurrency import run_in_threadpool

from ..analysis.typical import case_at
from . import page
from .errors import DAMAGED_FILE, NoPicture
from .leaderboard import leaderboard
from .page import STRIP
from .previews import decode
from .served_dataset import ServedDataset
from .story import story_cases, strip, tested_editors

WIDE, HIGH, FRAMES = 1200, 630, 4


GRADIO_TAGS = re.compile(r'\s*<meta\s+(?:property|name)="(?:(?:og|twitter):[^"]*|description)"[^>]*>')


class LinkPreview:
    """ASGI middleware: the page's head gets our tags, because who previews a link runs no script; and the picture."""

    def __init__(self, app: Any, dataset: ServedDataset):
        self.app, self.dataset = app, dataset

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] not in ("/", STRIP):
            await self.app(scope, receive, send)
        elif scope["path"] == "/":
            await self.app(scope, receive, with_tags(page.preview_tags(address_of(scope)), send))
        else:
            data = await run_in_threadpool(lambda: self.picture)  # others are answered meanwhile
            headers = [(b"content-type", b"image/jpeg"), (b"content-length", str(len(data)).encode())]
            await send({"type": "http.response.start", "status": 200 if data else 404, "headers": headers})
            await send({"type": "http.response.body", "body": data})

    @cached_property
    def picture(self) -> bytes:
        """A JPEG of 1200 by 630; nothing where no case is counted."""
        return draw_strip(self.dataset) if self.dataset.counted else b""


def with_tags(tags: str, send: Any) -> Any:
    """Sends a page with these tags in place of Gradio's; what is no page, or is packed, is sent as it is."""
    started: list[Any] = []
    body = bytearray()

    async def changed(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            is_page = headers.get(b"content-type", b"").startswith(b"text/html") and b"content-encoding" not in headers
            if is_page:
                started.append(message)
            else:
                await send(message)
        elif not started:
            await send(message)
        else:
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                text = GRADIO_TAGS.sub("", body.decode()).replace("</head>", f"{tags}</head>", 1)
                data = text.encode()
                kept = [each for each in started[0]["headers"] if each[0] != b"content-length"]
                await send({**started[0], "headers": [*kept, (b"content-length", str(len(data)).encode())]})
                await send({"type": "http.response.body", "body": data})

    return changed


def address_of(scope: Any) -> str:
    """Where the Space was asked, as a preview needs it."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    scheme = headers.get(b"x-forwarded-proto", scope["scheme"]).split(",")[0]
    return f"{scheme}://{headers.get(b'host', 'localhost')}"


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
            left = 30 + place * ((WIDE - 60) // FRAMES)
            if picture := frame_picture(dataset, case.chain.id, frame):
                picture.thumbnail((side * 4 // 3, side))
                canvas.paste(picture, (left, top + 36))
            label = f"{frame['label']} {frame['share'] or ''}".strip()
            pen.text((left, top + 38 + side), label, "#566070", ImageFont.load_default(20))
    buffer = io.BytesIO()
    canvas.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def frame_picture(dataset: ServedDataset, chain: str, frame: Mapping[str, Any]) -> Image.Image | None:
    """The picture of a frame; None where there is none, or its file is damaged."""
    try:
        data = dataset.reader.picture(chain, frame["step"]) if frame["there"] else None
        return decode(data) if data else None
    except (NoPicture, *DAMAGED_FILE):
        return None
