"""Google's image models through the Gemini API."""

import base64
import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from PIL import Image

from .. import pictures, requirements
from ..calls import Transient, Unusable
from ..records import Answer, Turn, UserError, one_of
from ..vendors import keys, models, wire
from ..vendors.gemini_files import Files
from ..vendors.sizes import GEMINI_2_5, GEMINI_3, Size, nearest

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
MOST_INLINE = 20_000_000  # bytes of the request; beyond them pictures are uploaded
SCALES = {"1K": 1, "2K": 2, "4K": 4}
SESSIONS = ("fresh", "one")


@dataclass(frozen=True)
class Editor:
    """Gemini image models through google-genai: Nano Banana 2.1, Nano Banana Pro and their forerunners.

    `resolution` may be a schedule such as 1K/2K/4K, one for each step and then again; with `session=one` every call
    carries the whole conversation, so that the model sees its own earlier pictures. What is too large for a request
    is uploaded once, to Google's Files API.
    """

    model: str = "gemini-nano-banana-2.1"
    resolution: str = "1K"
    session: str = "fresh"
    temperature: float | None = None
    timeout: float = field(default=300.0, metadata={"identity": False})
    base_url: str = wire.base_url_option("GEMINI_BASE_URL")
    needs: ClassVar[str] = "GEMINI_API_KEY and pip install 'convergebench[gemini]'"

    def __post_init__(self) -> None:
        for resolution in self.resolutions:
            one_of("gemini:resolution", resolution, tuple(self.hosted().facts["resolutions"]))
        one_of("gemini:session", self.session, SESSIONS)
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise UserError(f"gemini:temperature is {self.temperature}; it is a number from 0 to 2")
        self.address()

    def hosted(self) -> models.Model:
        return models.find("gemini", self.model)

    @property
    def third(self) -> bool:
        """The third generation chooses its size and tells its thoughts; the second refuses to be asked."""
        return bool(self.hosted().facts["generation"] == 3)

    @property
    def resolutions(self) -> list[str]:
        """One for each step, and then again."""
        return self.resolution.split("/")

    @property
    def varies_size(self) -> bool:
        """A schedule of resolutions is about answers of different sizes."""
        return len(self.resolutions) > 1

    @property
    def remembers(self) -> bool:
        """A schedule needs to know which step it is, a conversation what was said."""
        return len(self.resolutions) > 1 or self.session == "one"

    def address(self) -> str:
        return wire.base_address(self.base_url, "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")

    def ready(self) -> str | None:
        return requirements.missing("gemini", ("google.genai",), "GEMINI_API_KEY", "GOOGLE_API_KEY")

    def price(self) -> float | None:
        """Of a call; of several resolutions the dearest, so that a limit holds."""
        known = [self.price_at(resolution) for resolution in self.resolutions]
        return None if None in known else max(price for price in known if price is not None)

    def price_at(self, resolution: str) -> float | None:
        price = self.hosted().price
        return price.get(resolution) if isinstance(price, dict) else price

    def ratios(self) -> dict[str, Size]:
        """The shapes there are; of several resolutions at the smallest, beside which no answer counts as shrunk."""
        scale = min(SCALES[resolution] for resolution in self.resolutions)
        table = GEMINI_3 if self.third else GEMINI_2_5
        return {ratio: (width * scale, height * scale) for ratio, (width, height) in table.items()}

    def sizes(self) -> tuple[Size, ...]:
        return tuple(self.ratios().values())

    @functools.cached_property
    def client(self) -> Any:
        if reason := requirements.missing_packages("gemini", "google.genai"):
            raise Unusable(reason)
        from google import genai

        options = genai.types.HttpOptions(
            base_url=self.address(), api_version="v1beta", httpx_client=wire.client("httpx2")
        )
        return genai.Client(
            api_key=keys.read_key("GEMINI_API_KEY", "GOOGLE_API_KEY"), vertexai=False, http_options=options
        )

    def edit(self, image: Image.Image, instruction: str, seed: int, history: Sequence[Turn] = ()) -> Answer:
        said = history if self.session == "one" else [Turn("", pictures.encode_png(image))]
        uploaded = sum(len(turn.data) for turn in said) * 4 / 3 > MOST_INLINE
        resolution = self.resolutions[(len(history) - 1) % len(self.resolutions)]
        answer = self.request(said, instruction, self.config(image.size, seed, resolution), uploaded)
        details = {**answer.details, **({"uploaded": len(said)} if uploaded else {})}
        if self.session == "fresh":
            details.pop("signature", None)
        if len(self.resolutions) == 1:
            return dataclasses.replace(answer, details=details)
        return dataclasses.replace(
            answer, cost=self.price_at(resolution), details={**details, "resolution": resolution}
        )

    @functools.cached_property
    def files(self) -> Files:
        return Files(self.client)

    def request(self, said: Sequence[Turn], instruction: str, config: Any, uploaded: bool) -> Answer:
        """One request and what its response says."""
        client = self.client
        import httpx2
        from google.genai import errors

        with wire.time_limit(self.timeout):
            try:
                parts = [picture(turn, self.files if uploaded else None) for turn in said]
            except errors.APIError as error:
                raise fault(error) from error
            except httpx2.TransportError as error:
                raise Transient(str(wire.connection_lost(error))) from error  # nothing is ordered yet
            asked = contents(parts, said, instruction)
            try:
                response = client.models.generate_content(model=self.model, contents=asked, config=config)
            except errors.APIError as error:
                if uploaded and error.code in (400, 403, 404) and "file" in str(error.message).lower():
                    self.files.forget()
                    raise Transient(f"HTTP {error.code}: {error.message}") from error
                raise fault(error) from error
            except httpx2.TransportError as error:
                raise wire.connection_lost(error) from error
        try:
            return read_answer(json.loads(response.sdk_http_response.body), response.sdk_http_response.headers or {})
        except (ValueError, TypeError, AttributeError, LookupError) as error:  # no JSON, or JSON of another shape
            start = str(response.sdk_http_response.body)[:60]
            raise Transient(f"an answer in place of JSON, starting with {start!r}", charged=True) from error

    def config(self, size: Size, seed: int, resolution: str) -> Any:
        from google.genai import types

        ratios = self.ratios()
        goal = nearest(size, tuple(ratios.values()))
        return types.GenerateContentConfig(
            should_return_http_response=True,  # read here, because the SDK drops what is said about a finish
            response_modalities=["TEXT", "IMAGE"],
            image_config=types.ImageConfig(
                aspect_ratio=next(ratio for ratio, size in ratios.items() if size == goal),
                image_size=resolution if self.third else None,
            ),
            seed=seed,
            temperature=self.temperature,
            thinking_config=types.ThinkingConfig(include_thoughts=True) if self.third else None,
        )


def picture(turn: Turn, files: Files | None) -> Any:
    """One picture of a conversation, in the request or as a file at Google."""
    from google.genai import types

    signature = turn.details.get("signature")
    kind = "image/" + ("jpeg" if (sniffed := pictures.sniff(turn.data)) == "jpg" else sniffed)
    signed = {"thought_signature": base64.b64decode(signature)} if signature else {}
    if files:
        return types.Part(
            file_data=types.FileData(file_uri=files.address(turn.data, kind), mime_type=kind),
            **signed,  # type: ignore[arg-type]
        )
    return types.Part(inline_data=types.Blob(data=turn.data, mime_type=kind), **signed)  # type: ignore[arg-type]


def contents(shown: Sequence[Any], said: Sequence[Turn], instruction: str) -> list[Any]:
    """A conversation: the first picture is the user's, the others are the model's, each asked for in words."""
    from google.genai import types

    parts, found = [shown[0]], []
    for part, turn in zip(shown[1:], said[1:], strict=True):
        parts.append(types.Part.from_text(text=turn.instruction))
        found += [types.Content(role="user", parts=parts), types.Content(role="model", parts=[part])]
        parts = []
    return [*found, types.Content(role="user", parts=[*parts, types.Part.from_text(text=instruction)])]


def read_answer(reply: dict[str, Any], headers: Mapping[str, str]) -> Answer:
    """A picture, a refusal or neither; thoughts are kept, and no picture is ever taken from them."""
    candidate = (reply.get("candidates") or [{}])[0]
    parts = (candidate.get("content") or {}).get("parts") or []
    thoughts, shown = (
        [part for part in parts if bool(part.get("thought")) is is_thought] for is_thought in (True, False)
    )
    finish, feedback = candidate.get("finishReason", ""), reply.get("promptFeedback") or {}
    blocked = feedback.get("blockReason", "")
    about = {
        "finish_reason": finish,
        "block_reason": blocked,
        "model": reply.get("modelVersion"),
        "request_id": reply.get("responseId") or headers.get("x-goog-request-id"),
        "usage": reply.get("usageMetadata"),
        "thoughts": words(thoughts),
    }
    details = {key: value for key, value in about.items() if value}
    pictures = [part for part in shown if (part.get("inlineData") or {}).get("data")]
    if pictures:
        picture = pictures[0]["inlineData"]
        details |= {"declared": picture.get("mimeType"), "pictures": len(pictures)}
        if signature := pictures[0].get("thoughtSignature"):
            details["signature"] = signature  # handed back with the picture, it keeps the model's train of thought
        return Answer(wire.from_base64(picture["data"]), text=words(shown), details=details)
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
    return wire.status_error(
        error.code, str(error.message), headers.get("retry-after") or (delays[0] if delays else None)
    )
