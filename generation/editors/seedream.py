"""ByteDance's image models at BytePlus or Volcengine Ark."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Transient, Unusable
from ..records import Answer, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.sizes import SEEDREAM, Size

REFUSALS = ("SensitiveContent", "RiskDetection", "PolicyViolation", "PrivacyInformation")
NO_CREDIT = ("AccountOverdue", "Authentication", "InvalidApiKey", "AccessDenied", "ModelNotOpen", "ModelNotFound")


@dataclass(frozen=True)
class Editor:
    """Seedream 4.0, 4.5, 5.0 and 5.5 at BytePlus or Volcengine; they take no seed."""

    model: str = "seedream-4-0-250828"
    resolution: str = "1K"
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("ARK_BASE_URL")
    needs: ClassVar[str] = "ARK_API_KEY and pip install 'convergebench[seedream]'"

    def __post_init__(self) -> None:
        one_of(f"seedream:resolution of {self.model}", self.resolution, tuple(self.hosted().facts["resolutions"]))
        if self.timeout <= 0:
            raise UserError(f"seedream:timeout is {self.timeout}; it is a number of seconds above 0")
        self.address()

    def address(self) -> str:
        china = self.model.startswith("doubao-")
        default = "https://ark.cn-beijing.volces.com" if china else "https://ark.ap-southeast.bytepluses.com"
        return wire.base_address(self.base_url, "ARK_BASE_URL", default).removesuffix("/api/v3")

    def ready(self) -> str | None:
        return requirements.missing("seedream", ("httpx",), "ARK_API_KEY")

    def sizes(self) -> tuple[Size, ...]:
        most = self.hosted().facts.get("most_pixels", 16_777_216)
        return tuple(size for size in SEEDREAM[self.resolution] if size[0] * size[1] <= most)

    def price(self) -> float | None:
        price = self.hosted().price
        return price.get(self.resolution) if isinstance(price, dict) else price

    def hosted(self) -> models.Model:
        return models.find("seedream", self.model)

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("seedream", "httpx"):
            raise Unusable(reason)
        return wire.client()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"authorization": f"Bearer {keys.read_key('ARK_API_KEY')}"}
        body = {
            "model": self.model,
            "prompt": instruction,
            "image": "data:image/png;base64," + wire.to_base64(pictures.encode_png(image)),
            "size": f"{image.width}x{image.height}",
            "response_format": "b64_json",
            "watermark": False,
            **self.hosted().facts["options"],
        }
        with wire.time_limit(self.timeout), wire.documented_form():
            response, reply = wire.post(client, f"{self.address()}/api/v3/images/generations", key, body)
            rows = reply.get("data")
            row = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
            error = reply.get("error") or row.get("error")
            if response.status_code >= 400 or error:
                return declined(response, error if isinstance(error, dict) else {})
            about = {
                "model": reply.get("model"),
                "request_id": response.headers.get("x-request-id"),
                "usage": reply.get("usage"),
                "size": row.get("size"),
                "uncontrolled": list(self.hosted().facts["cannot"]),
            }
            if row.get("b64_json"):
                return Answer(wire.from_base64(row["b64_json"]), details=about)
            if isinstance(row.get("url"), str):
                data, declared = wire.download(client, row["url"], self.address())
                return Answer(data, details={**about, "declared": declared})
            return Answer(status="no_image", reason="an answer without a picture", details=about)


def declined(response: Any, error: dict[str, Any]) -> Answer:
    """A refusal is an error here, told apart by its code."""
    code, message = str(error.get("code") or ""), str(error.get("message") or "")
    if any(word in code for word in REFUSALS):
        return wire.refusal(f"{code}: {message}", 0.0, request_id=response.headers.get("x-request-id"))
    if any(word in code for word in NO_CREDIT):
        raise Unusable(f"HTTP {response.status_code}: {code}: {message}")
    if response.status_code >= 400:
        raise wire.status_error(response.status_code, f"{code} {message}", response.headers.get("retry-after"))
    raise Transient(f"an error in place of a picture: {code} {message}")
