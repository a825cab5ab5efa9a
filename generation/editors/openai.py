"""OpenAI's image models through the images/edits endpoint."""

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.sizes import MEGAPIXEL, OPENAI, Size, nearest

REFUSALS = ("moderation_blocked", "content_policy_violation")
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
MOST_WORDS = 32_000  # characters
MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class Editor:
    """GPT-Image models through the openai SDK; they take no seed.

    `input_fidelity=auto` asks for the highest that the model takes, and for none of a model that has no such choice.
    """

    model: str = "gpt-image-2.5-sunburst"
    quality: str = "medium"
    input_fidelity: str = "auto"
    timeout: float = field(default=600.0, metadata={"identity": False})
    base_url: str = field(default="", metadata={"identity": False})
    needs: ClassVar[str] = "OPENAI_API_KEY and pip install 'convergebench[openai]'"

    def __post_init__(self) -> None:
        one_of("openai:quality", self.quality, tuple(self.hosted().facts["qualities"]))
        one_of("openai:input_fidelity", self.input_fidelity, ("auto", *self.hosted().facts["fidelities"]))
        if self.timeout <= 0:
            raise UserError(f"openai:timeout is {self.timeout}; it is a number of seconds above 0")
        self.address()

    def hosted(self) -> models.Model:
        return models.find("openai", self.model)

    @property
    def fidelity(self) -> str | None:
        """The input fidelity that is asked for; None where the model takes none."""
        known = self.hosted().facts["fidelities"]
        return (known[-1] if known else None) if self.input_fidelity == "auto" else self.input_fidelity

    def address(self) -> str:
        return (
            wire.base_address(self.base_url, "OPENAI_BASE_URL", "https://api.openai.com/v1").removesuffix("/v1") + "/v1"
        )

    def ready(self) -> str | None:
        return requirements.missing("openai", ("openai",), "OPENAI_API_KEY")

    def sizes(self) -> tuple[Size, ...]:
        return MEGAPIXEL if self.hosted().facts["sizes"] == "megapixel" else OPENAI

    def price(self) -> float | None:
        """The most a call can cost: the dearest size, with the input picture's tokens."""
        price, sent = self.hosted().price, self.hosted().facts.get("input", 0.0)
        if not isinstance(price, dict):
            return price
        if self.quality not in price:
            return None
        if not isinstance(sent, dict):
            sent = {self.fidelity: sent}
        more = price.get(f"input_{self.fidelity}", sent.get(self.fidelity, 0.0))  # older price files name both in one
        return round(float(price[self.quality] + more), 4)

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("openai", "openai"):
            raise Unusable(reason)
        import openai

        http = wire.client("httpx2")
        return openai.OpenAI(
            api_key=keys.read_key("OPENAI_API_KEY"), base_url=self.address(), http_client=http, max_retries=0
        )

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client = self.client
        import openai

        data = pictures.encode_png(image)
        if len(instruction) > MOST_WORDS or len(data) >= MOST_BYTES:
            raise Rejected(
                f"{len(instruction)} characters and {len(data)} bytes; at most {MOST_WORDS} and {MOST_BYTES}"
            )
        width, height = nearest(image.size, self.sizes())
        given = {"input_fidelity": self.fidelity} if self.fidelity else {}
        with wire.time_limit(self.timeout):
            try:
                raw = client.images.with_raw_response.edit(
                    model=self.model,
                    image=[("picture.png", data, "image/png")],
                    prompt=instruction,
                    size=f"{width}x{height}",
                    quality=self.quality,
                    output_format="png",
                    n=1,
                    **given,
                )
            except openai.APIStatusError as error:
                return read_refusal(error)
            except openai.APIConnectionError as error:
                raise wire.connection_lost(
                    error.__cause__ if isinstance(error.__cause__, Exception) else error
                ) from error
        return self.read(wire.parse_json(raw.http_response), raw.headers)

    def read(self, body: dict[str, Any], headers: Any) -> Answer:
        usage = body.get("usage")
        about = {
            "request_id": headers.get("x-request-id"),
            "model": self.model,
            "usage": usage,
            "input_fidelity": self.fidelity,
            "uncontrolled": list(self.hosted().facts["cannot"]),
        }
        cost = self.cost(usage)
        rows = body.get("data")
        row = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
        if not row.get("b64_json"):
            return Answer(status="no_image", reason="an answer without b64_json", cost=cost, details=about)
        about["declared"] = f"image/{body.get('output_format', 'png')}"
        if row.get("revised_prompt"):
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
