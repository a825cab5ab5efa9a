"""Black Forest Labs' own API: a request, then polling, then a download."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..calls import Rejected, Transient
from ..options import number
from ..records import Answer, UserError
from ..vendors import hosted, wire
from ..vendors.sizes import ratio
from ..vendors.wire import Json

# Before one of these a task is Pending, Reasoning or Generating. Failed is in the guides but not in the OpenAPI file.
_ENDS = ("Ready", "Error", "Failed", "Request Moderated", "Content Moderated", "Task not found")


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """FLUX.2 pro, max, flex and klein, and FLUX Kontext, at Black Forest Labs."""

    model: str = "flux-2-pro"
    timeout: float = number(300.0, above=0, identity=False)
    base_url: str = wire.base_url_option("BFL_BASE_URL")
    poll: float = number(1.0, above=0, identity=False)
    safety_tolerance: int = 2
    vendor: ClassVar = hosted.Vendor("bfl", "https://api.bfl.ai", "BFL_API_KEY", ("x-key", "{}"))

    def check(self) -> None:
        if not self.model.startswith("flux-"):
            raise UserError(f"bfl:model must be one that edits, such as 'flux-2-pro', got {self.model!r}")
        most = self.facts["most_tolerance"]
        if not 0 <= self.safety_tolerance <= most:
            raise UserError(
                f"bfl:safety_tolerance of {self.model} must be between 0 and {most}, got {self.safety_tolerance}"
            )

    @property
    def concurrency(self) -> int:
        return int(self.facts.get("concurrency", 24))

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        pixels = {"width": image.width, "height": image.height}
        body = {
            "prompt": instruction,
            "input_image": wire.to_base64(pictures.encode_png(image)),
            "seed": seed,
            **(pixels if self.facts["shape"] == "pixels" else {"aspect_ratio": ratio(image.size)}),
            "output_format": "png",
            **self.facts["rewriting"],
            "safety_tolerance": self.safety_tolerance,
        }
        response, order = self.post(f"/v1/{self.model}", body)
        if response.status_code >= 400:
            raise wire.status_error(response.status_code, str(order), response.headers.get("retry-after"))
        address = self.polling_address(order, "polling_url", "bfl.ai")
        response, task = wire.poll(
            self.client, address, self.headers(), self.poll, lambda reply: reply.get("status", "Error") not in _ENDS
        )
        if response.status_code >= 400 and "status" not in task:
            raise Rejected(f"HTTP {response.status_code} while polling: {str(task)[:200]}", charged=True)
        answer = self._read(str(order.get("id")), task, instruction)
        if answer.status == "ok" and isinstance(order.get("cost"), int | float):
            return dataclasses.replace(answer, cost=round(order["cost"] / 100, 6))  # the API counts in cents
        return answer

    def _read(self, request_id: str, task: Json, instruction: str) -> Answer:
        """The answer in a finished task."""
        status, reason = str(task.get("status")), task.get("details")
        result = task["result"] if isinstance(task.get("result"), dict) else {}
        details: Json = {"request_id": request_id, "model": self.model, "finish_reason": status}
        details |= {name: result[name] for name in ("seed", "prompt", "start_time", "end_time") if name in result}
        if isinstance(prompt := result.get("prompt"), str) and prompt != instruction:
            details["rewritten_prompt"] = True
        if status in ("Request Moderated", "Content Moderated"):
            return Answer(status="refused", reason=f"{status}: {reason or 'no reason given'}", details=details)
        if status in ("Error", "Failed"):
            raise Transient(f"the task ended in an error: {str(reason)[:200]}", charged=True)
        if status != "Ready":
            raise Rejected(f"the task ended as {status!r}", charged=True)
        return self.picture(result.get("sample"), details)
