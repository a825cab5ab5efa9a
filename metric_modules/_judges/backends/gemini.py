"""Google's models through the Gemini API."""

from dataclasses import dataclass
from typing import ClassVar

from convergebench.generation.editors.gemini import MEANINGS, REFUSALS
from convergebench.generation.records import one_of
from convergebench.generation.vendors import wire
from convergebench.generation.vendors.wire import Json

from . import HostedJudge, Shown


@dataclass(frozen=True)
class Judge(HostedJudge):
    """A Gemini model that looks at pictures and answers in JSON; the default is the judge of the Banana100 study.

    `thinking` is how much models of the third generation
    think before they answer; `default` leaves it to them.
    """

    model: str = "gemini-3-flash-preview"
    base_url: str = wire.base_url_option("GEMINI_BASE_URL")
    thinking: str = "low"
    vendor: ClassVar = "gemini"
    home: ClassVar = "https://generativelanguage.googleapis.com"
    key_names: ClassVar = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    header: ClassVar = ("x-goog-api-key", "{}")
    path: ClassVar = "/v1beta/models/{}:generateContent"
    meanings: ClassVar = MEANINGS

    def check(self) -> None:
        one_of("gemini:thinking", self.thinking, ("minimal", "low", "medium", "high", "default"))

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

    def read(self, reply: Json) -> tuple[str, str, tuple[object, object], Json]:
        """Without the model's thoughts."""
        usage, blocked = reply.get("usageMetadata") or {}, (reply.get("promptFeedback") or {}).get("blockReason")
        candidate = {} if blocked else reply["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or []
        text = "".join(str(part.get("text") or "") for part in parts if not part.get("thought"))
        finish = str(candidate.get("finishReason") or "")
        facts = {"model": reply.get("modelVersion"), "usage": usage, "finish_reason": finish}
        facts |= {"request_id": reply.get("responseId")}
        received = usage and usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
        refusal = str(blocked or (finish if finish in REFUSALS else ""))
        return text, refusal, (usage.get("promptTokenCount"), received), facts
