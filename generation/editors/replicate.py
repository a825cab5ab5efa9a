"""Whatever Replicate hosts that edits pictures."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from ..vendors import keys, models, wire
from ..vendors.sizes import Size, of_family, ratio

REFUSALS = ("flagged", "sensitive", "nsfw", "moderat", "content polic")
UNFINISHED = ("starting", "processing")


@dataclass(frozen=True)
class Editor:
    """FLUX Kontext, FLUX.2 and others at Replicate, as OWNER/NAME or OWNER/NAME:VERSION."""

    model: str = "black-forest-labs/flux-kontext-pro"
    timeout: float = field(default=600.0, metadata={"identity": False})
    poll: float = field(default=0.5, metadata={"identity": False})
    base_url: str = wire.base_url_option("REPLICATE_BASE_URL")
    needs: ClassVar[str] = "REPLICATE_API_TOKEN and pip install 'convergebench[replicate]'"

    def __post_init__(self) -> None:
        if self.model.count("/") != 1:
            raise UserError(f"replicate:model is {self.model!r}; it is OWNER/NAME or OWNER/NAME:VERSION")
        if self.timeout <= 0 or self.poll <= 0:
            raise UserError(
                f"replicate:timeout={self.timeout},poll={self.poll} are not both numbers of seconds above 0"
            )
        self.address()

    def hosted(self) -> models.Model:
        return models.find("replicate", self.model)

    def address(self) -> str:
        return wire.base_address(self.base_url, "REPLICATE_BASE_URL", "https://api.replicate.com").removesuffix("/v1")

    def ready(self) -> str | None:
        return requirements.missing("replicate", ("httpx",), "REPLICATE_API_TOKEN")

    def sizes(self) -> tuple[Size, ...]:
        return of_family(self.hosted().facts["sizes"])

    def price(self) -> float | None:
        return self.hosted().price

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("replicate", "httpx"):
            raise Unusable(reason)
        return wire.client()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"authorization": f"Bearer {keys.read_key('REPLICATE_API_TOKEN')}"}
        facts, (model, _, version) = self.hosted().facts, self.model.partition(":")
        with wire.time_limit(self.timeout), wire.documented_form():
            picture = self.upload(client, key, pictures.encode_png(image))
            given: dict[str, Any] = {"prompt": instruction, "seed": seed, "output_format": "png", **facts["options"]}
            given |= {facts["picture"]: [picture] if facts["picture"].endswith("s") else picture}
            given |= (
                {"aspect_ratio": "custom", "width": image.width, "height": image.height}
                if facts["shape"] == "pixels"
                else {"aspect_ratio": ratio(image.size)}
            )
            place = f"{self.address()}/v1/" + ("predictions" if version else f"models/{model}/predictions")
            body = {"input": given, **({"version": version} if version else {})}
            response, order = wire.post(client, place, key, body)
            if response.status_code >= 400:
                return declined(response, order)
            place = wire.trusted((order.get("urls") or {}).get("get"), self.address(), "replicate.com")
            unfinished = lambda reply: reply.get("status") in UNFINISHED  # noqa: E731
            response, reply = wire.poll(client, place, key, self.poll, unfinished)
            if response.status_code >= 400:
                raise Rejected(f"HTTP {response.status_code} while polling: {str(reply)[:200]}", charged=True)
            return self.read(client, reply)

    def upload(self, client: Any, key: dict[str, str], data: bytes) -> str:
        """The address of a picture in Replicate's own store, which takes more than a request does."""
        import httpx

        try:
            files = {"content": ("picture.png", data, "image/png")}
            response = client.post(f"{self.address()}/v1/files", headers=key, files=files)
        except httpx.TransportError as error:
            fault = wire.connection_lost(error)
            fault.charged = False  # nothing is ordered yet
            raise fault from error
        reply = wire.parse_json(response)
        place = (reply.get("urls") or {}).get("get")
        if response.status_code >= 400 or not isinstance(place, str):
            raise wire.status_error(response.status_code, str(reply.get("detail") or reply), None)
        return place

    def read(self, client: Any, reply: dict[str, Any]) -> Answer:
        about = {
            "request_id": reply.get("id"),
            "model": reply.get("model"),
            "version": reply.get("version"),
            "usage": reply.get("metrics"),
            "uncontrolled": list(self.hosted().facts["cannot"]),
        }
        status, output, error = reply.get("status"), reply.get("output"), str(reply.get("error") or "")
        if status != "succeeded":
            if any(word in error.lower() for word in REFUSALS):
                return Answer(status="refused", reason=error, details=about)
            raise Transient(f"the prediction {status}: {error[:200]}", charged=True)
        places = output if isinstance(output, list) else [output]
        if not places or not isinstance(places[0], str):
            return Answer(status="no_image", reason="a prediction without a picture", details=about)
        data, declared = wire.download(client, places[0], self.address())
        return Answer(data, details={**about, "declared": declared})


def declined(response: Any, reply: dict[str, Any]) -> Answer:
    """Errors of an order come as detail and title."""
    message = str(reply.get("detail") or reply.get("title") or reply)
    if response.status_code in (400, 422) and any(word in message.lower() for word in REFUSALS):
        return wire.refusal(message, 0.0)
    raise wire.status_error(response.status_code, message, response.headers.get("retry-after"))
