"""OpenAI's image models, and the user's own servers with the same API."""

import os
from dataclasses import dataclass, field
from typing import ClassVar

from PIL import Image

from .. import pictures
from ..options import WHERE_GIVEN, number
from ..records import Answer, UserError, one_of
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

    `input_fidelity=auto` sends the highest value that the model takes. docs/editors.md describes own servers.
    """

    model: str = "gpt-image-2.5-sunburst"
    timeout: float = number(600.0, above=0, identity=False)
    base_url: str = wire.base_url_option("OPENAI_BASE_URL")
    quality: str = "medium"
    input_fidelity: str = "auto"
    steps: int | None = number(None, least=1, identity=WHERE_GIVEN)
    guidance: float | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    true_cfg: float | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    teacache: bool | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    vendor: ClassVar = "openai"
    home: ClassVar = "https://api.openai.com/v1"
    key_names: ClassVar = ("OPENAI_API_KEY",)
    meanings: ClassVar = (
        ("refused", "code", ("moderation_blocked", "content_policy_violation")),
        ("unusable", "code", NO_CREDIT),  # an empty account, which looks like a rate limit
    )

    def check(self) -> None:
        super().check()
        one_of("openai:input_fidelity", self.input_fidelity, ("auto", *self.facts["fidelities"]))
        if self._extras and not self._served:
            raise UserError(
                f"openai:{next(iter(self._extras))} is for servers of your own; {self.model} is OpenAI's"
            )

    @property
    def _fidelity(self) -> str | None:
        levels = self.facts["fidelities"]
        return (levels[-1] if levels else None) if self.input_fidelity == "auto" else self.input_fidelity

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
        if self.quality not in price:
            return None
        of_picture = sent.get(self._fidelity, 0.0) if isinstance(sent, dict) else sent
        return round(float(price[self.quality] + price.get(f"input_{self._fidelity}", of_picture)), 4)

    def headers(self) -> dict[str, str]:
        """OpenAI's key is never sent to the user's own servers."""
        if self._served:
            return {"authorization": f"Bearer {os.environ.get(SERVER_KEY, '').strip() or 'none'}"}
        account = {name: os.environ[variable] for name, variable in _ACCOUNT.items() if os.environ.get(variable)}
        return super().headers() | account

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        data = pictures.encode_png(image)
        form: Json = {"model": self.model, "prompt": instruction, "output_format": "png", "n": 1}
        if self._served:
            extra = {"seed": seed, **self._extras}
            form |= {"size": f"{image.width}x{image.height}", "response_format": "b64_json", **extra}
            return self._request("image", data, form, instruction, {"address": self.address(), "sent": extra})
        width, height = nearest(image.size, self.sizes())
        form |= {"size": f"{width}x{height}", "quality": self.quality}
        form |= {"input_fidelity": self._fidelity} if self._fidelity else {}
        return self._request("image[]", data, form, instruction, {})

    def _request(self, name: str, data: bytes, form: Json, instruction: str, sent: Json) -> Answer:
        files = {name: ("picture.png", data, "image/png")}
        response = wire.send("POST", f"{self.address()}/images/edits", self.headers(), data=form, files=files)
        reply = self.checked(response, wire.parse_json(response))
        row = hosted.first_row(reply)
        details: Json = sent | {"input_fidelity": self._fidelity, "revised_prompt": row.get("revised_prompt")}
        details |= {"uncontrolled": []} if self._served else {}
        picture = wire.from_base64(row["b64_json"]) if row.get("b64_json") else None
        details["declared"] = f"image/{reply.get('output_format', 'png')}"
        return self.answer(picture, reply, details, instruction, cost=self._cost(reply.get("usage")))

    def _cost(self, usage: object) -> float | None:
        rates = self.hosted().tokens
        if not rates or not isinstance(usage, dict) or not isinstance(usage.get("output_tokens"), int):
            return None
        sent = usage.get("input_tokens_details") or {}
        dollars = sent.get("text_tokens", 0) * rates["text"] + sent.get("image_tokens", 0) * rates["image"]
        return float(round((dollars + usage["output_tokens"] * rates["output"]) / 1e6, 6))
