"""Alibaba's image editing models at DashScope."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from ..vendors import keys, models, wire
from ..vendors.sizes import QWEN, Size

REFUSALS = ("DataInspection", "data_inspection", "IPInfringement")
NO_CREDIT = ("InvalidApiKey", "Arrearage", "AccessDenied", "Model.AccessDenied", "ModelNotFound")
BUSY = ("Throttling", "InternalError", "SystemError", "ResponseTimeout", "ServiceUnavailable", "RequestTimeOut")


@dataclass(frozen=True)
class Editor:
    """Qwen-Image 3.0 and 2.0 and Qwen-Image-Edit, at DashScope."""

    model: str = "qwen-image-3.0"
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("DASHSCOPE_BASE_URL")
    needs: ClassVar[str] = "DASHSCOPE_API_KEY and pip install 'convergebench[qwen]'"

    def __post_init__(self) -> None:
        if not self.model.startswith("qwen-image-"):
            raise UserError(f"qwen:model is {self.model!r}; it is one that edits pictures, such as 'qwen-image-3.0'")
        if self.timeout <= 0:
            raise UserError(f"qwen:timeout is {self.timeout}; it is a number of seconds above 0")
        self.address()

    def address(self) -> str:
        return wire.base_address(self.base_url, "DASHSCOPE_BASE_URL", "https://dashscope-intl.aliyuncs.com")

    def ready(self) -> str | None:
        return requirements.missing("qwen", ("httpx",), "DASHSCOPE_API_KEY")

    def sizes(self) -> tuple[Size, ...]:
        return QWEN

    def price(self) -> float | None:
        return self.hosted().price

    def hosted(self) -> models.Model:
        return models.find("qwen", self.model)

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("qwen", "httpx"):
            raise Unusable(reason)
        return wire.client()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"authorization": f"Bearer {keys.read_key('DASHSCOPE_API_KEY')}"}
        picture = "data:image/png;base64," + wire.to_base64(pictures.encode_png(image))
        parameters: dict[str, Any] = {
            "negative_prompt": " ",
            "watermark": False,
            "prompt_extend": False,
            "seed": seed,
            "n": 1,
        }
        if self.hosted().facts["takes_size"]:
            parameters["size"] = f"{image.width}*{image.height}"
        body = {
            "model": self.model,
            "input": {"messages": [{"role": "user", "content": [{"image": picture}, {"text": instruction}]}]},
            "parameters": parameters,
        }
        place = f"{self.address()}/api/v1/services/aigc/multimodal-generation/generation"
        with wire.time_limit(self.timeout), wire.documented_form():
            response, reply = wire.post(client, place, key, body)
            if response.status_code >= 400 or reply.get("code"):
                return read_refusal(response, reply)
            about = {
                "model": self.model,
                "request_id": reply.get("request_id"),
                "usage": reply.get("usage"),
            }
            choice = (output(reply).get("choices") or [{}])[0]
            about["finish_reason"] = choice.get("finish_reason")
            content = (choice.get("message") or {}).get("content") or []
            content = content if isinstance(content, list) else [{"text": content}]
            text = "\n".join(str(part["text"]) for part in content if part.get("text"))
            places = [part["image"] for part in content if isinstance(part.get("image"), str)]
            if not places:
                return Answer(status="no_image", reason="an answer without a picture", text=text, details=about)
            data, declared = wire.download(client, places[0], self.address())
            return Answer(data, text=text, details={**about, "declared": declared})


def output(reply: dict[str, Any]) -> dict[str, Any]:
    value = reply.get("output")
    return value if isinstance(value, dict) else {}


def read_refusal(response: Any, reply: dict[str, Any]) -> Answer:
    """Errors come under any status, 200 included; the code tells them apart."""
    code, message, status = str(reply.get("code") or ""), str(reply.get("message") or ""), response.status_code
    if code.startswith(REFUSALS):
        return wire.refusal(f"{code}: {message}", 0.0, request_id=reply.get("request_id"))
    if code.startswith(NO_CREDIT):
        raise Unusable(f"HTTP {status}: {code}: {message}")
    if code.startswith(BUSY):
        wait = wire.retry_after_seconds(response.headers.get("retry-after"))
        raise Transient(f"HTTP {status}: {code}: {message}", retry_after=wait)
    if status >= 400:
        raise wire.status_error(status, f"{code} {message}", response.headers.get("retry-after"))
    raise Rejected(f"{code}: {message}")
