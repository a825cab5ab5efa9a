"""OpenAI's image models through the images/edits endpoint, and the user's own servers with the same API."""

import dataclasses
import functools
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient
from ..options import WHERE_GIVEN, number
from ..records import Answer, UserError, one_of
from ..vendors import hosted, image_servers, keys, wire
from ..vendors.sizes import MEGAPIXEL, OPENAI, Size, nearest, of_pipeline
from ..vendors.wire import Json

if TYPE_CHECKING:
    import httpx2
    import openai

NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
SERVER_KEY = "IMAGE_SERVER_API_KEY"  # for the user's own servers, if they ask for one
_MEANINGS = (
    ("refused", "code", ("moderation_blocked", "content_policy_violation")),
    ("unusable", "code", NO_CREDIT),  # an empty account, which looks like a rate limit
)
_MOST_WORDS = 32_000  # characters; this limit and the next are from the API reference of images/edits
_MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """GPT-Image models through the openai SDK, which take no seed; and with base_url= a server of your own.

    `input_fidelity=auto` sends the highest value that the model takes, and none if the model has no such option.

    For a server of your own, such as vLLM-Omni or SGLang, give its address and a model that is not OpenAI's:
    `base_url=http://HOST:8000,model=Qwen/Qwen-Image-Edit-2511`. It is sent seed, steps and guidance; the version and
    accelerations that it reports are part of a chain's identity. Several addresses, joined by +, share the calls.
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
    vendor: ClassVar = hosted.Vendor("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", packages=("openai",))

    def check(self) -> None:
        one_of("openai:quality", self.quality, tuple(self.facts["qualities"]))
        one_of("openai:input_fidelity", self.input_fidelity, ("auto", *self.facts["fidelities"]))
        if self._extras and not self.served:
            raise UserError(f"openai:{next(iter(self._extras))} is for servers of your own; {self.model} is OpenAI's")

    @property
    def _fidelity(self) -> str | None:
        """The input fidelity to send; None if the model takes none."""
        levels = self.facts["fidelities"]
        return (levels[-1] if levels else None) if self.input_fidelity == "auto" else self.input_fidelity

    @property
    def served(self) -> bool:
        """Whether calls go to the user's own server: base_url is set, and the model is not OpenAI's."""
        return bool(self.base_url) and not self.model.startswith(("gpt-", "chatgpt-", "dall-e-"))

    @property
    def _extras(self) -> Json:
        """What such servers take beyond OpenAI's parameters, by the names of their APIs."""
        named = {
            "num_inference_steps": self.steps,
            "guidance_scale": self.guidance,
            "true_cfg_scale": self.true_cfg,
            "enable_teacache": self.teacache,
        }
        return {name: value for name, value in named.items() if value is not None}

    @property
    def concurrency(self) -> int:
        return 4 * len(self.addresses()) if self.served else 8

    def address(self) -> str:
        return self.addresses()[0]

    def addresses(self) -> list[str]:
        listed = self.base_url.split("+")
        if len(listed) > 1 and not self.served:
            raise UserError(f"openai:base_url must be one address unless they are your own servers, got {listed}")
        addresses = [wire.base_address(address, "OPENAI_BASE_URL", self.vendor.address) for address in listed]
        return [address.removesuffix("/v1") + "/v1" for address in addresses]

    def identity(self) -> dict[str, str]:
        """What the user's own server reports: its version, its model, its accelerations."""
        if not self.served or requirements.missing_packages("openai", "httpx"):
            return {}
        return {"server": image_servers.describe_all(self.addresses(), self.model)}

    def ready(self) -> str | None:
        return requirements.missing("openai", ("openai",), *(() if self.served else self.vendor.keys))

    def sizes(self) -> tuple[Size, ...]:
        if self.served:
            return of_pipeline(self.model)
        return MEGAPIXEL if self.facts["sizes"] == "megapixel" else OPENAI

    def price(self) -> float | None:
        """The highest cost of a call: that of the dearest size, with the input picture's tokens."""
        price, sent = self.hosted().price, self.facts.get("input", 0.0)
        if self.served and price is None and all(map(image_servers.costs_nothing, self.addresses())):
            return 0.0
        if not isinstance(price, dict):
            return price
        if self.quality not in price:
            return None
        of_picture = sent.get(self._fidelity, 0.0) if isinstance(sent, dict) else sent
        return round(float(price[self.quality] + price.get(f"input_{self._fidelity}", of_picture)), 4)

    @functools.cached_property
    def _clients(self) -> "dict[str, openai.OpenAI]":
        """A client for each address. OpenAI's key is never sent to the user's own servers."""
        self.require_packages()
        import openai

        if self.served:
            key = os.environ.get(SERVER_KEY, "").strip() or "none"
            headers = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        else:
            key, headers = keys.read_key("OPENAI_API_KEY"), {}
        http = wire.client("httpx2")
        return {
            address: openai.OpenAI(
                base_url=address,
                api_key=key,
                default_headers=headers,  # type: ignore[arg-type]
                http_client=http,  # type: ignore[arg-type]
                max_retries=0,
            )
            for address in self.addresses()
        }

    @functools.cached_property
    def _servers(self) -> image_servers.LeastLoaded:
        return image_servers.LeastLoaded(self.addresses())

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        data = pictures.encode_png(image)
        if len(instruction) > _MOST_WORDS or len(data) >= _MOST_BYTES:
            raise Rejected(
                f"{len(instruction)} characters and {len(data)} bytes; at most {_MOST_WORDS} and {_MOST_BYTES}"
            )
        picture = ("picture.png", data, "image/png")
        body: Json = {"model": self.model, "prompt": instruction, "output_format": "png", "n": 1}
        if self.served:
            extra = {"seed": seed, **self._extras}
            body |= {"image": picture, "size": "{}x{}".format(*image.size), "response_format": "b64_json"}
            with self._servers.pick() as address:
                answer = self._request(address, {**body, "extra_body": extra}, instruction)
            return dataclasses.replace(answer, details={**answer.details, "address": address, "sent": extra})
        body |= {
            "image": [picture],
            "size": "{}x{}".format(*nearest(image.size, self.sizes())),
            "quality": self.quality,
        }
        body |= {"input_fidelity": self._fidelity} if self._fidelity else {}
        return self._request(self.address(), body, instruction)

    def _request(self, address: str, body: Json, instruction: str) -> Answer:
        """Send one request and read the answer in its response."""
        client = self._clients[address]
        import openai

        try:
            raw = client.images.with_raw_response.edit(**body)
        except openai.APIStatusError as error:
            return _declined(error)
        except openai.APIConnectionError as error:
            raise wire.connection_lost(error.__cause__ if isinstance(error.__cause__, Exception) else error) from error
        return self._read(wire.parse_json(raw.http_response), raw.headers, instruction)

    def _read(self, reply: Json, headers: "httpx2.Headers", instruction: str) -> Answer:
        usage, row = reply.get("usage"), hosted.first_row(reply)
        details = {
            "request_id": headers.get("x-request-id"),
            "model": self.model,
            "usage": usage,
            "input_fidelity": self._fidelity,
            "uncontrolled": [] if self.served else list(self.facts["cannot"]),
        }
        cost = self._cost(usage)
        if not row.get("b64_json"):
            return Answer(status="no_image", reason="an answer without b64_json", cost=cost, details=details)
        details |= {"declared": f"image/{reply.get('output_format', 'png')}"}
        details |= hosted.rewritten(row.get("revised_prompt"), instruction)
        return Answer(wire.from_base64(row["b64_json"]), cost=cost, details=details)

    def _cost(self, usage: object) -> float | None:
        """US dollars for the tokens that the answer reports; None if it reports none or their price is not known."""
        rates = self.hosted().tokens
        if not rates or not isinstance(usage, dict) or not isinstance(usage.get("output_tokens"), int):
            return None
        sent = usage.get("input_tokens_details") or {}
        dollars = sent.get("text_tokens", 0) * rates["text"] + sent.get("image_tokens", 0) * rates["image"]
        return float(round((dollars + usage["output_tokens"] * rates["output"]) / 1e6, 6))


def _declined(error: "openai.APIStatusError") -> Answer:
    """A refusal as an answer; any other error of the SDK is raised as the fault that its code stands for."""
    body = error.body if isinstance(error.body, dict) else {}
    code, message = str(body.get("code") or ""), str(body.get("message") or error.message)
    try:
        return wire.declined(error.response, code, message, _MEANINGS, request_id=error.request_id)
    except Transient as fault:
        if milliseconds := error.response.headers.get("retry-after-ms"):
            fault.retry_after = wire.retry_after_seconds(milliseconds) and float(milliseconds) / 1000
        raise
