"""xAI's image models through their own images/edits endpoint, which takes JSON and not the form of OpenAI's."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Unusable
from ..records import Answer, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.sizes import XAI, Size, nearest

REFUSALS = ("content_policy_violation", "content_moderation", "moderation_blocked", "respect_moderation")


@dataclass(frozen=True)
class Editor:
    """Grok Imagine at xAI; it takes no seed."""

    model: str = "grok-imagine-image-2.0"
    quality: str = "medium"
    resolution: str = "1k"
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("XAI_BASE_URL")
    needs: ClassVar[str] = "XAI_API_KEY and pip install 'convergebench[xai]'"

    def __post_init__(self) -> None:
        one_of("xai:resolution", self.resolution, ("1k", "2k"))
        one_of("xai:quality", self.quality, tuple(self.hosted().facts["qualities"]) or ("medium",))
        if self.timeout <= 0:
            raise UserError(f"xai:timeout is {self.timeout}; it is a number of seconds above 0")
        self.address()

    def hosted(self) -> models.Model:
        return models.find("xai", self.model)

    def address(self) -> str:
        return wire.base_address(self.base_url, "XAI_BASE_URL", "https://api.x.ai").removesuffix("/v1")

    def ready(self) -> str | None:
        return requirements.missing("xai", ("httpx",), "XAI_API_KEY")

    def sizes(self) -> tuple[Size, ...]:
        scale = 2 if self.resolution == "2k" else 1
        return tuple((width * scale, height * scale) for width, height in XAI.values())

    def price(self) -> float | None:
        price = self.hosted().price
        if isinstance(price, dict):
            return price.get(f"{self.resolution}-{self.quality}")
        return None if price is None else round(price + self.hosted().facts.get("input", 0.0), 6)

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("xai", "httpx"):
            raise Unusable(reason)
        return wire.client()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"authorization": f"Bearer {keys.read_key('XAI_API_KEY')}"}
        shape = nearest(image.size, tuple(XAI.values()))
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": instruction,
            "image": {
                "type": "image_url",
                "url": "data:image/png;base64," + wire.to_base64(pictures.encode_png(image)),
            },
            "aspect_ratio": next(ratio for ratio, size in XAI.items() if size == shape),
            "resolution": self.resolution,
            "response_format": "b64_json",
            "n": 1,
        }
        if self.hosted().facts["qualities"]:
            body["quality"] = self.quality
        with wire.time_limit(self.timeout), wire.documented_form():
            response, reply = wire.post(client, f"{self.address()}/v1/images/edits", key, body)
            if response.status_code >= 400 or reply.get("error"):
                return declined(response, reply)
            rows = reply.get("data")
            row = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
            about = {
                "model": self.model,
                "request_id": response.headers.get("x-request-id"),
                "usage": reply.get("usage"),
                "uncontrolled": list(self.hosted().facts["cannot"]),
            }
            if row.get("revised_prompt") and row["revised_prompt"] != instruction:
                about["revised_prompt"] = row["revised_prompt"]
            if row.get("b64_json"):
                return Answer(wire.from_base64(row["b64_json"]), details=about)
            if isinstance(row.get("url"), str):
                data, declared = wire.download(client, row["url"], self.address())
                return Answer(data, details={**about, "declared": declared})
            return Answer(status="no_image", reason="an answer without a picture", details=about)


def declined(response: Any, reply: dict[str, Any]) -> Answer:
    """A refusal is an error here, told apart by its code or its words; the error is text or an object."""
    error = reply.get("error")
    code = str(error.get("code") if isinstance(error, dict) else reply.get("code") or "")
    message = str(error.get("message") if isinstance(error, dict) else error or "")
    if any(word in f"{code} {message}".lower() for word in (*REFUSALS, "content moderation")):
        return wire.refusal(f"{code}: {message}", 0.0, request_id=response.headers.get("x-request-id"))
    raise wire.status_error(max(response.status_code, 400), f"{code} {message}", response.headers.get("retry-after"))
