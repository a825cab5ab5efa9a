"""The base classes of hosted models and editors: options, key, address, errors and price.

A vendor is one file in generation/editors/ with a subclass that says where the picture is in the
answer (`read`). What is sent, prices and parameters of models are in models.toml; address, key and
a table of words (`meanings`) that reads errors are attributes of the subclass, or in vendors.toml.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from PIL import Image

from .. import keys, pictures
from ..calls import Rejected, Transient, Unusable
from ..files import toml_beside
from ..options import check_limits, number
from ..records import Answer, Refused, UserError, one_of
from . import models, wire
from .sizes import FAMILIES, Size, nearest, ratio
from .wire import Json

if TYPE_CHECKING:
    import httpx2

# What words in an error mean: (meaning, "code" or
# "message", the words). The first row that matches decides.
Meanings = Sequence[tuple[str, str, Sequence[str]]]
_CHOICES = {"quality": "qualities", "resolution": "resolutions", "safety_tolerance": "tolerances"}
_VENDORS = toml_beside(__file__, "vendors.toml")
_DECIDED = (400, 403, 422)  # the statuses of a request that was read and declined


class Forgotten(Rejected):
    """The vendor no longer has the conversation that a call continues."""


@dataclass(frozen=True)
class HostedModel:
    """Options that do not shape answers are not part of a chain's identity."""

    model: str = ""
    timeout: float = number(300.0, above=0, identity=False)  # seconds, for a whole call
    base_url: str = ""  # subclasses give it the default wire.base_url_option(VARIABLE)
    vendor: ClassVar[str]  # its table in models.toml
    home: ClassVar[str]  # its address
    key_names: ClassVar[tuple[str, ...]]  # environment variables, the first that is set counts
    header: ClassVar[tuple[str, str]] = ("authorization", "Bearer {}")
    version: ClassVar[str] = ""  # what may end a user's base_url, because every path begins with it
    path: ClassVar[str] = ""
    meanings: ClassVar[Meanings] = ()
    error: ClassVar[str] = ""  # the field that makes an answer of status 200 an error
    passing: ClassVar[bool] = False  # whether such an error may work when it is tried again

    def __post_init__(self) -> None:
        check_limits(self.vendor, self)
        self.check()
        self.address()

    def check(self) -> None:
        """Raises UserError for an option that the model does not take."""

    def ready(self) -> str | None:
        return keys.missing_key(*self.key_names)

    def address(self) -> str:
        return wire.base_address(self.base_url, self.home).removesuffix(self.version)

    def headers(self) -> dict[str, str]:
        name, text = self.header
        return {name: text.format(keys.read_key(*self.key_names))}

    def send(self, method: str, path: str, **content: Any) -> Json:
        """Ask the vendor; the object that it answers with."""
        headers = self.headers() | content.pop("headers", {})
        response = wire.send(method, self.address() + path, headers, **content)
        return self.checked(response, wire.parse_json(response))

    def post(self, path: str, body: Json, **headers: str) -> Json:
        return self.send("POST", path, json=body, headers=headers)

    def _go_on(self, path: str, body: Json, further: Json | None, whole: Json) -> Json:
        """Go on with the conversation on the server; with the whole of it if there is none, or it was lost."""
        if further is None:
            return self.post(path, body | whole)
        try:
            return self.post(path, body | further)
        except Forgotten as lost:
            return self.post(path, body | whole) | {"lost": str(lost)}

    def checked(self, response: "httpx2.Response", reply: Json, charged: bool = False) -> Json:
        names = ("x-request-id", "x-fal-request-id", "x-goog-request-id")
        ids = [response.headers[name] for name in names if name in response.headers]
        reply = {"request_id": next(iter(ids), None)} | reply
        if response.status_code >= 400 or (self.error and reply.get(self.error)):
            self.fail(response, reply, charged)
        return reply

    def fail(self, response: "httpx2.Response", reply: Json, charged: bool = False) -> NoReturn:
        """Raise the exception for an error: the vendor's own words outrank the HTTP status.

        A refusal is raised as Refused(answer), and is free unless it came after the work (`charged`).
        """
        (code, message), status = error_words(reply), response.status_code
        text, meaning = f"{code}: {message}".removeprefix(": "), self._meaning(code, message)
        delays = (str(row["retryDelay"]).removesuffix("s") for row in _google_rows(reply) if "retryDelay" in row)
        delay = response.headers.get("retry-after") or next(delays, None)
        if meaning == "refused" and (status < 400 or status in _DECIDED):
            details = {"request_id": reply["request_id"]} if reply.get("request_id") else {}
            raise Refused(Answer(status="refused", reason=text, cost=None if charged else 0.0, details=details))
        if meaning in ("forgotten", "unusable"):
            raise (Forgotten if meaning == "forgotten" else Unusable)(f"HTTP {status}: {text}")
        if meaning == "transient":
            raise Transient(f"HTTP {status}: {text}", retry_after=wire.retry_after_seconds(delay))
        if status >= 400:
            raise wire.status_error(status, text, delay)
        if self.passing:
            raise Transient(f"an error instead of a picture: {text[:200]}")
        raise Rejected(f"an error instead of a picture: {text[:200]}", charged=charged)

    def _meaning(self, code: str, message: str) -> str:
        parts = {"code": code.lower(), "message": message.lower()}
        for meaning, part, words in self.meanings:
            if any(word.lower() in parts[part] for word in words):
                return meaning
        return ""


@dataclass(frozen=True)
class HostedEditor(HostedModel):
    prefix: ClassVar[str] = ""  # what the names of its editing models begin with

    def __init_subclass__(cls) -> None:
        for name, value in _VENDORS.get(getattr(cls, "vendor", ""), {}).items():
            if name not in vars(cls):
                setattr(cls, name, value)

    def check(self) -> None:
        if not self.model.startswith(self.prefix):
            default = type(self).model
            raise UserError(
                f"{self.vendor}:model must be one that edits, such as {default!r}, got {self.model!r}"
            )
        for option, listed in _CHOICES.items():
            if not hasattr(self, option):
                continue
            allowed = self.facts.get(listed) or (getattr(type(self), option),)
            for value in self._resolutions if option == "resolution" else [str(getattr(self, option))]:
                one_of(f"{self.vendor}:{option} of {self.model}", value, list(map(str, allowed)))

    @property
    def needs(self) -> str:
        return self.key_names[0]

    @property
    def concurrency(self) -> int:
        return int(self.facts.get("concurrency", 8))

    def hosted(self) -> models.Model:
        return models.find(self.vendor, self.model)

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.hosted().facts

    @property
    def _resolutions(self) -> list[str]:
        """1K, 2K or 4K; several if the vendor's editor takes a schedule of them."""
        return [str(getattr(self, "resolution", "1"))]

    def sizes(self) -> tuple[Size, ...]:
        """At the smallest resolution, so that no answer counts as shrunk."""
        scale = min(int(resolution[0]) for resolution in self._resolutions)
        return tuple((width * scale, height * scale) for width, height in FAMILIES[self.facts["sizes"]])

    def price(self) -> float | None:
        """At the dearest resolution, so that a cost limit holds."""
        prices = [self._price_at(resolution) for resolution in self._resolutions]
        return None if None in prices else max(price for price in prices if price is not None)

    def _price_at(self, resolution: str) -> float | None:
        """At the model's quality or this resolution, with that of the picture sent."""
        price = self.hosted().price
        if isinstance(price, dict):
            quality = getattr(self, "quality", "")
            kinds = (quality, resolution, f"{resolution}-{quality}")
            price = next((price[kind] for kind in kinds if kind in price), None)
        return None if price is None else round(price + self.facts.get("input", 0.0), 6)

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return self._within_time(lambda: self.ask(image, instruction, seed))

    def _within_time(self, ask: Callable[[], Answer]) -> Answer:
        try:
            with wire.one_call(self.timeout):
                return ask()
        except Refused as refusal:
            return refusal.args[0]

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return self.read(self.post(self.path, self.body(image, instruction, seed)), instruction)

    def body(self, image: Image.Image, instruction: str, seed: int) -> Json:
        """The request as models.toml describes it, with values in place of the names in braces."""
        if "body" not in self.facts:
            raise NotImplementedError(f"{self.vendor} has neither a method body nor a body in models.toml")
        data = pictures.encode_png(image)
        values = {**vars(self), "words": instruction, "seed": seed, **self._shapes(image.size)}
        values |= {"base64": wire.to_base64(data), "address": self._place(data)}
        filled: Json = _filled({**self.facts["body"], **self.facts.get("options", {})}, values)
        return filled

    def _shapes(self, size: Size) -> Json:
        stable = nearest(size, self.sizes() or [size])
        return {
            "width": size[0],
            "height": size[1],
            "ratio": ratio(size),
            "stable_width": stable[0],
            "stable_height": stable[1],
            "stable_ratio": ratio(stable),
        }

    def _place(self, data: bytes) -> str:
        """The address of the picture that is sent."""
        return wire.data_address(data)

    def read(self, reply: Json, instruction: str) -> Answer:
        """The answer of an API like OpenAI's, whose rows hold b64_json or a url."""
        row = first_row(reply)
        picture = wire.from_base64(row["b64_json"]) if row.get("b64_json") else row.get("url")
        details = {name: row.get(name) for name in ("size", "revised_prompt")}
        return self.answer(picture, reply, details, instruction)

    def answer(
        self,
        picture: object,
        reply: Json,
        details: Json,
        instruction: str = "",
        text: str = "",
        cost: float | None = None,
        reason: str = "an answer without a picture",
        refused: bool = False,
    ) -> Answer:
        """The picture is bytes, a data address, or an address to download; without one the reason says why."""
        details = self.details(reply, details, instruction)
        if isinstance(picture, str) and picture.startswith("data:"):
            picture = wire.from_base64(picture)
        if isinstance(picture, str):
            picture, details["declared"] = wire.download(picture, self.address())
        if isinstance(picture, bytes):
            return Answer(picture, text=text, cost=cost, details=details)
        status = "refused" if refused else "no_image"
        return Answer(status=status, reason=reason, text=text, cost=cost, details=details)

    def details(self, reply: Json, details: Json, instruction: str = "") -> Json:
        """Without what the vendor left out and a prompt that it did not rewrite."""
        facts = {"model": self.model, "request_id": reply.get("request_id"), "usage": reply.get("usage")}
        facts |= {"uncontrolled": list(self.facts.get("cannot", ())), **details}
        return {name: value for name, value in facts.items() if value not in (None, "", instruction)}


@dataclass(frozen=True)
class PolledEditor(HostedEditor):
    """Its vendor takes an order, which is then polled until it is finished."""

    timeout: float = number(600.0, above=0, identity=False)
    poll: float = number(0.5, above=0, identity=False)  # seconds between two polls

    def _address_in(self, order: Mapping[str, object], name: str, *hosts: str) -> str:
        address = order.get(name)
        if not isinstance(address, str):
            raise Transient(f"an answer without {name}: {str(order)[:120]}", charged=True)
        return wire.trusted(address, self.address(), *hosts)

    def wait(self, address: str, unfinished: Callable[[Json], bool]) -> Json:
        response, reply = wire.poll(address, self.headers(), self.poll, unfinished)
        if response.status_code >= 400 and not isinstance(reply.get("status"), str):
            raise Rejected(f"HTTP {response.status_code} while polling: {str(reply)[:200]}", charged=True)
        return reply


def error_words(reply: Json) -> tuple[str, str]:
    error, detail = reply.get("error"), reply.get("detail")
    if isinstance(detail, list):
        rows = [row for row in detail if isinstance(row, dict)]
        return ", ".join(str(row.get("type")) for row in rows), "; ".join(str(row.get("msg")) for row in rows)
    fields = error if isinstance(error, dict) else {**reply, "message": reply.get("message") or error}
    named = (fields.get(name) for name in ("code", "error_type", "status"))
    codes = [code for code in named if isinstance(code, str)][:1]
    reasons = [row["reason"] for row in _google_rows(reply) if isinstance(row.get("reason"), str)]
    words = (fields.get("message"), detail, reply.get("title"), reply)
    return " ".join([*codes, *reasons]), str(next(filter(None, words)))


def _google_rows(reply: Json) -> list[Json]:
    error = reply.get("error")
    rows = error.get("details") if isinstance(error, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def first_row(reply: Json) -> Json:
    rows = reply.get("data")
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    """`"{seed}"` becomes the number itself, `"{width}x{height}"` a text."""
    if isinstance(template, Mapping):
        return {name: _filled(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    whole = {f"{{{name}}}": value for name, value in values.items()}
    return whole[template] if template in whole else template.format_map(values)
