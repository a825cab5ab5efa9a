"""Whatever Replicate hosts that edits pictures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PIL import Image

from .. import pictures
from ..calls import Transient
from ..records import Answer, UserError
from ..vendors import hosted, wire
from ..vendors.sizes import ratio
from ..vendors.wire import Json

if TYPE_CHECKING:
    import httpx

REFUSALS = (
    "flagged",
    "sensitive",
    "nsfw",
    "moderat",
    "content polic",
)  # in messages; these errors have no codes


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """FLUX Kontext, FLUX.2 and others at Replicate, as OWNER/NAME or OWNER/NAME:VERSION."""

    model: str = "black-forest-labs/flux-kontext-pro"
    base_url: str = wire.base_url_option("REPLICATE_BASE_URL")
    vendor: ClassVar = hosted.Vendor("replicate", "https://api.replicate.com", "REPLICATE_API_TOKEN", version="/v1")

    def check(self) -> None:
        if self.model.count("/") != 1:
            raise UserError(f"replicate:model must be OWNER/NAME or OWNER/NAME:VERSION, got {self.model!r}")

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        facts, (model, _, version) = self.facts, self.model.partition(":")
        picture = self._upload(pictures.encode_png(image))
        options: Json = {"prompt": instruction, "seed": seed, "output_format": "png", **facts["options"]}
        options[facts["picture"]] = [picture] if facts["picture"].endswith("s") else picture
        if facts["shape"] == "pixels":
            options |= {"aspect_ratio": "custom", "width": image.width, "height": image.height}
        else:
            options["aspect_ratio"] = ratio(image.size)
        path = "predictions" if version else f"models/{model}/predictions"
        response, order = self.post(f"/v1/{path}", {"input": options, **({"version": version} if version else {})})
        if response.status_code >= 400:
            return declined(response, order)
        address = wire.trusted((order.get("urls") or {}).get("get"), self.address(), "replicate.com")
        return self._read(self.wait(address, lambda reply: reply.get("status") in ("starting", "processing")))

    def _upload(self, data: bytes) -> str:
        """The address of a picture, uploaded to Replicate's file store because a request takes only small ones."""
        import httpx

        try:
            files = {"content": ("picture.png", data, "image/png")}
            response = self.client.post(f"{self.address()}/v1/files", headers=self.headers(), files=files)
        except httpx.TransportError as error:
            raise Transient(str(wire.connection_lost(error))) from error  # nothing is ordered yet, so it cost nothing
        reply = wire.parse_json(response)
        address = (reply.get("urls") or {}).get("get")
        if response.status_code >= 400 or not isinstance(address, str):
            raise wire.status_error(response.status_code, str(reply.get("detail") or reply))
        return address

    def _read(self, reply: Json) -> Answer:
        """The answer in a finished prediction."""
        details = {"request_id": reply.get("id"), "model": reply.get("model"), "version": reply.get("version")}
        details |= {"usage": reply.get("metrics"), "uncontrolled": list(self.facts["cannot"])}
        status, output, error = reply.get("status"), reply.get("output"), str(reply.get("error") or "")
        if status != "succeeded":
            if any(word in error.lower() for word in REFUSALS):
                return Answer(status="refused", reason=error, details=details)
            raise Transient(f"the prediction {status}: {error[:200]}", charged=True)
        addresses = output if isinstance(output, list) else [output]
        return self.picture(addresses[0] if addresses else None, details)


def declined(response: "httpx.Response", reply: Json) -> Answer:
    """Read an order's error, whose words are in `detail` or `title`."""
    meanings = (("refused", "message", REFUSALS),) if response.status_code in (400, 422) else ()
    return wire.declined(response, "", str(reply.get("detail") or reply.get("title") or reply), meanings)
