"""xAI's image models through their own images/edits endpoint, which takes JSON instead of OpenAI's form data."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..records import Answer, one_of
from ..vendors import hosted, wire
from ..vendors.sizes import XAI, Size, nearest

_REFUSALS = (
    *("content_policy_violation", "content_moderation", "content moderation"),
    *("moderation_blocked", "respect_moderation"),
)
_MEANINGS = (("refused", "code", _REFUSALS), ("refused", "message", _REFUSALS))


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Grok Imagine at xAI; it takes no seed."""

    model: str = "grok-imagine-image-2.0"
    base_url: str = wire.base_url_option("XAI_BASE_URL")
    quality: str = "medium"
    resolution: str = "1k"
    vendor: ClassVar = hosted.Vendor("xai", "https://api.x.ai", "XAI_API_KEY", version="/v1")

    def check(self) -> None:
        one_of("xai:resolution", self.resolution, ("1k", "2k"))
        one_of("xai:quality", self.quality, tuple(self.facts["qualities"]) or ("medium",))

    def sizes(self) -> tuple[Size, ...]:
        scale = 2 if self.resolution == "2k" else 1
        return tuple((width * scale, height * scale) for width, height in XAI.values())

    def price(self) -> float | None:
        price = self.hosted().price
        if isinstance(price, dict):
            return price.get(f"{self.resolution}-{self.quality}")
        return None if price is None else round(price + self.facts.get("input", 0.0), 6)

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        shape = nearest(image.size, tuple(XAI.values()))
        body = {
            "model": self.model,
            "prompt": instruction,
            "image": {"type": "image_url", "url": wire.data_address(pictures.encode_png(image))},
            "aspect_ratio": next(ratio for ratio, size in XAI.items() if size == shape),
            "resolution": self.resolution,
            "response_format": "b64_json",
            "n": 1,
            **({"quality": self.quality} if self.facts["qualities"] else {}),
        }
        response, reply = self.post("/v1/images/edits", body)
        request_id = response.headers.get("x-request-id")
        if response.status_code >= 400 or reply.get("error"):
            error = reply.get("error")  # an object, or text next to the field "code"
            error = error if isinstance(error, dict) else {"code": reply.get("code"), "message": error}
            code, message = str(error.get("code") or ""), str(error.get("message") or "")
            return wire.declined(response, code, message, _MEANINGS, request_id=request_id)
        row = hosted.first_row(reply)
        details = {"model": self.model, "request_id": request_id, "usage": reply.get("usage")}
        details |= {"uncontrolled": list(self.facts["cannot"])}
        return self.picture_in(row, details | hosted.rewritten(row.get("revised_prompt"), instruction))
