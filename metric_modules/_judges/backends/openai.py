"""OpenAI's models through chat/completions, and every server that speaks it: vLLM, SGLang, llama.cpp, Ollama."""

import functools
import os
from dataclasses import dataclass, field
from typing import Any, ClassVar

from convergebench.generation import requirements
from convergebench.generation.calls import Rejected, Transient, Unusable
from convergebench.generation.editors.openai import NO_CREDIT, SERVER_KEY
from convergebench.generation.records import Answer, one_of
from convergebench.generation.vendors import image_servers, keys, wire

from . import Shown, dollars, mapping, most_dollars, require_sizes, token_prices

OWN = "https://api.openai.com/v1"
STRUCTURED = ("schema", "object", "none")
REFUSALS = ("content_policy_violation", "content_filter", "moderation_blocked", "invalid_prompt")


@dataclass(frozen=True)
class Judge:
    """A model behind an OpenAI-compatible address; without base_url= OpenAI's own.

    `effort` is how much a reasoning model reasons, sent where it is given. `structured` says how the server is held to
    the question's schema: by the schema, by JSON alone, or not at all. OpenAI's key goes to OpenAI only; a server of
    one's own gets IMAGE_SERVER_API_KEY where it is set.
    """

    model: str = "gpt-5.4-mini"
    base_url: str = wire.base_url_option("OPENAI_BASE_URL")
    temperature: float | None = None
    structured: str = "schema"
    effort: str | None = None
    side: int = 1024
    max_tokens: int = 4000
    timeout: float = field(default=300.0, metadata={"identity": False})
    needs: ClassVar[str] = "OPENAI_API_KEY or base_url=, and pip install 'convergebench[judges]'"

    def __post_init__(self) -> None:
        one_of("openai:structured", self.structured, STRUCTURED)
        require_sizes("openai", self.side, self.max_tokens, self.timeout)
        self.address()

    @property
    def served(self) -> bool:
        """Whether it is a server of one's own, or another vendor's."""
        return self.address() != OWN

    def address(self) -> str:
        return wire.base_address(self.base_url, "OPENAI_BASE_URL", OWN)

    def ready(self) -> str | None:
        return requirements.missing("judges", ("httpx", "jsonschema"), *(() if self.served else ("OPENAI_API_KEY",)))

    def rates(self) -> tuple[float, float] | None:
        found = token_prices("openai", self.model)
        return (0.0, 0.0) if found is None and self.served and image_servers.costs_nothing(self.address()) else found

    def price(self, letters: int, pictures: int) -> float | None:
        return most_dollars(self.rates(), letters, pictures, self.max_tokens)

    @functools.cached_property
    def client(self) -> Any:
        return wire.client()

    def headers(self) -> dict[str, str]:
        key = os.environ.get(SERVER_KEY, "").strip() if self.served else keys.read_key("OPENAI_API_KEY")
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, shown: Shown) -> dict[str, Any]:
        """What is sent. Words without pictures are sent as they are, with nothing around them."""
        content: Any = shown.words
        if shown.pictures:
            content = []
            for number, data in enumerate(shown.pictures, 1):
                address = f"data:image/png;base64,{wire.to_base64(data)}"
                content += [
                    {"type": "text", "text": f"Picture {number}:"},
                    {"type": "image_url", "image_url": {"url": address}},
                ]
            content.append({"type": "text", "text": shown.words})
        most = "max_tokens" if self.served else "max_completion_tokens"
        sent = {"model": self.model, "messages": [{"role": "user", "content": content}], most: self.max_tokens}
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

    def answer(self, shown: Shown) -> Answer:
        with wire.time_limit(self.timeout):
            response, reply = wire.post(
                self.client, f"{self.address()}/chat/completions", self.headers(), self.body(shown)
            )
        if response.status_code != 200:
            return read_error(response, reply)
        return self.read(reply, response.headers)

    def read(self, reply: dict[str, Any], headers: Any) -> Answer:
        usage = mapping(reply.get("usage"))
        choices = reply.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        if choice is None:
            raise Transient("an answer without choices", charged=True)
        message = mapping(choice.get("message"))
        fingerprint = reply.get("system_fingerprint")
        about = {
            "model": " ".join(str(each) for each in (reply.get("model"), fingerprint) if each),
            "usage": usage,
            "finish_reason": choice.get("finish_reason"),
            "request_id": reply.get("id") or headers.get("x-request-id"),
        }
        details = {key: value for key, value in about.items() if value}
        cost = dollars(self.rates(), usage.get("prompt_tokens"), usage.get("completion_tokens"))
        content = message.get("content")
        said = content if isinstance(content, str) else ""
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            reason = str(message.get("refusal") or "content_filter")
            return Answer(status="refused", reason=reason, text=said, cost=cost, details=details)
        return Answer(text=said, cost=cost, details=details)


def read_error(response: Any, reply: dict[str, Any]) -> Answer:
    """A refusal may be an error, and so is an empty account, which looks like a rate limit."""
    given = reply.get("error")
    error = mapping(given)
    code, message = str(error.get("code") or ""), str(error.get("message") or given or reply)
    if code in REFUSALS:
        return Answer(status="refused", reason=f"{code}: {message}", cost=0.0)
    if code in NO_CREDIT:
        raise Unusable(f"HTTP {response.status_code}: {code}: {message}")
    if response.status_code < 400:
        raise Rejected(f"HTTP {response.status_code} in place of an answer")
    raise wire.status_error(response.status_code, f"{code} {message}", response.headers.get("retry-after"))
