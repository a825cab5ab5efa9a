"""The user's own servers that speak OpenAI's images/edits, such as vLLM-Omni: what they run, and which to ask next."""

import contextlib
import functools
import ipaddress
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence

from ..calls import Transient
from ..records import UserError, canonical
from . import wire
from .wire import Json

REST = 10.0  # seconds in which a server that failed is not asked
_PATIENCE = 5.0  # seconds for a server to say what it is, or that it is well
_PASSING = ("created", "permission", "object", "num_gpus")  # of a model's card, what changes without the model
_SHAPES = ("version", "cache", "quant", "precision", "dtype", "attention", "compile", "lora", "scheduler")


@functools.cache
def describe(address: str, model: str) -> str:
    """What a server says of the software, the model and the accelerations it runs, as JSON with one spelling."""
    listed = _ask(f"{address}/models")
    if listed is None:
        raise UserError(f"no server answers at {address}/models; start it, or give another base_url")
    cards = [card for card in listed.get("data") or [] if isinstance(card, dict)]
    card = next((card for card in cards if card.get("id") == model), None)
    if card is None:
        served = ", ".join(str(card.get("id")) for card in cards) or "nothing"
        raise UserError(f"the server at {address} has no model {model!r}; it serves {served}")
    root = address.removesuffix("/v1")
    info = {**(_ask(f"{root}/server_info") or {}), **(_ask(f"{root}/version") or {})}
    facts = {name: value for name, value in card.items() if name not in _PASSING and value is not None}
    shaping = {  # numbers under such names count what the server has done
        name: value
        for name, value in info.items()
        if isinstance(value, str | bool) and any(word in name for word in _SHAPES)
    }
    return canonical({"version": "not told", **shaping, "model": facts})


def _ask(place: str) -> Json | None:
    """The JSON object at an address; None if there is none."""
    import httpx

    try:
        with wire.client() as http, wire.time_limit(_PATIENCE):
            response = http.get(place)
            value = response.json() if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def describe_all(addresses: Sequence[str], model: str) -> str:
    """What all of them say; refuses servers that differ, because their answers would."""
    first, *others = addresses
    for other in others:
        if describe(other, model) != describe(first, model):
            raise UserError(
                f"{first} and {other} do not run the same: {describe(first, model)} and {describe(other, model)}"
            )
    return describe(first, model)


def costs_nothing(address: str) -> bool:
    """Whether an address is on this machine or in a private network, where a call costs nothing but time."""
    host = urllib.parse.urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host


class LeastLoaded:
    """Hands out the server with the fewest calls in flight, of those that are well."""

    def __init__(self, addresses: Sequence[str]):
        self.lock = threading.Lock()
        self.in_flight = dict.fromkeys(addresses, 0)
        self.failed: dict[str, float] = {}  # since when

    @contextlib.contextmanager
    def pick(self) -> Iterator[str]:
        """An address for one call; a connection that breaks lets its server rest until it says that it is well."""
        for address, since in list(self.failed.items()):
            if time.monotonic() - since >= REST:
                well = _is_well(address)
                with self.lock:
                    self.failed[address] = time.monotonic()
                    if well:
                        del self.failed[address]
        with self.lock:
            usable = [address for address in self.in_flight if address not in self.failed] or list(self.in_flight)
            address = min(usable, key=lambda address: self.in_flight[address])
            self.in_flight[address] += 1
        try:
            yield address
        except Transient as error:
            if error.retry_after is None:
                with self.lock:
                    self.failed[address] = time.monotonic()
            raise
        finally:
            with self.lock:
                self.in_flight[address] -= 1


def _is_well(address: str) -> bool:
    """Whether a server answers its health check."""
    import httpx

    try:
        with wire.client() as http, wire.time_limit(_PATIENCE):
            return http.get(f"{address.removesuffix('/v1')}/health").status_code == 200
    except httpx.HTTPError:
        return False
