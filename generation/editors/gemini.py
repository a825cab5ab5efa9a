"""Google's image models through the Gemini API."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import deadlines, extras, images, keys, prices, wire
from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError, one_of
from ..sizes import GEMINI_2_5, GEMINI_3, Size, nearest

REFUSALS = (
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "PROHIBITED_CONTENT",
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "SPII",
)
MOST_INLINE = 20_000_000  # bytes of the request


@dataclass(frozen=True)
class Editor:
    """Gemini image models through google-genai: Nano Banana, Nano Banana Pro, Nano Banana 2."""

    model: str = "gemini-2.5-flash-image"
    resolution: str = "1K"
    temperature: float | None = None
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = field(default="", metadata={"identity": False})
    needs: ClassVar[str] = "GEMINI_API_KEY and pip install 'convergebench[gemini]'"

    def __post_init__(self) -> None:
        one_of("gemini:resolution", self.resolution, ("1K", "2K", "4K") if self.third else ("1K",))
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise UserError(f"gemini:temperature is {self.temperature}; it is a number from 0 to 2")
        self.address()

    @property
    def third(self) -> bool:
        """The third generation chooses its size and tells its thoughts; the second refuses to be asked."""
        return self.model.startswith("gemini-3")

    def address(self) -> str:
        return wire.base(self.base_url, "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")

    def ready(self) -> str | None:
        return extras.lacks("gemini", ("google.genai",), "GEMINI_API_KEY", "GOOGLE_API_KEY")

    def price(self) -> float | None:
        return (prices.of("gemini", self.model) or {}).get(self.resolution)

    def ratios(self) -> dict[str, Size]:
        scale = {"1K": 1, "2K": 2, "4K": 4}[self.resolution]
        table = GEMINI_3 if self.third else GEMINI_2_5
        return {ratio: (width * scale, height * scale) for ratio, (width, height) in table.items()}

    def sizes(self) -> tuple[Size, ...]:
        return tuple(self.ratios().values())

    @functools.cached_property
    def client(self) -> Any:
        if reason := extras.absent("gemini", "google.genai"):
            raise Unusable(reason)
        from google import genai

        options = genai.types.HttpOptions(
            base_url=self.address(), api_version="v1beta", httpx_client=deadlines.client("httpx2")
        )
        return genai.Client(api_key=keys.key("GEMINI_API_KEY", "GOOGLE_API_KEY"), vertexai=False, http_options=options)

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        client = self.client
        import httpx2
        from google.genai import errors

        data = images.png(image)
        if len(data) * 4 / 3 > MOST_INLINE:
            raise Rejected(f"the picture is {len(data)} bytes as PNG; Gemini takes {MOST_INLINE * 3 // 4} in a call")
        with deadlines.within(self.timeout):
            try:
                response = client.models.generate_content(
                    model=self.model, contents=contents(data, instruction), config=self.config(image.size, seed)
                )
            except errors.APIError as error:
                raise fault(error) from error
            except httpx2.TransportError as error:
                raise wire.broken(error) from error
        try:
            return read(json.loads(response.sdk_http_response.body), response.sdk_http_response.headers or {})
        except (ValueError, TypeError, AttributeError) as error:  # no JSON, or JSON of another shape
            start = str(response.sdk_http_response.body)[:60]
            raise Transient(f"an answer in place of JSON, starting with {start!r}", charged=True) from error

    def config(self, size: Size, seed: int) -> Any:
        from google.genai import types

        ratios = self.ratios()
        goal = nearest(size, tuple(ratios.values()))
        return types.GenerateContentConfig(
            should_return_http_response=True,  # read here, because the SDK drops what is said about a finish
            response_modalities=["TEXT", "IMAGE"],
            image_config=types.ImageConfig(
                aspect_ratio=next(ratio for ratio, size in ratios.items() if size == goal),
                image_size=self.resolution if self.third else None,
            ),
            seed=seed,
            temperature=self.temperature,
            thinking_config=types.ThinkingConfig(include_thoughts=True) if self.third else None,
        )


def contents(data: bytes, instruction: str) -> list[Any]:
    from google.genai import types

    picture = types.Part.from_bytes(data=data, mime_type="image/png")
    return [types.Content(role="user", parts=[picture, types.Part.from_text(text=instruction)])]


def read(told: dict[str, Any], headers: Mapping[str, str]) -> Answer:
    """A picture, a refusal or neither; thoughts are kept, and no picture is ever taken from them."""
    candidate = (told.get("candidates") or [{}])[0]
    parts = (candidate.get("content") or {}).get("parts") or []
    thoughts, shown = (
        [part for part in parts if bool(part.get("thought")) is is_thought] for is_thought in (True, False)
    )
    finish, feedback = candidate.get("finishReason", ""), told.get("promptFeedback") or {}
    blocked = feedback.get("blockReason", "")
    about = {
        "finish_reason": finish,
        "block_reason": blocked,
        "model": told.get("modelVersion"),
        "request_id": told.get("responseId") or headers.get("x-goog-request-id"),
        "usage": told.get("usageMetadata"),
        "thoughts": words(thoughts),
    }
    details = {key: value for key, value in about.items() if value}
    pictures = [part["inlineData"] for part in shown if (part.get("inlineData") or {}).get("data")]
    if pictures:
        details |= {"declared": pictures[0].get("mimeType"), "pictures": len(pictures)}
        return Answer(wire.decoded(pictures[0]["data"]), text=words(shown), details=details)
    said = candidate.get("finishMessage") or feedback.get("blockReasonMessage")
    reason = ": ".join(filter(None, (blocked or finish or "no candidates", said)))
    status = "refused" if blocked or finish in REFUSALS else "no_image"
    return Answer(status=status, reason=reason, text=words(shown), details=details)


def words(parts: list[dict[str, Any]]) -> str:
    return "\n".join(part["text"] for part in parts if part.get("text"))


def fault(error: Any) -> Exception:
    """A wrong key is a 400 here, and the time to wait stands in the error's details."""
    entries = error.details.get("error", {}).get("details", []) if isinstance(error.details, dict) else []
    entries = [entry for entry in entries if isinstance(entry, dict)]
    if any(entry.get("reason") == "API_KEY_INVALID" for entry in entries) or "API key not valid" in str(error.message):
        return Unusable(f"HTTP {error.code}: {error.message}")
    delays = [str(entry["retryDelay"]).removesuffix("s") for entry in entries if "retryDelay" in entry]
    headers = getattr(error.response, "headers", None) or {}
    return wire.wrong(error.code, str(error.message), headers.get("retry-after") or (delays[0] if delays else None))
