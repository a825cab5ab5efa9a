"""OpenAI's models through chat/completions, and every server that speaks it: vLLM, SGLang, llama.cpp, Ollama."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from convergebench.generation import requirements
from convergebench.generation.calls import Rejected, Transient, Unusable
from convergebench.generation.editors.openai import NO_CREDIT, SERVER_KEY
from convergebench.generation.records import Answer, one_of
from convergebench.generation.vendors import image_servers, keys, wire
from convergebench.generation.vendors.wire import Json

from . import Rates, Shown, dollars, mapping
from ._hosted import HostedJudge

if TYPE_CHECKING:
    import httpx

_REFUSALS = ("content_policy_violation", "content_filter", "moderation_blocked", "invalid_prompt")


@dataclass(frozen=True)
class Judge(HostedJudge):
    """A model behind an OpenAI-compatible address; without base_url= OpenAI's own.

    `effort` is how much a reasoning model reasons; it is sent if given. `structured` says how the server is held to
    the question's schema: by the schema, by JSON alone, or not at all. OpenAI's key goes to OpenAI only; your own
    server gets IMAGE_SERVER_API_KEY if it is set.
    """

    model: str = "gpt-5.4-mini"
    base_url: str = wire.base_url_option("OPENAI_BASE_URL")
    structured: str = "schema"
    effort: str | None = None
    vendor: ClassVar[str] = "openai"
    default_address: ClassVar[str] = "https://api.openai.com/v1"
    keys: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)

    def __post_init__(self) -> None:
        one_of("openai:structured", self.structured, ("schema", "object", "none"))
        super().__post_init__()

    @property
    def is_other_server(self) -> bool:
        """Whether it is your own server, or another vendor's."""
        return self.address() != self.default_address

    def ready(self) -> str | None:
        names = () if self.is_other_server else self.keys
        return requirements.missing("judges", ("httpx", "jsonschema"), *names)

    def rates(self) -> Rates:
        rates = super().rates()
        if rates is None and self.is_other_server and image_servers.costs_nothing(self.address()):
            return 0.0, 0.0
        return rates

    def path(self) -> str:
        return "chat/completions"

    def headers(self) -> dict[str, str]:
        key = os.environ.get(SERVER_KEY, "").strip() if self.is_other_server else keys.read_key(*self.keys)
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, shown: Shown) -> Json:
        content: str | list[Json] = shown.words
        if shown.pictures:
            parts: list[Json] = []
            for number, data in enumerate(shown.pictures, 1):
                parts += [
                    {"type": "text", "text": f"Picture {number}:"},
                    {"type": "image_url", "image_url": {"url": wire.data_address(data)}},
                ]
            content = [*parts, {"type": "text", "text": shown.words}]
        limit = "max_tokens" if self.is_other_server else "max_completion_tokens"
        sent: Json = {"model": self.model, "messages": [{"role": "user", "content": content}], limit: self.max_tokens}
        if self.temperature is not None:
            sent["temperature"] = self.temperature
        if self.effort:
            sent["reasoning_effort"] = self.effort
        if shown.schema and self.structured == "schema":
            form = {"name": shown.name, "strict": True, "schema": dict(shown.schema)}
            sent["response_format"] = {"type": "json_schema", "json_schema": form}
        elif shown.schema and self.structured == "object":
            sent["response_format"] = {"type": "json_object"}
        return sent

    def read(self, reply: Json, headers: Mapping[str, str]) -> Answer:
        usage, choices = mapping(reply.get("usage")), reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        if choice is None:
            raise Transient("an answer without choices", charged=True)
        message = mapping(choice.get("message"))
        facts = {
            "model": " ".join(str(name) for name in (reply.get("model"), reply.get("system_fingerprint")) if name),
            "usage": usage,
            "finish_reason": choice.get("finish_reason"),
            "request_id": reply.get("id") or headers.get("x-request-id"),
        }
        details = {key: value for key, value in facts.items() if value}
        cost = dollars(self.rates(), usage.get("prompt_tokens"), usage.get("completion_tokens"))
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            reason = str(message.get("refusal") or "content_filter")
            return Answer(status="refused", reason=reason, text=text, cost=cost, details=details)
        return Answer(text=text, cost=cost, details=details)

    def read_error(self, response: "httpx.Response", reply: Json) -> Answer:
        """An empty account looks like a rate limit here."""
        error = mapping(reply.get("error"))
        code, message = str(error.get("code") or ""), str(error.get("message") or reply.get("error") or reply)
        if code in _REFUSALS:
            return Answer(status="refused", reason=f"{code}: {message}", cost=0.0)
        if code in NO_CREDIT:
            raise Unusable(f"HTTP {response.status_code}: {code}: {message}")
        if response.status_code < 400:
            raise Rejected(f"HTTP {response.status_code} in place of an answer")
        raise wire.status_error(response.status_code, f"{code} {message}", response.headers.get("retry-after"))
