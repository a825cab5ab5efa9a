"""Alibaba's image editing models at DashScope."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..records import Answer, UserError
from ..vendors import hosted, wire
from ..vendors.sizes import QWEN, Size

_PATH = "/api/v1/services/aigc/multimodal-generation/generation"
_MEANINGS = (  # errors come under any status, 200 included
    ("refused", "code", ("DataInspection", "data_inspection", "IPInfringement")),
    ("unusable", "code", ("InvalidApiKey", "Arrearage", "AccessDenied", "ModelNotFound")),
    ("transient", "code", ("Throttling", "InternalError", "SystemError", "ResponseTimeout")),
    ("transient", "code", ("ServiceUnavailable", "RequestTimeOut")),
)


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Qwen-Image 3.0 and 2.0 and Qwen-Image-Edit, at DashScope."""

    model: str = "qwen-image-3.0"
    base_url: str = wire.base_url_option("DASHSCOPE_BASE_URL")
    vendor: ClassVar = hosted.Vendor(
        "qwen", "https://dashscope-intl.aliyuncs.com", "DASHSCOPE_API_KEY", variable="DASHSCOPE_BASE_URL"
    )

    def check(self) -> None:
        if not self.model.startswith("qwen-image-"):
            raise UserError(f"qwen:model must be one that edits, such as 'qwen-image-3.0', got {self.model!r}")

    def sizes(self) -> tuple[Size, ...]:
        return QWEN

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        content = [{"image": wire.data_address(pictures.encode_png(image))}, {"text": instruction}]
        parameters = {"negative_prompt": " ", "watermark": False, "prompt_extend": False, "seed": seed, "n": 1}
        if self.facts["takes_size"]:
            parameters["size"] = f"{image.width}*{image.height}"
        messages = [{"role": "user", "content": content}]
        response, reply = self.post(
            _PATH, {"model": self.model, "input": {"messages": messages}, "parameters": parameters}
        )
        request_id, code = reply.get("request_id"), str(reply.get("code") or "")
        if response.status_code >= 400 or code:
            return wire.declined(response, code, str(reply.get("message") or ""), _MEANINGS, request_id=request_id)
        output = reply.get("output")
        choice = ((output if isinstance(output, dict) else {}).get("choices") or [{}])[0]
        details = {"model": self.model, "request_id": request_id, "usage": reply.get("usage")}
        details["finish_reason"] = choice.get("finish_reason")
        parts = (choice.get("message") or {}).get("content") or []
        parts = parts if isinstance(parts, list) else [{"text": parts}]
        text = "\n".join(str(part["text"]) for part in parts if part.get("text"))
        addresses = [part["image"] for part in parts if isinstance(part.get("image"), str)]
        return self.picture(addresses[0] if addresses else None, details, text)
