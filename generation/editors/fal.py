from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..records import Answer
from ..vendors import hosted, wire

_HOSTS = ("fal.run", "falrun.com")  # the queue and its backup, both owned by fal.ai


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """FLUX.2, Nano Banana, GPT-Image, Qwen-Image-Edit and others at fal.ai, by the id of its endpoint."""

    model: str = "fal-ai/flux-2-pro/edit"
    base_url: str = wire.base_url_option("FAL_BASE_URL")
    quality: str = "medium"
    resolution: str = "1K"
    vendor: ClassVar = "fal"

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        queued = self.post(f"/{self.model}", self.body(image, instruction, seed))
        status, result = (self._address_in(queued, name, *_HOSTS) for name in ("status_url", "response_url"))
        return wait_for_answer(self, instruction, status, result, {"request_id": str(queued.get("request_id"))})


def wait_for_answer(
    editor: hosted.PolledEditor, instruction: str, status: str, result: str, details: wire.Json
) -> Answer:
    """Wait for a request in fal's queue, by the addresses of its status and its result.

    According to fal.ai, server errors cost nothing, so a result that cannot be read is requested again.
    """
    headers = editor.headers()
    waiting = ("IN_QUEUE", "IN_PROGRESS")
    response, reply = wire.poll(status, headers, editor.poll, lambda reply: reply.get("status") in waiting)
    editor.checked(response, reply, charged=True)
    if reply.get("status") != "COMPLETED":
        editor.fail(response, reply, charged=True)
    response, reply = wire.poll(result, headers, min(editor.poll, 0.2), errors=2)
    editor.checked(response, reply, charged=True)
    names = {"revised_prompt": "prompt", "seed": "seed", "timings": "timings", "description": "description"}
    details = {**details, **{name: reply.get(field) for name, field in names.items()}}
    if any(reply.get("has_nsfw_concepts") or ()):  # the picture is black
        return editor.answer(None, reply, details, instruction, reason="has_nsfw_concepts", refused=True)
    images = reply.get("images") or [reply.get("image")]
    picture = images[0].get("url") if isinstance(images[0], dict) else None
    return editor.answer(picture, reply, details, instruction)
