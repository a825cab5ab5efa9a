"""ByteDance's image models at BytePlus or Volcengine Ark."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..records import Answer, one_of
from ..vendors import hosted, wire
from ..vendors.sizes import SEEDREAM, Size

_CHINA = "https://ark.cn-beijing.volces.com"
_MEANINGS = (
    ("refused", "code", ("SensitiveContent", "RiskDetection", "PolicyViolation", "PrivacyInformation")),
    ("unusable", "code", ("AccountOverdue", "Authentication", "InvalidApiKey", "AccessDenied")),
    ("unusable", "code", ("ModelNotOpen", "ModelNotFound")),
)


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Seedream 4.0, 4.5, 5.0 and 5.5 at BytePlus or Volcengine; they take no seed."""

    model: str = "seedream-4-0-250828"
    base_url: str = wire.base_url_option("ARK_BASE_URL")
    resolution: str = "1K"
    vendor: ClassVar = hosted.Vendor(
        "seedream",
        "https://ark.ap-southeast.bytepluses.com",
        "ARK_API_KEY",
        version="/api/v3",
        variable="ARK_BASE_URL",
    )

    def check(self) -> None:
        one_of(f"seedream:resolution of {self.model}", self.resolution, tuple(self.facts["resolutions"]))

    def default_address(self) -> str:
        return _CHINA if self.model.startswith("doubao-") else self.vendor.address

    def sizes(self) -> tuple[Size, ...]:
        most = self.facts.get("most_pixels", 16_777_216)  # 4096x4096, the API's own limit
        return tuple(size for size in SEEDREAM[self.resolution] if size[0] * size[1] <= most)

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        body = {
            "model": self.model,
            "prompt": instruction,
            "image": wire.data_address(pictures.encode_png(image)),
            "size": f"{image.width}x{image.height}",
            "response_format": "b64_json",
            "watermark": False,
            **self.facts["options"],
        }
        response, reply = self.post("/api/v3/images/generations", body)
        row, request_id = hosted.first_row(reply), response.headers.get("x-request-id")
        error = reply.get("error") or row.get("error")
        if response.status_code >= 400 or error:
            error = error if isinstance(error, dict) else {}
            code, message = str(error.get("code") or ""), str(error.get("message") or "")
            return wire.declined(response, code, message, _MEANINGS, passing=True, request_id=request_id)
        details = {"model": reply.get("model"), "request_id": request_id, "usage": reply.get("usage")}
        return self.picture_in(row, details | {"size": row.get("size"), "uncontrolled": list(self.facts["cannot"])})
