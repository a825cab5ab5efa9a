"""Google's models through the Gemini API."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from convergebench.generation import requirements
from convergebench.generation.calls import Rejected, Transient, Unusable
from convergebench.generation.editors.gemini import REFUSALS
from convergebench.generation.records import Answer, one_of
from convergebench.generation.vendors import keys, wire

from . import Shown, dollars, mapping, most_dollars, require_sizes, token_prices

THINKING = ("minimal", "low", "medium", "high", "default")


@dataclass(frozen=True)
class Judge:
    """A Gemini model that looks at pictures and answers in JSON; the default is the judge of the Banana100 study.

    `thinking` is how much models of the third generation think before they answer; `default` leaves it to them.
    """

    model: str = "gemini-3-flash-preview"
    base_url: str = wire.base_url_option("GEMINI_BASE_URL")
    temperature: float | None = None
    thinking: str = "low"
    side: int = 1024
    max_tokens: int = 4000
    timeout: float = field(default=300.0, metadata={"identity": False})
    needs: ClassVar[str] = "GEMINI_API_KEY and pip install 'convergebench[judges]'"

    def __post_init__(self) -> None:
        one_of("gemini:thinking", self.thinking, THINKING)
        require_sizes("gemini", self.side, self.max_tokens, self.timeout)
        self.address()

    def address(self) -> str:
        return wire.base_address(self.base_url, "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")

    def ready(self) -> str | None:
        return requirements.missing("judges", ("httpx", "jsonschema"), "GEMINI_API_KEY", "GOOGLE_API_KEY")

    def price(self, letters: int, pictures: int) -> float | None:
        return most_dollars(token_prices("gemini", self.model), letters, pictures, self.max_tokens)

    @functools.cached_property
    def client(self) -> Any:
        return wire.client()

    def body(self, shown: Shown) -> dict[str, Any]:
        """What is sent. Words without pictures are sent as they are, with nothing around them."""
        parts: list[dict[str, Any]] = []
        for number, data in enumerate(shown.pictures, 1):
            picture = {"mimeType": "image/png", "data": wire.to_base64(data)}
            parts += [{"text": f"Picture {number}:"}, {"inlineData": picture}]
        config: dict[str, Any] = {"maxOutputTokens": self.max_tokens}
        if shown.schema:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": dict(shown.schema)}
        if self.model.startswith("gemini-3") and self.thinking != "default":
            config["thinkingConfig"] = {"thinkingLevel": self.thinking}
        if self.temperature is not None:
            config["temperature"] = self.temperature
        return {
            "contents": [{"role": "user", "parts": [*parts, {"text": shown.words}]}],
            "generationConfig": config,
        }

    def answer(self, shown: Shown) -> Answer:
        headers = {"x-goog-api-key": keys.read_key("GEMINI_API_KEY", "GOOGLE_API_KEY")}
        place = f"{self.address()}/v1beta/models/{self.model}:generateContent"
        with wire.time_limit(self.timeout):
            response, reply = wire.post(self.client, place, headers, self.body(shown))
        if response.status_code != 200:
            raise fault(response, reply)
        return self.read(reply)

    def read(self, reply: dict[str, Any]) -> Answer:
        """What the model said; its thoughts are no part of the answer."""
        usage, feedback = mapping(reply.get("usageMetadata")), mapping(reply.get("promptFeedback"))
        rows = reply.get("candidates")
        candidate = mapping(rows[0]) if isinstance(rows, list) and rows else {}
        parts = mapping(candidate.get("content")).get("parts")
        said = [mapping(part) for part in parts] if isinstance(parts, list) else []
        text = "".join(str(part.get("text") or "") for part in said if not part.get("thought"))
        finish, blocked = str(candidate.get("finishReason") or ""), str(feedback.get("blockReason") or "")
        about = {"model": reply.get("modelVersion"), "usage": usage, "finish_reason": finish}
        details = {key: value for key, value in (about | {"request_id": reply.get("responseId")}).items() if value}
        thoughts = usage.get("thoughtsTokenCount", 0)
        received = usage.get("candidatesTokenCount", 0)
        counted = received + thoughts if isinstance(received, int) and isinstance(thoughts, int) and usage else None
        cost = dollars(token_prices("gemini", self.model), usage.get("promptTokenCount"), counted)
        if blocked or finish in REFUSALS:
            return Answer(status="refused", reason=blocked or finish, text=text, cost=cost, details=details)
        if not candidate:
            raise Transient("an answer without candidates", charged=True)
        return Answer(text=text, cost=cost, details=details)


def fault(response: Any, reply: dict[str, Any]) -> Exception:
    """A wrong key is a 400 here, and the time to wait stands in the error's details."""
    error = mapping(reply.get("error"))
    given = error.get("details")
    entries = [mapping(entry) for entry in given] if isinstance(given, list) else []
    message = str(error.get("message") or reply)
    if any(entry.get("reason") == "API_KEY_INVALID" for entry in entries) or "API key not valid" in message:
        return Unusable(f"HTTP {response.status_code}: {message}")
    if response.status_code < 400:
        return Rejected(f"HTTP {response.status_code} in place of an answer")
    delays = [str(entry["retryDelay"]).removesuffix("s") for entry in entries if "retryDelay" in entry]
    return wire.status_error(
        response.status_code, message, response.headers.get("retry-after") or (delays[0] if delays else None)
    )
