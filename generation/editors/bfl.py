"""Black Forest Labs' own API: a request, then polling, then a download."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..calls import Rejected, Transient
from ..options import number
from ..records import Answer
from ..vendors import hosted, wire

# Before one of these a task is Pending, Reasoning or Generating.
# Failed is in the guides but not in the OpenAPI file.
_ENDS = ("Ready", "Error", "Failed", "Request Moderated", "Content Moderated", "Task not found")


@dataclass(frozen=True)
class Editor(hosted.PolledEditor):
    """FLUX.2 pro, max, flex and klein, and FLUX Kontext, at Black Forest Labs."""

    model: str = "flux-2-pro"
    base_url: str = wire.base_url_option("BFL_BASE_URL")
    poll: float = number(1.0, above=0, identity=False)
    safety_tolerance: int = 2
    vendor: ClassVar = "bfl"

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        order = self.post(f"/v1/{self.model}", self.body(image, instruction, seed))
        address = self._address_in(order, "polling_url", "bfl.ai")
        task = self.wait(address, lambda reply: reply.get("status", "Error") not in _ENDS)
        status, reason = str(task["status"]), task.get("details")
        result = task["result"] if isinstance(task.get("result"), dict) else {}
        details: wire.Json = {"request_id": str(order.get("id")), "finish_reason": status}
        details |= {name: result.get(name) for name in ("seed", "start_time", "end_time")}
        if status in ("Request Moderated", "Content Moderated"):
            reason = f"{status}: {reason or 'no reason given'}"
            return self.answer(None, task, details, reason=reason, refused=True)
        if status in ("Error", "Failed"):
            raise Transient(f"the task ended in an error: {str(reason)[:200]}", charged=True)
        if status != "Ready":
            raise Rejected(f"the task ended as {status!r}", charged=True)
        details["revised_prompt"], cents = result.get("prompt"), order.get("cost")
        cost = round(cents / 100, 6) if isinstance(cents, int | float) else None
        return self.answer(result.get("sample"), task, details, instruction, cost=cost)
