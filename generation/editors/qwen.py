from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..records import Answer
from ..vendors import hosted, wire


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Qwen-Image 3.0 and 2.0 and Qwen-Image-Edit, at DashScope."""

    model: str = "qwen-image-3.0"
    base_url: str = wire.base_url_option("DASHSCOPE_BASE_URL")
    vendor: ClassVar = "qwen"
    home: ClassVar = "https://dashscope-intl.aliyuncs.com"
    key_names: ClassVar = ("DASHSCOPE_API_KEY",)
    prefix: ClassVar = "qwen-image-"
    path: ClassVar = "/api/v1/services/aigc/multimodal-generation/generation"
    meanings: ClassVar = (
        ("refused", "code", ("DataInspection", "data_inspection", "IPInfringement")),
        ("unusable", "code", ("InvalidApiKey", "Arrearage", "AccessDenied", "ModelNotFound")),
        ("transient", "code", ("Throttling", "InternalError", "SystemError", "ResponseTimeout")),
        ("transient", "code", ("ServiceUnavailable", "RequestTimeOut")),
    )
    error: ClassVar = "code"

    def body(self, image: Image.Image, instruction: str, seed: int) -> wire.Json:
        content = [{"image": wire.data_address(pictures.encode_png(image))}, {"text": instruction}]
        parameters = {"negative_prompt": " ", "watermark": False, "prompt_extend": False, "seed": seed, "n": 1}
        if self.facts["takes_size"]:
            parameters["size"] = f"{image.width}*{image.height}"
        messages = [{"role": "user", "content": content}]
        return {"model": self.model, "input": {"messages": messages}, "parameters": parameters}

    def read(self, reply: wire.Json, instruction: str) -> Answer:
        choice = ((reply.get("output") or {}).get("choices") or [{}])[0]
        parts = (choice.get("message") or {}).get("content") or []
        parts = parts if isinstance(parts, list) else [{"text": parts}]
        text = "\n".join(str(part["text"]) for part in parts if part.get("text"))
        addresses = [part["image"] for part in parts if isinstance(part.get("image"), str)]
        picture = addresses[0] if addresses else None
        return self.answer(picture, reply, {"finish_reason": choice.get("finish_reason")}, text=text)
