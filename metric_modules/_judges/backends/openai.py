"""OpenAI's models, and every server that speaks chat/completions, such as vLLM."""

import os
from dataclasses import dataclass
from typing import ClassVar

from convergebench.generation import local_models
from convergebench.generation.editors.openai import NO_CREDIT, SERVER_KEY
from convergebench.generation.records import one_of
from convergebench.generation.vendors import image_servers, wire
from convergebench.generation.vendors.wire import Json

from . import HostedJudge, Shown


@dataclass(frozen=True)
class Judge(HostedJudge):
    """A model behind an OpenAI-compatible address; without base_url= OpenAI's own.

    `effort` is how much a reasoning model reasons; it is sent if given. `structured` says how
    the server is held to the question's schema: by the schema, by JSON alone, or not at all.
    OpenAI's key goes to OpenAI only; your own server gets IMAGE_SERVER_API_KEY if it is set.
    """

    model: str = "gpt-5.4-mini"
    base_url: str = wire.base_url_option("OPENAI_BASE_URL")
    structured: str = "schema"
    effort: str | None = None
    vendor: ClassVar = "openai"
    home: ClassVar = "https://api.openai.com/v1"
    key_names: ClassVar = ("OPENAI_API_KEY",)
    path: ClassVar = "/chat/completions"
    meanings: ClassVar = (
        (
            "refused",
            "code",
            ("content_policy_violation", "content_filter", "moderation_blocked", "invalid_prompt"),
        ),
        ("unusable", "code", NO_CREDIT),  # an empty account, which looks like a rate limit
    )

    def check(self) -> None:
        one_of("openai:structured", self.structured, ("schema", "object", "none"))

    @property
    def _is_other_server(self) -> bool:
        return self.address() != self.home

    def ready(self) -> str | None:
        names = () if self._is_other_server else self.key_names
        return local_models.missing_requirements("judges", ("jsonschema",), *names)

    def rates(self) -> tuple[float, float] | None:
        is_free = self._is_other_server and image_servers.costs_nothing(self.address())
        return super().rates() or ((0.0, 0.0) if is_free else None)

    def headers(self) -> dict[str, str]:
        if not self._is_other_server:
            return super().headers()
        key = os.environ.get(SERVER_KEY, "").strip()
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, shown: Shown) -> Json:
        content: str | list[Json] = shown.words
        if shown.pictures:
            parts: list[Json] = []
            for number, data in enumerate(shown.pictures, 1):
                picture = {"type": "image_url", "image_url": {"url": wire.data_address(data)}}
                parts += [{"type": "text", "text": f"Picture {number}:"}, picture]
            content = [*parts, {"type": "text", "text": shown.words}]
        limit = "max_tokens" if self._is_other_server else "max_completion_tokens"
        sent: Json = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            limit: self.max_tokens,
        }
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

    def read(self, reply: Json) -> tuple[str, str, tuple[object, object], Json]:
        choice, usage = reply["choices"][0], reply.get("usage") or {}
        message, finish = choice["message"], choice.get("finish_reason")
        names = filter(None, (reply.get("model"), reply.get("system_fingerprint")))
        facts = {
            "model": " ".join(map(str, names)),
            "usage": usage,
            "finish_reason": finish,
            "request_id": reply.get("id"),
        }
        text = message["content"] if isinstance(message.get("content"), str) else ""
        refusal = str(message.get("refusal") or (finish if finish == "content_filter" else ""))
        return text, refusal, (usage.get("prompt_tokens"), usage.get("completion_tokens")), facts
