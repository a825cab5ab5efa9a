"""OpenAI's image models, and the user's own servers with the same API."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from PIL import Image, ImageChops, ImageFilter, ImageOps

from .. import pictures
from ..options import WHERE_GIVEN, choice, number
from ..records import Answer, Turn, UserError, one_of
from ..vendors import hosted, image_servers, wire
from ..vendors.sizes import Size, nearest, of_pipeline
from ..vendors.wire import Json

NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
SERVER_KEY = "IMAGE_SERVER_API_KEY"  # for the user's own servers, if they ask for one
# What servers of one's own take beyond OpenAI's parameters, by the names of their APIs.
_SERVER_OPTIONS = {
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "true_cfg": "true_cfg_scale",
    "teacache": "enable_teacache",
}
_ACCOUNT = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """GPT-Image models, which take no seed; and with base_url= a server of your own.

    `input_fidelity=auto` sends the highest value that the model takes.
    docs/editors.md describes own servers, and the Responses API: `session=one`
    sends the whole conversation, with `session=server` OpenAI keeps it.
    """

    model: str = "gpt-image-2.5-sunburst"
    timeout: float = number(600.0, above=0, identity=False)
    base_url: str = wire.base_url_option("OPENAI_BASE_URL")
    quality: str = "medium"
    input_fidelity: str = "auto"
    complexity: str | None = field(default=None, metadata={"identity": WHERE_GIVEN})  # low, medium or high
    mask: bool | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    # The mask's outline, drawn in red.
    markup: bool | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    session: str = choice("fresh", ("fresh", "one", "server"))
    steps: int | None = number(None, least=1, identity=WHERE_GIVEN)
    guidance: float | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    true_cfg: float | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    teacache: bool | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    vendor: ClassVar = "openai"
    meanings: ClassVar = (
        ("refused", "code", ("moderation_blocked", "content_policy_violation")),
        ("unusable", "code", NO_CREDIT),  # an empty account, which looks like a rate limit
        ("forgotten", "code", ("previous_response_not_found",)),
    )

    def check(self) -> None:
        super().check()
        one_of("openai:input_fidelity", self.input_fidelity, ("auto", *self.facts["fidelities"]))
        if self._extras and not self._served:
            option = next(iter(self._extras))
            raise UserError(f"openai:{option} is for servers of your own; {self.model} is OpenAI's")
        if self.session != "fresh" and self._served:
            raise UserError(f"openai:session is for OpenAI's models, {self.model} is on a server of your own")
        one_of("openai:complexity", self.complexity or "low", ("low", "medium", "high"))
        if self.markup and (self.mask or self.session != "fresh" or not self.model.startswith("gpt-image-2.5")):
            raise UserError("openai:markup is for gpt-image-2.5, without mask and in no session")

    @property
    def masked(self) -> bool:
        return bool(self.mask or self.markup)

    @property
    def remembers(self) -> bool:
        return self.session != "fresh"

    @property
    def _fidelity(self) -> str | None:
        levels = self.facts["fidelities"]
        return (levels[-1] if levels else None) if self.input_fidelity == "auto" else self.input_fidelity

    @property
    def _further(self) -> Json:
        values = {"input_fidelity": self._fidelity, "complexity": self.complexity}
        return {name: value for name, value in values.items() if value}

    @property
    def _served(self) -> bool:
        return bool(self.base_url) and not self.model.startswith(("gpt-", "chatgpt-", "dall-e-"))

    @property
    def _extras(self) -> Json:
        values = {name: getattr(self, option) for option, name in _SERVER_OPTIONS.items()}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def concurrency(self) -> int:
        return 4 if self._served else super().concurrency

    def address(self) -> str:
        return wire.base_address(self.base_url, self.home).removesuffix("/v1") + "/v1"

    def identity(self) -> dict[str, str]:
        return {"server": image_servers.describe(self.address(), self.model)} if self._served else {}

    def ready(self) -> str | None:
        return None if self._served else super().ready()

    def sizes(self) -> tuple[Size, ...]:
        return of_pipeline(self.model) if self._served else super().sizes()

    def price(self) -> float | None:
        """The highest cost: of the dearest size, with the input picture's tokens."""
        price, sent = self.hosted().price, self.facts.get("input", 0.0)
        if self._served and price is None and image_servers.costs_nothing(self.address()):
            return 0.0
        if not isinstance(price, dict):
            return price
        if self.quality not in price or self.remembers:  # what a conversation costs grows with its length
            return None
        of_picture = sent.get(self._fidelity, 0.0) if isinstance(sent, dict) else sent
        return round(float(price[self.quality] + price.get(f"input_{self._fidelity}", of_picture)), 4)

    def headers(self) -> dict[str, str]:
        """OpenAI's key is never sent to the user's own servers."""
        if self._served:
            return {"authorization": f"Bearer {os.environ.get(SERVER_KEY, '').strip() or 'none'}"}
        account = {name: os.environ[variable] for name, variable in _ACCOUNT.items() if os.environ.get(variable)}
        return super().headers() | account

    def ask(self, image: Image.Image, instruction: str, seed: int, mask: bytes = b"") -> Answer:
        picture = ("picture.png", pictures.encode_png(image), "image/png")
        files = {"image" if self._served else "image[]": picture}
        if mask:
            name = "markup" if self.markup else "mask"
            files[name] = (f"{name}.png", mask, "image/png")
        reply = self.send("POST", "/images/edits", data=self._form(image.size, instruction, seed), files=files)
        row = hosted.first_row(reply)
        details: Json = {"input_fidelity": self._fidelity, "revised_prompt": row.get("revised_prompt")}
        details["declared"] = f"image/{reply.get('output_format', 'png')}"
        if self._served:
            sent = {"seed": seed, **self._extras}
            details |= {"address": self.address(), "sent": sent, "uncontrolled": []}
        data = wire.from_base64(row["b64_json"]) if row.get("b64_json") else None
        return self.answer(data, reply, details, instruction, cost=self._cost(reply.get("usage")))

    def _form(self, size: Size, instruction: str, seed: int) -> Json:
        form: Json = {"model": self.model, "prompt": instruction, "output_format": "png", "n": 1}
        if self._served:
            form |= {"size": f"{size[0]}x{size[1]}", "response_format": "b64_json"}
            return form | {"seed": seed, **self._extras}
        width, height = nearest(size, self.sizes())
        return form | {"size": f"{width}x{height}", "quality": self.quality, **self._further}

    def edit(
        self,
        image: Image.Image,
        instruction: str,
        seed: int,
        history: Sequence[Turn] = (),
        mask: Image.Image | None = None,
    ) -> Answer:
        protecting = b"" if mask is None else _outline(mask) if self.markup else _transparent(mask)
        if self.remembers:
            answer = self._within_time(lambda: self._respond(image.size, instruction, history, protecting))
        else:
            answer = self._within_time(lambda: self.ask(image, instruction, seed, protecting))
        return replace(answer, details={**answer.details, "masked": True}) if protecting else answer

    def _respond(self, size: Size, instruction: str, history: Sequence[Turn], mask: bytes) -> Answer:
        """A turn of the Responses API with its image tool, by openai 3.51.0's types/responses."""
        width, height = nearest(size, self.sizes())
        tool: Json = {"type": "image_generation", "action": "edit", "model": self.model, "quality": self.quality}
        tool |= {"size": f"{width}x{height}", "output_format": "png"}
        tool |= self._further
        if mask:
            tool["input_image_mask"] = {"image_url": wire.data_address(mask)}
        keeps = self.session == "server"
        body: Json = {"model": self.facts["through"]["model"], "store": keeps, "tools": [tool]}
        body["tool_choice"] = {"type": "image_generation"}
        last = history[-1].details.get("session_id") if keeps else None
        words = {"type": "input_text", "text": instruction}
        further = (
            {"previous_response_id": last, "input": [{"role": "user", "content": [words]}]} if last else None
        )
        reply = self._go_on("/responses", body, further, {"input": _as_items(history, words)})
        return self._read_response(reply, instruction)

    def _read_response(self, reply: Json, instruction: str) -> Answer:
        rows = [row for row in reply["output"] if row["type"] == "image_generation_call"]
        row = next((row for row in rows if row.get("result")), rows[0] if rows else {})
        parts = [part for item in reply["output"] if item["type"] == "message" for part in item["content"]]
        text = "\n".join(part["text"] for part in parts if part.get("text"))
        usage, drawn = reply.get("usage") or {}, (reply.get("tool_usage") or {}).get("image_gen")
        cost = self._response_cost(usage, drawn)
        details = self._response_details(reply, row) | {"usage": {"image_gen": drawn, **usage}}
        picture = wire.from_base64(row["result"]) if row.get("result") else None
        error = row.get("error") or reply.get("error") or {}
        refused = error.get("code") in self.meanings[0][2]
        reason = error.get("message") or f"a response without a picture ({reply.get('status')})"
        return self.answer(picture, reply, details, instruction, text, cost, reason, refused)

    def _response_details(self, reply: Json, row: Json) -> Json:
        return {
            "model": self.model,
            "through": reply.get("model"),
            "session_id": reply["id"],
            "session_lost": reply.get("lost"),
            "call_id": row.get("id"),
            "revised_prompt": row.get("revised_prompt"),
            "action": row.get("action"),
            "declared": f"image/{row.get('output_format') or 'png'}",
            "input_fidelity": self._fidelity,
        }

    def _response_cost(self, usage: Json, drawn: object) -> float | None:
        """Of the picture and of the model that calls the tool, as if nothing had been cached."""
        picture, rates = self._cost(drawn), self.facts["through"]
        if picture is None or "input_tokens" not in usage:
            return None
        dollars = usage["input_tokens"] * rates["input"] + usage["output_tokens"] * rates["output"]
        return round(picture + dollars / 1e6, 6)

    def _cost(self, usage: object) -> float | None:
        rates = self.hosted().tokens
        if not rates or not isinstance(usage, dict) or not isinstance(usage.get("output_tokens"), int):
            return None
        sent = usage.get("input_tokens_details") or {}
        dollars = sent.get("text_tokens", 0) * rates["text"] + sent.get("image_tokens", 0) * rates["image"]
        return float(round((dollars + usage["output_tokens"] * rates["output"]) / 1e6, 6))


def _transparent(mask: Image.Image) -> bytes:
    picture = Image.new("RGBA", mask.size)
    picture.putalpha(ImageOps.invert(mask.convert("L")))
    return pictures.encode_png(picture)


def _outline(mask: Image.Image) -> bytes:
    """A transparent PNG with a red line around where OpenAI may edit."""
    white = mask.convert("L")
    inner = white.filter(ImageFilter.MinFilter(2 * max(1, min(mask.size) // 200) + 1))
    picture = Image.new("RGBA", mask.size, "red")
    picture.putalpha(ImageChops.subtract(white, inner))
    return pictures.encode_png(picture)


def _as_items(history: Sequence[Turn], words: Json) -> list[Json]:
    """The conversation as input items; the answers are the tool's calls."""
    start = {"type": "input_image", "image_url": wire.data_address(history[0].data), "detail": "auto"}
    items: list[Json] = [{"role": "user", "content": [start]}]
    for turn in history[1:]:
        items[-1]["content"].append({"type": "input_text", "text": turn.instruction})
        call = {"type": "image_generation_call", "id": turn.details.get("call_id"), "status": "completed"}
        items += [call | {"result": wire.to_base64(turn.data)}, {"role": "user", "content": []}]
    items[-1]["content"].append(words)
    return items
