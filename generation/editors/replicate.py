from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..calls import Transient
from ..records import Answer
from ..vendors import hosted, wire

_REFUSALS = ("flagged", "sensitive", "nsfw", "moderat", "content polic")
MEANINGS = (("refused", "message", _REFUSALS),)  # these errors have no codes


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """FLUX Kontext, FLUX.2 and others at Replicate, as OWNER/NAME or OWNER/NAME:VERSION."""

    model: str = "black-forest-labs/flux-kontext-pro"
    base_url: str = wire.base_url_option("REPLICATE_BASE_URL")
    vendor: ClassVar = "replicate"
    meanings: ClassVar = MEANINGS

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        order = self.post(*order_of(self.model, self.body(image, instruction, seed)))
        address = self._address_in(order.get("urls") or {}, "get", "replicate.com")
        prediction = self.wait(address, lambda reply: reply.get("status") in ("starting", "processing"))
        return finished(self, prediction, {})

    def _place(self, data: bytes) -> str:
        files = {"content": ("picture.png", data, "image/png")}
        with wire.before_the_order():
            return str(self.send("POST", "/v1/files", files=files)["urls"]["get"])


def order_of(name: str, options: wire.Json) -> tuple[str, wire.Json]:
    model, _, version = name.partition(":")
    if version:
        return "/v1/predictions", {"input": options, "version": version}
    return f"/v1/models/{model}/predictions", {"input": options}


def finished(editor: hosted.HostedEditor, prediction: wire.Json, details: wire.Json) -> Answer:
    names = {"request_id": "id", "usage": "metrics", "version": "version"}
    details = {**details, **{name: prediction.get(field) for name, field in names.items()}}
    status, output, error = prediction.get("status"), prediction.get("output"), str(prediction.get("error") or "")
    if status != "succeeded":
        if any(word in error.lower() for word in _REFUSALS):
            return editor.answer(None, prediction, details, reason=error, refused=True)
        raise Transient(f"the prediction {status}: {error[:200]}", charged=True)
    addresses = output if isinstance(output, list) else [output]
    return editor.answer(addresses[0] if addresses else None, prediction, details)
