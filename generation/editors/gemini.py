import dataclasses
import functools
import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NoReturn

from PIL import Image

from .. import pictures
from ..calls import Transient
from ..options import WHERE_GIVEN, choice, number
from ..records import Answer, Turn, one_of
from ..vendors import hosted, wire
from ..vendors.sizes import GEMINI, GEMINI_2, Size, nearest_ratio
from ..vendors.wire import Json

if TYPE_CHECKING:
    import httpx2

REFUSALS = (
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
    *("PROHIBITED_CONTENT", "SAFETY", "RECITATION", "BLOCKLIST", "SPII"),
)
MEANINGS = (
    ("unusable", "code", ("API_KEY_INVALID",)),
    ("unusable", "message", ("API key not valid",)),
    ("forgotten", "message", ("interaction",)),  # the words of a lost one are not documented
)
MOST_INLINE = 20_000_000  # bytes in a request, by the API's documentation; larger pictures are uploaded
# types.ThinkingLevel of google-genai 3.3.0; `off` is its thinking_budget of 0, which not all models take
_LEVELS = ("off", "minimal", "low", "medium", "high")
_OFF = {"includeThoughts": False, "thinkingBudget": 0}
_LIFETIME = 40 * 3600  # seconds for which an uploaded file is reused; Google deletes it after 48 hours


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Gemini image models: Nano Banana 2.1, Nano Banana Pro and their forerunners.

    `resolution` may be a schedule such as 1K/2K/4K, which the steps repeat in turn. With
    `session=one` every call carries the whole conversation; with `session=server` Google keeps it.
    """

    model: str = "gemini-nano-banana-2.1"
    base_url: str = wire.base_url_option("GEMINI_BASE_URL")
    resolution: str = "1K"
    session: str = choice("fresh", ("fresh", "one", "server"))
    # Off, minimal, low, medium or high.
    thinking: str | None = field(default=None, metadata={"identity": WHERE_GIVEN})
    temperature: float | None = number(None, least=0, most=2)
    vendor: ClassVar = "gemini"
    meanings: ClassVar = MEANINGS

    @property
    def _resolutions(self) -> list[str]:
        return self.resolution.split("/")

    @property
    def varies_size(self) -> bool:
        return len(self._resolutions) > 1

    @property
    def remembers(self) -> bool:
        """A schedule needs the step's number, a conversation all earlier turns."""
        return self.varies_size or self.session != "fresh"

    def edit(self, image: Image.Image, instruction: str, seed: int, history: Sequence[Turn] = ()) -> Answer:
        turns = history if self.session == "one" else [Turn("", pictures.encode_png(image))]
        resolution = self._resolutions[(len(history) - 1) % len(self._resolutions)]
        if self.session == "server":
            return self._within_time(lambda: self._interact(image.size, instruction, seed, history, resolution))
        uploads = sum(len(turn.data) for turn in turns) * 4 / 3 > MOST_INLINE
        with wire.one_call(self.timeout):
            contents = _conversation([self._part(turn, uploads) for turn in turns], turns, instruction)
            body = {"contents": contents, "generationConfig": self._config(image.size, seed, resolution)}
            answer = self.read(self.post(f"/v1beta/models/{self.model}:generateContent", body), instruction)
        details = {**answer.details, **({"uploaded": len(turns)} if uploads else {})}
        if self.session == "fresh":
            details.pop("signature", None)
        if self.varies_size:
            details["resolution"] = resolution
        cost = self._price_at(resolution) if self.varies_size else answer.cost
        return dataclasses.replace(answer, cost=cost, details=details)

    def _config(self, size: Size, seed: int, resolution: str) -> Json:
        """The second generation rejects requests for a size or thoughts."""
        config: Json = {"responseModalities": ["TEXT", "IMAGE"], "seed": seed}
        if self.temperature is not None:
            config["temperature"] = self.temperature
        if self.facts["generation"] != 3:
            return {**config, "imageConfig": {"aspectRatio": nearest_ratio(size, GEMINI_2)}}
        image = {"aspectRatio": nearest_ratio(size, GEMINI), "imageSize": resolution}
        level = {"thinkingLevel": self.thinking.upper()} if self.thinking else {}
        thoughts = _OFF if self.thinking == "off" else {"includeThoughts": True, **level}
        return {**config, "imageConfig": image, "thinkingConfig": thoughts}

    def check(self) -> None:
        super().check()
        if self.thinking is not None:
            levels = _LEVELS[self.session == "server" :]  # the Interactions API has no budget
            one_of("gemini:thinking", self.thinking, levels if self.facts["generation"] == 3 else ())

    def _interact(
        self, size: Size, instruction: str, seed: int, history: Sequence[Turn], resolution: str
    ) -> Answer:
        """A turn of the Interactions API, by the types of Google's SDK: google/genai/_gaos/types/interactions."""
        config: Json = {"seed": seed, "temperature": self.temperature, "thinking_level": self.thinking}
        shape = {"type": "image", "aspect_ratio": nearest_ratio(size, GEMINI_2)}
        if self.facts["generation"] == 3:
            shape |= {"aspect_ratio": nearest_ratio(size, GEMINI), "image_size": resolution}
            config["thinking_summaries"] = "auto"
        config = {name: value for name, value in config.items() if value is not None}
        body = {"model": self.model, "store": True, "generation_config": config, "response_format": shape}
        last, words = history[-1].details.get("session_id"), {"type": "text", "text": instruction}
        further = {"previous_interaction_id": last, "input": [words]} if last else None
        reply = self._go_on("/v1beta/interactions", body, further, {"input": _as_steps(history, words)})
        answer = _read_interaction(self, reply, instruction)
        return dataclasses.replace(answer, cost=self._price_at(resolution)) if answer.data else answer

    def _part(self, turn: Turn, uploads: bool) -> Json:
        kind = "image/" + {"jpg": "jpeg"}.get(sniffed := pictures.sniff(turn.data), sniffed)
        if uploads:
            part: Json = {"fileData": {"fileUri": self._file(turn.data, kind), "mimeType": kind}}
        else:
            part = {"inlineData": {"data": wire.to_base64(turn.data), "mimeType": kind}}
        signature = turn.details.get("signature")
        return {**part, "thoughtSignature": signature} if signature else part

    @functools.cached_property
    def _files(self) -> dict[str, tuple[str, float]]:
        return {}

    def _file(self, data: bytes, kind: str) -> str:
        digest = hashlib.sha256(data).hexdigest()
        address, since = self._files.get(digest, ("", -float(_LIFETIME)))
        if time.time() - since >= _LIFETIME:
            with wire.before_the_order():
                address = self._upload(data, kind)
            self._files[digest] = address, time.time()
        return address

    def _upload(self, data: bytes, kind: str) -> str:
        names = {"protocol": "resumable", "command": "start", "header-content-type": kind}
        names["header-content-length"] = str(len(data))
        asked = {f"x-goog-upload-{name}": text for name, text in names.items()} | self.headers()
        begun = wire.send("POST", f"{self.address()}/upload/v1beta/files", asked, json={"file": {}})
        place = begun.headers.get("x-goog-upload-url")
        if place is None:
            self.fail(begun, wire.parse_json(begun))
        whole = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
        sent = wire.send("POST", place, whole, content=data)
        file = self.checked(sent, wire.parse_json(sent))["file"]
        while file["state"] == "PROCESSING":
            wire.pause(0.5)
            file = self.send("GET", f"/v1beta/{file['name']}")
        if file["state"] != "ACTIVE":
            raise Transient(f"Google could not process an uploaded picture ({file.get('error')})")
        return str(file["uri"])

    def fail(self, response: "httpx2.Response", reply: Json, charged: bool = False) -> NoReturn:
        """A file that Google has lost is uploaded again."""
        _, message = hosted.error_words(reply)
        if self._files and response.status_code in (400, 403, 404) and "file" in message.lower():
            self._files.clear()
            raise Transient(f"HTTP {response.status_code}: {message}")
        super().fail(response, reply, charged)

    def read(self, reply: Json, instruction: str) -> Answer:
        candidate, feedback = (reply.get("candidates") or [{}])[0], reply.get("promptFeedback") or {}
        parts = (candidate.get("content") or {}).get("parts") or []
        shown = [part for part in parts if not part.get("thought")]
        images = [part for part in shown if (part.get("inlineData") or {}).get("data")]
        finish, blocked, text = candidate.get("finishReason"), feedback.get("blockReason"), _words(shown)
        details = _facts_of(reply) | {"finish_reason": finish, "block_reason": blocked}
        details["thoughts"] = _words(part for part in parts if part.get("thought"))
        if images:
            inline = images[0]["inlineData"]
            # Handed back with the picture, the signature keeps the model's train of thought.
            details |= {"signature": images[0].get("thoughtSignature"), "declared": inline.get("mimeType")}
            details["pictures"] = len(images)
            return self.answer(wire.from_base64(inline["data"]), reply, details, text=text)
        message = candidate.get("finishMessage") or feedback.get("blockReasonMessage")
        reason = ": ".join(filter(None, (blocked or finish or "no candidates", message)))
        refused = bool(blocked) or finish in REFUSALS
        return self.answer(None, reply, details, text=text, reason=reason, refused=refused)


def _facts_of(reply: Json) -> Json:
    return {
        "model": reply.get("modelVersion"),
        "request_id": reply.get("responseId") or reply.get("request_id"),
        "usage": reply.get("usageMetadata"),
    }


def _as_steps(history: Sequence[Turn], words: Json) -> list[Json]:
    """The conversation as Google's steps, each of what was asked and what came back."""
    steps: list[Json] = [{"type": "user_input", "content": [_image(history[0])]}]
    for turn in history[1:]:
        steps[-1]["content"].append({"type": "text", "text": turn.instruction})
        steps.append({"type": "model_output", "content": [_image(turn)]})
        steps.append({"type": "user_input", "content": []})
    steps[-1]["content"].append(words)
    return steps


def _image(turn: Turn) -> Json:
    kind = {"jpg": "jpeg"}.get(sniffed := pictures.sniff(turn.data), sniffed)
    return {"type": "image", "mime_type": f"image/{kind}", "data": wire.to_base64(turn.data)}


def _read_interaction(editor: Editor, reply: Json, instruction: str) -> Answer:
    shown = _parts_of(reply, "model_output", "content")
    images = [part for part in shown if part["type"] == "image" and (part.get("data") or part.get("uri"))]
    text, usage = _words(shown), reply.get("usage")
    details = {"session_id": reply.get("id"), "usage": usage, "finish_reason": reply.get("status")}
    details |= {"session_lost": reply.get("lost"), "pictures": len(images)}
    details["thoughts"] = _words(_parts_of(reply, "thought", "summary"))
    if images:
        details["declared"] = images[0].get("mime_type")
        data = images[0].get("data")
        picture = wire.from_base64(data) if data else images[0]["uri"]
        return editor.answer(picture, reply, details, instruction, text)
    errors = list(reply.get("errors") or ())
    errors += [step["error"] for step in reply.get("steps") or () if step.get("error")]
    reason = "; ".join(f"{row.get('code')}: {row.get('message')}" for row in errors) or str(reply.get("status"))
    refused = any(word in reason.upper() for word in REFUSALS)
    return editor.answer(None, reply, details, text=text, reason=reason, refused=refused)


def _parts_of(reply: Json, kind: str, field: str) -> list[Json]:
    return [part for step in reply.get("steps") or () if step["type"] == kind for part in step.get(field) or ()]


def _conversation(shown: Sequence[Json], turns: Sequence[Turn], instruction: str) -> list[Json]:
    parts, contents = [shown[0]], []
    for part, turn in zip(shown[1:], turns[1:], strict=True):
        parts.append({"text": turn.instruction})
        contents += [{"role": "user", "parts": parts}, {"role": "model", "parts": [part]}]
        parts = []
    return [*contents, {"role": "user", "parts": [*parts, {"text": instruction}]}]


def _words(parts: Iterable[Json]) -> str:
    return "\n".join(part["text"] for part in parts if part.get("text"))
