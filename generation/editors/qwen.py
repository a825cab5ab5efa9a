from dataclasses import dataclass
from typing import ClassVar

from ..records import Answer
from ..vendors import hosted, wire


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Qwen-Image 3.0 and 2.0 and Qwen-Image-Edit, at DashScope."""

    model: str = "qwen-image-3.0"
    base_url: str = wire.base_url_option("DASHSCOPE_BASE_URL")
    vendor: ClassVar = "qwen"

    def read(self, reply: wire.Json, instruction: str) -> Answer:
        choice = ((reply.get("output") or {}).get("choices") or [{}])[0]
        parts = (choice.get("message") or {}).get("content") or []
        parts = parts if isinstance(parts, list) else [{"text": parts}]
        text = "\n".join(str(part["text"]) for part in parts if part.get("text"))
        addresses = [part["image"] for part in parts if isinstance(part.get("image"), str)]
        picture = addresses[0] if addresses else None
        return self.answer(picture, reply, {"finish_reason": choice.get("finish_reason")}, text=text)
