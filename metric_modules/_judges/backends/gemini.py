"""Google's models through the Gemini API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from convergebench.generation.calls import Rejected, Transient, Unusable
from convergebench.generation.editors.gemini import REFUSALS
from convergebench.generation.records import Answer, one_of
from convergebench.generation.vendors import keys, wire
from convergebench.generation.vendors.wire import Json

from . import Shown, dollars, mapping
from ._hosted import HostedJudge

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Judge(HostedJudge):
    """A Gemini model that looks at pictures and answers in JSON; the default is the judge of the Banana100 study.

    `thinking` is how much models of the third generation think before they answer; `default` leaves it to them.
    """

    model: str = "gemini-3-flash-preview"
    base_url: str = wire.base_url_option("GEMINI_BASE_URL")
    thinking: str = "low"
    vendor: ClassVar[str] = "gemini"
    default_address: ClassVar[str] = "https://generativelanguage.googleapis.com"
    keys: ClassVar[tuple[str, ...]] = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    def __post_init__(self) -> None:
        one_of("gemini:thinking", self.thinking, ("minimal", "low", "medium", "high", "default"))
        super().__post_init__()

    def path(self) -> str:
        return f"v1beta/models/{self.model}:generateContent"

    def headers(self) -> dict[str, str]:
        return {"x-goog-api-key": keys.read_key(*self.keys)}

    def body(self, shown: Shown) -> Json:
        parts: list[Json] = []
        for number, data in enumerate(shown.pictures, 1):
            picture = {"mimeType": "image/png", "data": wire.to_base64(data)}
            parts += [{"text": f"Picture {number}:"}, {"inlineData": picture}]
        config: Json = {"maxOutputTokens": self.max_tokens}
        if shown.schema:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": dict(shown.schema)}
        if self.model.startswith("gemini-3") and self.thinking != "default":
            config["thinkingConfig"] = {"thinkingLevel": self.thinking}
        if self.temperature is not None:
            config["temperature"] = self.temperature
        contents = [{"role": "user", "parts": [*parts, {"text": shown.words}]}]
        return {"contents": contents, "generationConfig": config}

    def read(self, reply: Json, headers: Mapping[str, str]) -> Answer:
        """The answer in a reply, without the model's thoughts."""
        usage, feedback = mapping(reply.get("usageMetadata")), mapping(reply.get("promptFeedback"))
        rows = reply.get("candidates")
        candidate = mapping(rows[0]) if isinstance(rows, list) and rows else {}
        parts = mapping(candidate.get("content")).get("parts")
        text_parts = [mapping(part) for part in parts] if isinstance(parts, list) else []
        text = "".join(str(part.get("text") or "") for part in text_parts if not part.get("thought"))
        finish, blocked = str(candidate.get("finishReason") or ""), str(feedback.get("blockReason") or "")
        facts = {"model": reply.get("modelVersion"), "usage": usage, "finish_reason": finish}
        details = {key: value for key, value in (facts | {"request_id": reply.get("responseId")}).items() if value}
        thoughts, received = usage.get("thoughtsTokenCount", 0), usage.get("candidatesTokenCount", 0)
        counted = received + thoughts if isinstance(received, int) and isinstance(thoughts, int) and usage else None
        cost = dollars(self.rates(), usage.get("promptTokenCount"), counted)
        if blocked or finish in REFUSALS:
            return Answer(status="refused", reason=blocked or finish, text=text, cost=cost, details=details)
        if not candidate:
            raise Transient("an answer without candidates", charged=True)
        return Answer(text=text, cost=cost, details=details)

    def read_error(self, response: "httpx.Response", reply: Json) -> Answer:
        """A wrong key is a 400 here, and the time to wait is in the error's details."""
        error = mapping(reply.get("error"))
        rows = error.get("details")
        entries = [mapping(row) for row in rows] if isinstance(rows, list) else []
        message = str(error.get("message") or reply)
        if any(entry.get("reason") == "API_KEY_INVALID" for entry in entries) or "API key not valid" in message:
            raise Unusable(f"HTTP {response.status_code}: {message}")
        if response.status_code < 400:
            raise Rejected(f"HTTP {response.status_code} in place of an answer")
        delays = [str(entry["retryDelay"]).removesuffix("s") for entry in entries if "retryDelay" in entry]
        delay = response.headers.get("retry-after") or next(iter(delays), None)
        raise wire.status_error(response.status_code, message, delay)
