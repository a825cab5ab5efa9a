"""The base class of hosted judges: options, price, HTTP client, and the call."""

import functools
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from convergebench.generation import requirements
from convergebench.generation.options import check_limits, number
from convergebench.generation.records import Answer
from convergebench.generation.vendors import wire
from convergebench.generation.vendors.wire import Json

from . import BaseJudge, Rates, Shown, most_dollars, token_prices

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class HostedJudge(BaseJudge):
    """A model that is asked over HTTP."""

    model: str = ""
    base_url: str = ""  # subclasses give it the default wire.base_url_option(VARIABLE)
    temperature: float | None = None
    side: int = number(1024, least=64)
    max_tokens: int = number(4000, least=1)
    timeout: float = number(300.0, above=0, identity=False)  # seconds, for a whole call
    vendor: ClassVar[str]
    default_address: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        check_limits(self.vendor, self)
        self.address()

    def address(self) -> str:
        return wire.base_address(self.base_url, f"{self.vendor.upper()}_BASE_URL", self.default_address)

    def ready(self) -> str | None:
        return requirements.missing("judges", ("httpx", "jsonschema"), *self.keys)

    def rates(self) -> Rates:
        return token_prices(self.vendor, self.model)

    def price(self, letters: int, pictures: int) -> float | None:
        return most_dollars(self.rates(), letters, pictures, self.max_tokens)

    @functools.cached_property
    def client(self) -> "httpx.Client":
        return wire.client()

    def answer(self, shown: Shown) -> Answer:
        place = f"{self.address()}/{self.path()}"
        with wire.time_limit(self.timeout):
            response, reply = wire.post(self.client, place, self.headers(), self.body(shown))
        return self.read(reply, response.headers) if response.status_code == 200 else self.read_error(response, reply)

    @abstractmethod
    def path(self) -> str: ...

    @abstractmethod
    def headers(self) -> dict[str, str]: ...

    @abstractmethod
    def body(self, shown: Shown) -> Json:
        """The request body. Words without pictures are sent unchanged, with nothing around them."""

    @abstractmethod
    def read(self, reply: Json, headers: Mapping[str, str]) -> Answer:
        """The answer in a reply."""

    @abstractmethod
    def read_error(self, response: "httpx.Response", reply: Json) -> Answer:
        """The refusal, if the error is one; otherwise raise the exception for the error."""
