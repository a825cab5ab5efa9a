"""The base class of the hosted editors, with the options, key, address, client and price that all vendors have.

A vendor is one file in generation/editors/ with a subclass that sets `vendor`, builds the request and reads the picture
from the answer. Prices and parameters of models are in models.toml; a table of words (`wire.Meanings`) reads errors.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from PIL import Image

from .. import requirements
from ..calls import Rejected, Transient
from ..options import check_limits, number
from ..records import Answer
from . import keys, models, wire
from .sizes import Size, of_family
from .wire import Json

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Vendor:
    """A vendor's address, and how its key is sent."""

    name: str  # also its table in models.toml and its extra in pyproject.toml
    address: str
    key: str  # the environment variable
    header: tuple[str, str] = ("authorization", "Bearer {}")
    version: str = ""  # what may end a user's base_url, because every path begins with it
    packages: tuple[str, ...] = ("httpx",)
    other_keys: tuple[str, ...] = ()
    variable: str = ""  # another name than NAME_BASE_URL for the address

    @property
    def address_variable(self) -> str:
        return self.variable or f"{self.name.upper()}_BASE_URL"

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *self.other_keys)


@dataclass(frozen=True)
class HostedEditor:
    """An editor at a vendor. Options that do not shape answers are not part of a chain's identity."""

    model: str = ""
    timeout: float = number(300.0, above=0, identity=False)  # seconds, for a whole call
    base_url: str = ""  # subclasses give it the default wire.base_url_option(VARIABLE)
    vendor: ClassVar[Vendor]

    def __post_init__(self) -> None:
        check_limits(self.vendor.name, self)
        self.check()
        self.address()

    def check(self) -> None:
        """Raises UserError for an option that the model does not take."""

    @property
    def needs(self) -> str:
        return f"{self.vendor.key} and pip install 'convergebench[{self.vendor.name}]'"

    def hosted(self) -> models.Model:
        return models.find(self.vendor.name, self.model)

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.hosted().facts

    def address(self) -> str:
        address = wire.base_address(self.base_url, self.vendor.address_variable, self.default_address())
        return address.removesuffix(self.vendor.version)

    def default_address(self) -> str:
        return self.vendor.address

    def ready(self) -> str | None:
        return requirements.missing(self.vendor.name, self.vendor.packages, *self.vendor.keys)

    def sizes(self) -> tuple[Size, ...]:
        return of_family(self.facts["sizes"])

    def price(self) -> float | None:
        """US dollars per call: the model's only price, or the one for its quality or resolution."""
        price = self.hosted().price
        if not isinstance(price, dict):
            return price
        options = (getattr(self, name, None) for name in ("quality", "resolution"))
        return next((price[option] for option in options if option in price), None)

    def require_packages(self) -> None:
        requirements.require_packages(self.vendor.name, *self.vendor.packages)

    @functools.cached_property
    def client(self) -> "httpx.Client":
        self.require_packages()
        return wire.client()

    def headers(self) -> dict[str, str]:
        name, text = self.vendor.header
        return {name: text.format(keys.read_key(*self.vendor.keys))}

    def post(self, path: str, body: Json) -> "tuple[httpx.Response, Json]":
        return wire.post(self.client, self.address() + path, self.headers(), body)

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        with wire.time_limit(self.timeout), wire.documented_form():
            return self.ask(image, instruction, seed)

    def ask(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        """One call; `edit` has set its time limit."""
        raise NotImplementedError

    def picture(self, address: object, details: Json, text: str = "") -> Answer:
        """An answer with the picture at an address or in a data address; "no_image" if there is no address."""
        if not isinstance(address, str):
            return Answer(status="no_image", reason="an answer without a picture", text=text, details=details)
        if address.startswith("data:"):
            return Answer(wire.from_base64(address), text=text, details=details)
        data, declared = wire.download(self.client, address, self.address())
        return Answer(data, text=text, details={**details, "declared": declared})

    def picture_in(self, row: Json, details: Json) -> Answer:
        """The answer of an API like OpenAI's, whose rows hold b64_json or a url."""
        if row.get("b64_json"):
            return Answer(wire.from_base64(row["b64_json"]), details=details)
        return self.picture(row.get("url"), details)


@dataclass(frozen=True)
class PolledEditor(HostedEditor):
    """An editor whose vendor takes an order, which is then polled until it is finished."""

    timeout: float = number(600.0, above=0, identity=False)
    poll: float = number(0.5, above=0, identity=False)  # seconds between two polls

    def polling_address(self, order: Mapping[str, object], name: str, *hosts: str) -> str:
        """An address in the order's reply, if the key may be sent there."""
        address = order.get(name)
        if not isinstance(address, str):
            raise Transient(f"an answer without {name}: {str(order)[:120]}", charged=True)
        return wire.trusted(address, self.address(), *hosts)

    def wait(self, address: str, unfinished: Callable[[Json], bool]) -> Json:
        """Poll an order until it is finished; its last reply."""
        response, reply = wire.poll(self.client, address, self.headers(), self.poll, unfinished)
        if response.status_code >= 400:
            raise Rejected(f"HTTP {response.status_code} while polling: {str(reply)[:200]}", charged=True)
        return reply


def first_row(reply: Json) -> Json:
    """The first row of `data` in a reply, empty if there is none."""
    rows = reply.get("data")
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}


def rewritten(prompt: object, instruction: str) -> Json:
    """The vendor's prompt for the answer's details, if it is not the instruction."""
    return {"revised_prompt": prompt} if prompt and prompt != instruction else {}
