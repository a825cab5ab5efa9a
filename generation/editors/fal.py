"""Whatever fal.ai hosts that edits pictures, through its queue."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.sizes import Size, of_family, ratio

REFUSALS = ("content_policy_violation", "nsfw", "moderat")
HOSTS = ("fal.run", "falrun.com")  # and its backup, both of fal.ai's own
UNFINISHED = ("IN_QUEUE", "IN_PROGRESS")


@dataclass(frozen=True)
class Editor:
    """FLUX.2, Nano Banana, GPT-Image, Qwen-Image-Edit and others at fal.ai, by the id of its endpoint."""

    model: str = "fal-ai/flux-2-pro/edit"
    quality: str = "medium"
    resolution: str = "1K"
    timeout: float = field(default=600.0, metadata={"identity": False})
    poll: float = field(default=0.5, metadata={"identity": False})
    base_url: str = wire.base_url_option("FAL_BASE_URL")
    needs: ClassVar[str] = "FAL_KEY and pip install 'convergebench[fal]'"

    def __post_init__(self) -> None:
        one_of(f"fal:quality of {self.model}", self.quality, tuple(self.facts.get("qualities", ("medium",))))
        one_of(f"fal:resolution of {self.model}", self.resolution, tuple(self.facts.get("resolutions", ("1K",))))
        if self.timeout <= 0 or self.poll <= 0:
            raise UserError(f"fal:timeout={self.timeout},poll={self.poll} are not both numbers of seconds above 0")
        self.address()

    def hosted(self) -> models.Model:
        return models.find("fal", self.model)

    @property
    def facts(self) -> Any:
        return self.hosted().facts

    def address(self) -> str:
        return wire.base_address(self.base_url, "FAL_BASE_URL", "https://queue.fal.run")

    def ready(self) -> str | None:
        return requirements.missing("fal", ("httpx",), "FAL_KEY")

    def sizes(self) -> tuple[Size, ...]:
        scale = {"1K": 1, "2K": 2, "4K": 4}[self.resolution]
        return tuple((width * scale, height * scale) for width, height in of_family(self.facts["sizes"]))

    def price(self) -> float | None:
        price = self.hosted().price
        return price.get(self.quality, price.get(self.resolution)) if isinstance(price, dict) else price

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("fal", "httpx"):
            raise Unusable(reason)
        return wire.client()

    def body(self, image: Image.Image, instruction: str, seed: int) -> dict[str, Any]:
        """The model's parameters, by the names that its page on fal.ai gives them."""
        picture = "data:image/png;base64," + wire.to_base64(pictures.encode_png(image))
        body: dict[str, Any] = {"prompt": instruction, "num_images": 1, "output_format": "png", **self.facts["options"]}
        body |= {"image_urls": [picture]} if self.facts["picture"] == "image_urls" else {"image_url": picture}
        if self.facts["shape"] == "pixels":
            body["image_size"] = {"width": image.width, "height": image.height}
        else:
            body["aspect_ratio"] = ratio(image.size)
        if "seed" not in self.facts["cannot"]:
            body["seed"] = seed
        if "qualities" in self.facts:
            body["quality"] = self.quality
        if "resolutions" in self.facts:
            body["resolution"] = self.resolution
        return body

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"authorization": f"Key {keys.read_key('FAL_KEY')}"}
        with wire.time_limit(self.timeout), wire.documented_form():
            response, order = wire.post(
                client, f"{self.address()}/{self.model}", key, self.body(image, instruction, seed)
            )
            if response.status_code >= 400:
                return declined(response, order)
            places = [order.get("status_url"), order.get("response_url")]
            if not all(isinstance(place, str) for place in places):
                raise Transient(f"an answer without polling addresses: {str(order)[:120]}", charged=True)
            status_place, result_place = (wire.trusted(place, self.address(), *HOSTS) for place in places)
            response, status = wire.poll(
                client, status_place, key, self.poll, lambda reply: reply.get("status") in UNFINISHED
            )
            if response.status_code >= 400 or status.get("status") != "COMPLETED":
                return declined(response, status, charged=True)
            response, reply = wire.poll(client, result_place, key, min(self.poll, 0.2), errors=2)
            if response.status_code >= 400:
                return declined(response, reply, charged=True)
            return self.read(client, instruction, str(order.get("request_id")), reply)

    def read(self, client: Any, instruction: str, id: str, reply: dict[str, Any]) -> Answer:
        about: dict[str, Any] = {"request_id": id, "model": self.model, "uncontrolled": list(self.facts["cannot"])}
        about |= {name: reply[name] for name in ("seed", "timings", "description") if reply.get(name) is not None}
        if reply.get("prompt") not in (None, "", instruction):
            about["revised_prompt"] = reply["prompt"]
        if any(reply.get("has_nsfw_concepts") or ()):  # the picture is there, and black
            return Answer(status="refused", reason="has_nsfw_concepts", details=about)
        rows = reply.get("images") or [reply.get("image")]
        row = rows[0] if isinstance(rows[0], dict) else {}
        if not isinstance(row.get("url"), str):
            return Answer(status="no_image", reason="an answer without a picture", details=about)
        if row["url"].startswith("data:"):
            return Answer(wire.from_base64(row["url"]), details=about)
        data, declared = wire.download(client, row["url"], self.address())
        return Answer(data, details={**about, "declared": declared})


def declined(response: Any, reply: dict[str, Any], charged: bool = False) -> Answer:
    """A refusal is an error here, told apart by its type; server errors cost nothing, says fal.ai."""
    errors = reply.get("detail")
    entries = [each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else []
    kinds = [str(each.get("type")) for each in entries] or [str(reply.get("error_type") or "")]
    said = "; ".join(str(each.get("msg")) for each in entries) or str(errors or reply.get("error") or reply)
    message = f"{', '.join(filter(None, kinds))}: {said}".removeprefix(": ")
    if any(word in kind for word in REFUSALS for kind in kinds):
        return wire.refusal(message, None if charged else 0.0, request_id=response.headers.get("x-fal-request-id"))
    if "exhausted balance" in said.lower() or "user is locked" in said.lower():
        raise Unusable(f"HTTP {response.status_code}: {message}")
    if response.status_code >= 400:
        raise wire.status_error(response.status_code, message, response.headers.get("retry-after"))
    raise Rejected(f"the request ended as {reply.get('status')!r}: {message[:200]}", charged=charged)
