"""Google's image models through the Gemini API."""

import base64
import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PIL import Image

from .. import pictures
from ..calls import Transient, Unusable
from ..options import number
from ..records import Answer, Turn, one_of
from ..vendors import hosted, keys, wire
from ..vendors.gemini_files import Files
from ..vendors.sizes import GEMINI_2_5, GEMINI_3, Size, nearest
from ..vendors.wire import Json

if TYPE_CHECKING:
    from google import genai
    from google.genai import errors, types

REFUSALS = (
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
    *("PROHIBITED_CONTENT", "SAFETY", "RECITATION", "BLOCKLIST", "SPII"),
)
MOST_INLINE = 20_000_000  # bytes in a request, by the API's documentation; larger pictures are uploaded
_SCALES = {"1K": 1, "2K": 2, "4K": 4}


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Gemini image models through google-genai: Nano Banana 2.1, Nano Banana Pro and their forerunners.

    `resolution` may be a schedule such as 1K/2K/4K, which the steps repeat in turn. With `session=one` every call
    carries the whole conversation, so that the model sees its own earlier pictures. Pictures too large for a request
    are uploaded once, to Google's Files API.
    """

    model: str = "gemini-nano-banana-2.1"
    base_url: str = wire.base_url_option("GEMINI_BASE_URL")
    resolution: str = "1K"
    session: str = "fresh"
    temperature: float | None = number(None, least=0, most=2)
    vendor: ClassVar = hosted.Vendor(
        "gemini",
        "https://generativelanguage.googleapis.com",
        "GEMINI_API_KEY",
        packages=("google.genai",),
        other_keys=("GOOGLE_API_KEY",),
    )

    def check(self) -> None:
        for resolution in self._resolutions:
            one_of("gemini:resolution", resolution, tuple(self.facts["resolutions"]))
        one_of("gemini:session", self.session, ("fresh", "one"))

    @property
    def _third(self) -> bool:
        """Only the third generation takes a size and returns thoughts; the second rejects requests for them."""
        return bool(self.facts["generation"] == 3)

    @property
    def _resolutions(self) -> list[str]:
        """The schedule of resolutions, which the steps repeat in turn."""
        return self.resolution.split("/")

    @property
    def varies_size(self) -> bool:
        """Whether answers differ in size: with a schedule of resolutions they do."""
        return len(self._resolutions) > 1

    @property
    def remembers(self) -> bool:
        """Whether calls need the history: a schedule needs the step, a conversation all earlier turns."""
        return self.varies_size or self.session == "one"

    def price(self) -> float | None:
        """US dollars per call; with a schedule, of its dearest resolution, so that a cost limit holds."""
        prices = [self._price_at(resolution) for resolution in self._resolutions]
        return None if None in prices else max(price for price in prices if price is not None)

    def _price_at(self, resolution: str) -> float | None:
        price = self.hosted().price
        return price.get(resolution) if isinstance(price, dict) else price

    def _ratios(self) -> dict[str, Size]:
        """Sizes by aspect ratio, at the smallest resolution of a schedule, so that no answer counts as shrunk."""
        scale = min(_SCALES[resolution] for resolution in self._resolutions)
        table = GEMINI_3 if self._third else GEMINI_2_5
        return {ratio: (width * scale, height * scale) for ratio, (width, height) in table.items()}

    def sizes(self) -> tuple[Size, ...]:
        return tuple(self._ratios().values())

    @functools.cached_property
    def sdk(self) -> "genai.Client":
        self.require_packages()
        from google import genai

        options = genai.types.HttpOptions(
            base_url=self.address(),
            api_version="v1beta",
            httpx_client=wire.client("httpx2"),
        )
        return genai.Client(api_key=keys.read_key(*self.vendor.keys), vertexai=False, http_options=options)

    @functools.cached_property
    def _files(self) -> Files:
        return Files(self.sdk)

    def edit(self, image: Image.Image, instruction: str, seed: int, history: Sequence[Turn] = ()) -> Answer:
        turns = history if self.session == "one" else [Turn("", pictures.encode_png(image))]
        uploaded = sum(len(turn.data) for turn in turns) * 4 / 3 > MOST_INLINE
        resolution = self._resolutions[(len(history) - 1) % len(self._resolutions)]
        with wire.time_limit(self.timeout):
            answer = self._request(turns, instruction, self.config(image.size, seed, resolution), uploaded)
        details = {**answer.details, **({"uploaded": len(turns)} if uploaded else {})}
        if self.session == "fresh":
            details.pop("signature", None)
        if not self.varies_size:
            return dataclasses.replace(answer, details=details)
        details["resolution"] = resolution
        return dataclasses.replace(answer, cost=self._price_at(resolution), details=details)

    def _request(
        self, turns: Sequence[Turn], instruction: str, config: "types.GenerateContentConfig", uploaded: bool
    ) -> Answer:
        """Send one request and read the answer in its response."""
        sdk = self.sdk
        import httpx2
        from google.genai import errors

        try:
            parts = [_picture_part(turn, self._files if uploaded else None) for turn in turns]
        except errors.APIError as error:
            raise _fault(error) from error
        except httpx2.TransportError as error:
            raise Transient(str(wire.connection_lost(error))) from error  # nothing was ordered yet, so it cost nothing
        contents = _conversation(parts, turns, instruction)
        try:
            response = sdk.models.generate_content(model=self.model, contents=contents, config=config)
        except errors.APIError as error:
            if uploaded and error.code in (400, 403, 404) and "file" in str(error.message).lower():
                self._files.forget()
                raise Transient(f"HTTP {error.code}: {error.message}") from error
            raise _fault(error) from error
        except httpx2.TransportError as error:
            raise wire.connection_lost(error) from error
        received = response.sdk_http_response
        body = str(received.body) if received else ""
        try:
            return _read_answer(json.loads(body), (received.headers if received else None) or {})
        except (ValueError, TypeError, AttributeError, LookupError) as error:  # not JSON, or JSON of another shape
            raise Transient(f"an answer instead of JSON, starting with {body[:60]!r}", charged=True) from error

    def config(self, size: Size, seed: int, resolution: str) -> "types.GenerateContentConfig":
        from google.genai import types

        ratios = self._ratios()
        shape = nearest(size, tuple(ratios.values()))
        return types.GenerateContentConfig(
            should_return_http_response=True,  # read here, because the SDK drops the finish message
            response_modalities=["TEXT", "IMAGE"],
            image_config=types.ImageConfig(
                aspect_ratio=next(ratio for ratio, size in ratios.items() if size == shape),
                image_size=resolution if self._third else None,
            ),
            seed=seed,
            temperature=self.temperature,
            thinking_config=types.ThinkingConfig(include_thoughts=True) if self._third else None,
        )


def _picture_part(turn: Turn, files: Files | None) -> "types.Part":
    """One picture of a conversation, sent in the request or as a file uploaded to Google."""
    from google.genai import types

    signature = turn.details.get("signature")
    kind = "image/" + {"jpg": "jpeg"}.get(sniffed := pictures.sniff(turn.data), sniffed)
    if files:
        part = types.Part(file_data=types.FileData(file_uri=files.address(turn.data, kind), mime_type=kind))
    else:
        part = types.Part(inline_data=types.Blob(data=turn.data, mime_type=kind))
    if signature:
        part.thought_signature = base64.b64decode(signature)
    return part


def _conversation(shown: "Sequence[types.Part]", turns: Sequence[Turn], instruction: str) -> "list[types.Content]":
    """A request's contents: the user's first picture, then in turn an instruction and the model's picture for it."""
    from google.genai import types

    parts, contents = [shown[0]], []
    for part, turn in zip(shown[1:], turns[1:], strict=True):
        parts.append(types.Part.from_text(text=turn.instruction))
        contents += [types.Content(role="user", parts=parts), types.Content(role="model", parts=[part])]
        parts = []
    return [*contents, types.Content(role="user", parts=[*parts, types.Part.from_text(text=instruction)])]


def _read_answer(reply: Json, headers: Mapping[str, str]) -> Answer:
    """A picture, a refusal or neither; thoughts are stored, but no picture is ever taken from them."""
    candidate = (reply.get("candidates") or [{}])[0]
    thoughts, shown = _parts_of(candidate)
    finish, feedback = candidate.get("finishReason", ""), reply.get("promptFeedback") or {}
    blocked = feedback.get("blockReason", "")
    fields = {"finish_reason": finish, "block_reason": blocked, "model": reply.get("modelVersion")}
    fields |= {"request_id": reply.get("responseId") or headers.get("x-goog-request-id")}
    fields |= {"usage": reply.get("usageMetadata"), "thoughts": _words(thoughts)}
    details = {name: value for name, value in fields.items() if value}
    images = [part for part in shown if (part.get("inlineData") or {}).get("data")]
    if images:
        return _picture_answer(images, _words(shown), details)
    message = candidate.get("finishMessage") or feedback.get("blockReasonMessage")
    status = "refused" if blocked or finish in REFUSALS else "no_image"
    reason = ": ".join(filter(None, (blocked or finish or "no candidates", message)))
    return Answer(status=status, reason=reason, text=_words(shown), details=details)


def _parts_of(candidate: Json) -> tuple[list[Json], list[Json]]:
    """The parts that are thoughts, and the parts of the answer itself."""
    parts = (candidate.get("content") or {}).get("parts") or []
    return [part for part in parts if part.get("thought")], [part for part in parts if not part.get("thought")]


def _picture_answer(images: Sequence[Json], text: str, details: Json) -> Answer:
    inline, signature = images[0]["inlineData"], images[0].get("thoughtSignature")
    details |= {"declared": inline.get("mimeType"), "pictures": len(images)}
    # Handed back with the picture, the signature keeps the model's train of thought.
    details |= {"signature": signature} if signature else {}
    return Answer(wire.from_base64(inline["data"]), text=text, details=details)


def _words(parts: Sequence[Json]) -> str:
    return "\n".join(part["text"] for part in parts if part.get("text"))


def _fault(error: "errors.APIError") -> Exception:
    """The exception for an API error: a wrong key is a 400 here, and the time to wait is in the error's details."""
    rows = error.details.get("error", {}).get("details", []) if isinstance(error.details, dict) else []
    rows = [row for row in rows if isinstance(row, dict)]
    if any(row.get("reason") == "API_KEY_INVALID" for row in rows) or "API key not valid" in str(error.message):
        return Unusable(f"HTTP {error.code}: {error.message}")
    delays = [str(row["retryDelay"]).removesuffix("s") for row in rows if "retryDelay" in row]
    headers = getattr(error.response, "headers", None) or {}
    return wire.status_error(error.code, str(error.message), headers.get("retry-after") or next(iter(delays), None))
