"""Black Forest Labs' own service: a request, then polling, then a download."""

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from ..vendors import keys, models, wire
from ..vendors.sizes import KONTEXT, MEGAPIXEL, Size, ratio

# A task is Pending, Reasoning or Generating before one of these; Failed is in the guides and not in the OpenAPI.
ENDS = ("Ready", "Error", "Failed", "Request Moderated", "Content Moderated", "Task not found")


@dataclass(frozen=True)
class Editor:
    """FLUX.2 pro, max, flex and klein, and FLUX Kontext, at Black Forest Labs."""

    model: str = "flux-2-pro"
    safety_tolerance: int = 2
    timeout: float = field(default=300.0, metadata={"identity": False})
    poll: float = field(default=1.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("BFL_BASE_URL")
    needs: ClassVar[str] = "BFL_API_KEY and pip install 'convergebench[bfl]'"

    def __post_init__(self) -> None:
        if not self.model.startswith("flux-"):
            raise UserError(f"bfl:model is {self.model!r}; it is one that edits pictures, such as 'flux-2-pro'")
        most = self.hosted().facts["most_tolerance"]
        if not 0 <= self.safety_tolerance <= most:
            raise UserError(f"bfl:safety_tolerance is {self.safety_tolerance}; for {self.model} it is from 0 to {most}")
        if self.timeout <= 0 or self.poll <= 0:
            raise UserError(f"bfl:timeout={self.timeout},poll={self.poll} are not both numbers of seconds above 0")
        self.address()

    @property
    def concurrency(self) -> int:
        return int(self.hosted().facts.get("concurrency", 24))

    def hosted(self) -> models.Model:
        return models.find("bfl", self.model)

    def address(self) -> str:
        return wire.base_address(self.base_url, "BFL_BASE_URL", "https://api.bfl.ai")

    def ready(self) -> str | None:
        return requirements.missing("bfl", ("httpx",), "BFL_API_KEY")

    def sizes(self) -> tuple[Size, ...]:
        return KONTEXT if self.hosted().facts["sizes"] == "kontext" else MEGAPIXEL

    def price(self) -> float | None:
        return self.hosted().price

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("bfl", "httpx"):
            raise Unusable(reason)
        return wire.client()

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client, key = self.client, {"x-key": keys.read_key("BFL_API_KEY")}
        pixels = {"width": image.width, "height": image.height}
        body = {
            "prompt": instruction,
            "input_image": wire.to_base64(pictures.encode_png(image)),
            "seed": seed,
            **(pixels if self.hosted().facts["shape"] == "pixels" else {"aspect_ratio": ratio(image.size)}),
            "output_format": "png",
            **self.hosted().facts["rewriting"],
            "safety_tolerance": self.safety_tolerance,
        }
        with wire.time_limit(self.timeout), wire.documented_form():
            response, reply = wire.post(client, f"{self.address()}/v1/{self.model}", key, body)
            if response.status_code >= 400:
                raise wire.status_error(response.status_code, str(reply), response.headers.get("retry-after"))
            place = reply.get("polling_url")
            if not isinstance(place, str):
                raise Transient(f"an answer without a polling address: {str(reply)[:120]}", charged=True)
            done = self.wait(client, key, place)
            answer = self.read(client, str(reply.get("id")), done)
        if answer.status == "ok" and isinstance(reply.get("cost"), int | float):
            answer = dataclasses.replace(answer, cost=round(reply["cost"] / 100, 6))  # it is told in cents
        prompt = answer.details.get("prompt")
        if isinstance(prompt, str) and prompt != instruction:
            answer = dataclasses.replace(answer, details={**answer.details, "rewritten_prompt": True})
        return answer

    def wait(self, client: Any, key: dict[str, str], place: str) -> dict[str, Any]:
        """Poll until there is an end."""
        place = wire.trusted(place, self.address(), "bfl.ai")
        response, reply = wire.poll(
            client, place, key, self.poll, lambda reply: reply.get("status", "Error") not in ENDS
        )
        if response.status_code >= 400 and "status" not in reply:
            raise Rejected(f"HTTP {response.status_code} while polling: {str(reply)[:200]}", charged=True)
        return dict(reply)

    def read(self, client: Any, id: str, reply: dict[str, Any]) -> Answer:
        status = str(reply.get("status"))
        result = reply.get("result") if isinstance(reply.get("result"), dict) else {}
        details = result if isinstance(result, dict) else {}
        about: dict[str, Any] = {"request_id": id, "model": self.model, "finish_reason": status}
        about |= {name: details[name] for name in ("seed", "prompt", "start_time", "end_time") if name in details}
        if status in ("Request Moderated", "Content Moderated"):
            return Answer(
                status="refused", reason=f"{status}: {reply.get('details') or 'no reason given'}", details=about
            )
        if status == "Ready":
            if not isinstance(details.get("sample"), str):
                return Answer(status="no_image", reason="ready, without a picture", details=about)
            data, declared = wire.download(client, details["sample"], self.address())
            return Answer(data, details={**about, "declared": declared})
        if status in ("Error", "Failed"):
            raise Transient(f"the task ended in an error: {str(reply.get('details'))[:200]}", charged=True)
        raise Rejected(f"the task ended as {status!r}", charged=True)
