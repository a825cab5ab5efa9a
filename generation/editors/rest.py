"""Vendors whose API is one request, or one order and its polls: each a description in models.toml."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from PIL import Image

from .. import keys, pictures
from ..calls import Transient
from ..records import Answer, one_of
from ..vendors import hosted, models, wire
from ..vendors.wire import Json

_REFUSALS = ("moderat", "safety", "content_policy", "content policy", "content_violation", "responsibleai")


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """Meta Muse Image, Luma Uni-1, Runway Gen-4, Reve and MAI-Image, by their descriptions in models.toml."""

    model: str = "muse-image-1.0"
    base_url: str = wire.base_url_option("REST_BASE_URL")
    vendor: ClassVar = "rest"
    meanings: ClassVar = (("refused", "code", _REFUSALS), ("refused", "message", _REFUSALS))

    def check(self) -> None:
        listed = [model.name for model in models.all_models() if model.vendor == self.vendor]
        one_of("rest:model", self.model, listed)

    def address(self) -> str:
        """Empty for a vendor that gives each customer one, until it is given."""
        home = str(self.facts.get("home", ""))
        return wire.base_address(self.base_url, home).removesuffix("/v1") if self.base_url or home else ""

    @property
    def needs(self) -> str:
        return str(self.facts["key"])

    def ready(self) -> str | None:
        return keys.missing_key(self.needs) if self.address() else "give base_url, the address of your resource"

    def headers(self) -> dict[str, str]:
        key = keys.read_key(self.needs)
        return {name: text.format(key=key) for name, text in self.facts["headers"].items()}

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        path, body = self.facts["path"], self.body(image, instruction, seed)
        content: Json = {"json": body}
        if field := self.facts.get("form"):
            content = {"data": body, "files": {field: ("picture.png", pictures.encode_png(image), "image/png")}}
        reply = self.send("POST", path, **content)
        if poll := self.facts.get("poll"):
            reply = self._finished(reply, poll)
        reason = "; ".join(f"{name}: {word}" for name in self.facts["failure"] if (word := reply.get(name)))
        picture = _at(reply, self.facts["picture"])
        details = {"version": reply.get("version"), "credits": reply.get("credits_used") or reply.get("cost")}
        details |= {"request_id": reply.get("request_id") or reply.get("id")}
        if reason and any(word in reason.lower() for word in _REFUSALS):
            return self.answer(None, reply, details, reason=reason, refused=True)
        if reason:
            raise Transient(f"the order failed: {reason[:200]}", charged=True)
        if picture and not str(picture).startswith(("https://", "http://")):
            picture = f"data:;base64,{picture}"
        return self.answer(picture or None, reply, details, instruction)

    def _finished(self, order: Json, poll: Mapping[str, Any]) -> Json:
        if not isinstance(order.get("id"), str):
            raise Transient(f"an answer without id: {str(order)[:120]}", charged=True)
        address = self.address() + poll["path"].format(id=quote(order["id"], safe=""))
        reply = self.wait(address, lambda reply: reply.get(poll["state"]) in poll["waiting"])
        if reply.get(poll["state"]) != poll["done"] and not any(map(reply.get, self.facts["failure"])):
            return reply | {self.facts["failure"][0]: str(reply.get(poll["state"]))}
        return reply


def _at(reply: Any, path: str) -> Any:
    """The value at a path such as `data.0.url`; None if there is none."""
    with suppress(LookupError, TypeError):
        for name in path.split("."):
            reply = reply[int(name) if isinstance(reply, list) else name]
        return reply
    return None
