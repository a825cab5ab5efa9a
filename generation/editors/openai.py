"""OpenAI's image models through the images/edits endpoint, and servers of one's own that speak it."""

import dataclasses
import functools
import os
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError, one_of
from ..vendors import image_servers, keys, models, wire
from ..vendors.sizes import MEGAPIXEL, OPENAI, Size, nearest, of_pipeline

REFUSALS = ("moderation_blocked", "content_policy_violation")
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
MOST_WORDS = 32_000  # characters
MOST_BYTES = 50_000_000
SERVER_KEY = "IMAGE_SERVER_API_KEY"  # for a server of one's own that asks for one


@dataclass(frozen=True)
class Editor:
    """GPT-Image models through the openai SDK, which take no seed; and with base_url= a server of your own.

    `input_fidelity=auto` asks for the highest that the model takes, and for none of a model that has no such choice.

    A server of your own, such as vLLM-Omni or SGLang, is `base_url=http://HOST:8000,model=Qwen/Qwen-Image-Edit-2511`: a
    model that is not OpenAI's. It is sent seed, steps and guidance; what it says of its version and accelerations is
    part of a chain's identity. Several addresses, joined by +, share the calls.
    """

    model: str = "gpt-image-2.5-sunburst"
    quality: str = "medium"
    input_fidelity: str = "auto"
    timeout: float = field(default=600.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("OPENAI_BASE_URL")
    steps: int | None = field(default=None, metadata={"identity": "where given"})
    guidance: float | None = field(default=None, metadata={"identity": "where given"})
    true_cfg: float | None = field(default=None, metadata={"identity": "where given"})
    teacache: bool | None = field(default=None, metadata={"identity": "where given"})
    needs: ClassVar[str] = "OPENAI_API_KEY and pip install 'convergebench[openai]'"

    def __post_init__(self) -> None:
        one_of("openai:quality", self.quality, tuple(self.hosted().facts["qualities"]))
        one_of("openai:input_fidelity", self.input_fidelity, ("auto", *self.hosted().facts["fidelities"]))
        if self.timeout <= 0:
            raise UserError(f"openai:timeout is {self.timeout}; it is a number of seconds above 0")
        self.addresses()
        if self.extras and not self.served:
            raise UserError(f"openai:{next(iter(self.extras))} is for servers of your own; {self.model} is OpenAI's")
        if self.steps is not None and self.steps < 1:
            raise UserError(f"openai:steps is {self.steps}; it is a whole number from 1")

    def hosted(self) -> models.Model:
        return models.find("openai", self.model)

    @property
    def fidelity(self) -> str | None:
        """The input fidelity that is asked for; None where the model takes none."""
        known = self.hosted().facts["fidelities"]
        return (known[-1] if known else None) if self.input_fidelity == "auto" else self.input_fidelity

    @property
    def served(self) -> bool:
        """Whether a server of one's own is asked: an address is given, and a model that is not OpenAI's."""
        return bool(self.base_url) and not any(self.model.startswith(name) for name in ("gpt-", "chatgpt-", "dall-e-"))

    @property
    def extras(self) -> dict[str, Any]:
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

    def addresses(self) -> list[str]:
        given = self.base_url.split("+")
        if len(given) > 1 and not self.served:
            raise UserError(f"openai:base_url is {self.base_url!r}; several addresses are for servers of your own")
        whole = [wire.base_address(each, "OPENAI_BASE_URL", "https://api.openai.com/v1") for each in given]
        return [address.removesuffix("/v1") + "/v1" for address in whole]

    def identity(self) -> dict[str, str]:
        """What a server of one's own says of itself: its version, its model, its accelerations."""
        if not self.served or requirements.missing_packages("openai", "httpx"):
            return {}
        return {"server": image_servers.describe_all(self.addresses(), self.model)}

    def ready(self) -> str | None:
        return requirements.missing("openai", ("openai",), *(() if self.served else ("OPENAI_API_KEY",)))

    def sizes(self) -> tuple[Size, ...]:
        if self.served:
            return of_pipeline(self.model)
        return MEGAPIXEL if self.hosted().facts["sizes"] == "megapixel" else OPENAI

    def price(self) -> float | None:
        """The most a call can cost: the dearest size, with the input picture's tokens."""
        price, sent = self.hosted().price, self.hosted().facts.get("input", 0.0)
        if self.served and price is None and all(map(image_servers.costs_nothing, self.addresses())):
            return 0.0
        if not isinstance(price, dict):
            return price
        if self.quality not in price:
            return None
        if not isinstance(sent, dict):
            sent = {self.fidelity: sent}
        more = price.get(f"input_{self.fidelity}", sent.get(self.fidelity, 0.0))  # older price files name both in one
        return round(float(price[self.quality] + more), 4)

    @functools.cached_property
    def clients(self) -> dict[str, Any]:
        """A client for each address. OpenAI's key goes to a server of one's own under no circumstances."""
        if reason := requirements.missing_packages("openai", "openai"):
            raise Unusable(reason)
        import openai

        given: dict[str, Any] = {"http_client": wire.client("httpx2"), "max_retries": 0}
        if self.served:
            nothing = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
            given |= {"api_key": os.environ.get(SERVER_KEY, "").strip() or "none", "default_headers": nothing}
        else:
            given["api_key"] = keys.read_key("OPENAI_API_KEY")
        return {address: openai.OpenAI(base_url=address, **given) for address in self.addresses()}

    @functools.cached_property
    def servers(self) -> image_servers.LeastLoaded:
        return image_servers.LeastLoaded(self.addresses())

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        data = pictures.encode_png(image)
        if len(instruction) > MOST_WORDS or len(data) >= MOST_BYTES:
            raise Rejected(
                f"{len(instruction)} characters and {len(data)} bytes; at most {MOST_WORDS} and {MOST_BYTES}"
            )
        if self.served:
            size, picture = image.size, ("picture.png", data, "image/png")
            given: dict[str, Any] = {"extra_body": {"seed": seed, **self.extras}, "response_format": "b64_json"}
        else:
            size, picture = nearest(image.size, self.sizes()), [("picture.png", data, "image/png")]  # type: ignore[assignment]
            given = {"quality": self.quality} | ({"input_fidelity": self.fidelity} if self.fidelity else {})
        sent: dict[str, Any] = {
            "model": self.model,
            "image": picture,
            "prompt": instruction,
            "size": "x".join(map(str, size)),
        }
        sent |= {"output_format": "png", "n": 1, **given}
        if not self.served:
            return self.request(self.addresses()[0], sent, instruction)
        with self.servers.pick() as address:
            answer = self.request(address, sent, instruction)
        return dataclasses.replace(answer, details={**answer.details, "address": address, "sent": given["extra_body"]})

    def request(self, address: str, sent: dict[str, Any], instruction: str) -> Answer:
        """One request and what its response says."""
        client = self.clients[address]
        import openai

        with wire.time_limit(self.timeout), wire.documented_form():
            try:
                raw = client.images.with_raw_response.edit(**sent)
            except openai.APIStatusError as error:
                return read_refusal(error)
            except openai.APIConnectionError as error:
                raise wire.connection_lost(
                    error.__cause__ if isinstance(error.__cause__, Exception) else error
                ) from error
            return self.read(wire.parse_json(raw.http_response), raw.headers, instruction)

    def read(self, body: dict[str, Any], headers: Any, instruction: str) -> Answer:
        usage = body.get("usage")
        about = {
            "request_id": headers.get("x-request-id"),
            "model": self.model,
            "usage": usage,
            "input_fidelity": self.fidelity,
            "uncontrolled": [] if self.served else list(self.hosted().facts["cannot"]),
        }
        cost = self.cost(usage)
        rows = body.get("data")
        row = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
        if not row.get("b64_json"):
            return Answer(status="no_image", reason="an answer without b64_json", cost=cost, details=about)
        about["declared"] = f"image/{body.get('output_format', 'png')}"
        if row.get("revised_prompt") not in (None, "", instruction):
            about["revised_prompt"] = row["revised_prompt"]
        return Answer(wire.from_base64(row["b64_json"]), cost=cost, details=about)

    def cost(self, usage: Any) -> float | None:
        """By the tokens that the answer counts; None where it counts none or their price is not known."""
        rates = self.hosted().tokens
        if not rates or not isinstance(usage, dict) or not isinstance(usage.get("output_tokens"), int):
            return None
        given = usage.get("input_tokens_details") or {}
        text, picture = given.get("text_tokens", 0), given.get("image_tokens", 0)
        dollars = text * rates["text"] + picture * rates["image"] + usage["output_tokens"] * rates["output"]
        return float(round(dollars / 1e6, 6))


def read_refusal(error: Any) -> Answer:
    """A refusal is an error here; so is an empty account, which looks like a rate limit."""
    body = error.body if isinstance(error.body, dict) else {}
    code, message = str(body.get("code") or ""), str(body.get("message") or error.message)
    if code in REFUSALS:
        return wire.refusal(f"{code}: {message}", 0.0, request_id=error.request_id)
    if code in NO_CREDIT:
        raise Unusable(f"HTTP {error.status_code}: {code}: {message}") from error
    fault = wire.status_error(error.status_code, f"{code} {message}", error.response.headers.get("retry-after"))
    if isinstance(fault, Transient) and (milliseconds := error.response.headers.get("retry-after-ms")):
        fault.retry_after = wire.retry_after_seconds(milliseconds) and float(milliseconds) / 1000
    raise fault from error
