"""Whatever fal.ai hosts that edits pictures, through its queue."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PIL import Image

from .. import pictures
from ..records import Answer, one_of
from ..vendors import hosted, wire
from ..vendors.sizes import Size, of_family, ratio
from ..vendors.wire import Json

if TYPE_CHECKING:
    import httpx

_MEANINGS = (
    ("refused", "code", ("content_policy_violation", "nsfw", "moderat")),
    ("unusable", "message", ("exhausted balance", "user is locked")),
)
_HOSTS = ("fal.run", "falrun.com")  # the queue and its backup, both owned by fal.ai


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """FLUX.2, Nano Banana, GPT-Image, Qwen-Image-Edit and others at fal.ai, by the id of its endpoint."""

    model: str = "fal-ai/flux-2-pro/edit"
    base_url: str = wire.base_url_option("FAL_BASE_URL")
    quality: str = "medium"
    resolution: str = "1K"
    vendor: ClassVar = hosted.Vendor("fal", "https://queue.fal.run", "FAL_KEY", ("authorization", "Key {}"))

    def check(self) -> None:
        one_of(f"fal:quality of {self.model}", self.quality, tuple(self.facts.get("qualities", ("medium",))))
        one_of(f"fal:resolution of {self.model}", self.resolution, tuple(self.facts.get("resolutions", ("1K",))))

    def sizes(self) -> tuple[Size, ...]:
        scale = {"1K": 1, "2K": 2, "4K": 4}[self.resolution]
        return tuple((width * scale, height * scale) for width, height in of_family(self.facts["sizes"]))

    def _body(self, image: Image.Image, instruction: str, seed: int) -> Json:
        """The model's parameters, by the names that its page on fal.ai gives them."""
        facts, picture = self.facts, wire.data_address(pictures.encode_png(image))
        body: Json = {"prompt": instruction, "num_images": 1, "output_format": "png", **facts["options"]}
        body |= {"image_urls": [picture]} if facts["picture"] == "image_urls" else {"image_url": picture}
        if facts["shape"] == "pixels":
            body["image_size"] = {"width": image.width, "height": image.height}
        else:
            body["aspect_ratio"] = ratio(image.size)
        body |= {} if "seed" in facts["cannot"] else {"seed": seed}
        body |= {"quality": self.quality} if "qualities" in facts else {}
        return body | ({"resolution": self.resolution} if "resolutions" in facts else {})

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        response, order = self.post(f"/{self.model}", self._body(image, instruction, seed))
        if response.status_code >= 400:
            return declined(response, order)
        addresses = [self.polling_address(order, name, *_HOSTS) for name in ("status_url", "response_url")]
        reply = wait_for(self, *addresses)
        if isinstance(reply, Answer):
            return reply
        details: Json = {"request_id": str(order.get("request_id")), "model": self.model}
        details |= {"uncontrolled": list(self.facts["cannot"])}
        details |= {name: reply[name] for name in ("seed", "timings", "description") if reply.get(name) is not None}
        return read(self, reply, details | hosted.rewritten(reply.get("prompt"), instruction))


def wait_for(editor: hosted.PolledEditor, status_address: str, result_address: str) -> Json | Answer:
    """The result of an order in fal's queue, or its refusal."""
    headers = editor.headers()
    response, status = wire.poll(
        editor.client,
        status_address,
        headers,
        editor.poll,
        lambda reply: reply.get("status") in ("IN_QUEUE", "IN_PROGRESS"),
    )
    if response.status_code >= 400 or status.get("status") != "COMPLETED":
        return declined(response, status, charged=True)
    response, reply = wire.poll(editor.client, result_address, headers, min(editor.poll, 0.2), errors=2)
    return declined(response, reply, charged=True) if response.status_code >= 400 else reply


def read(editor: hosted.HostedEditor, reply: Json, details: Json) -> Answer:
    """The answer in a result: the field `images`, or with some models `image`."""
    if any(reply.get("has_nsfw_concepts") or ()):  # the picture is black
        return Answer(status="refused", reason="has_nsfw_concepts", details=details)
    rows = reply.get("images") or [reply.get("image")]
    return editor.picture(rows[0].get("url") if isinstance(rows[0], dict) else None, details)


def declined(response: "httpx.Response", reply: Json, charged: bool = False) -> Answer:
    """A refusal is an error here, recognised by its type. According to fal.ai, server errors cost nothing."""
    errors = reply.get("detail")
    entries = [entry for entry in errors if isinstance(entry, dict)] if isinstance(errors, list) else []
    codes = [str(entry.get("type")) for entry in entries] or [str(reply.get("error_type") or "")]
    message = "; ".join(str(entry.get("msg")) for entry in entries) or str(errors or reply.get("error") or reply)
    request_id = response.headers.get("x-fal-request-id")
    return wire.declined(
        response, ", ".join(filter(None, codes)), message, _MEANINGS, charged=charged, request_id=request_id
    )
