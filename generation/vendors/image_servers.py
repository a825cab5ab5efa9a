"""The user's own servers with OpenAI's images/edits API, such as vLLM-Omni: what they run, and which to call next."""

import contextlib
import functools
import ipaddress
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence

from ..calls import Rejected, Transient
from ..records import UserError, canonical
from . import wire
from .wire import Json

REST = 10.0  # seconds for which a server that failed is not called
_PATIENCE = 5.0  # seconds for a server to describe itself or answer its health check
_LOCK = threading.Lock()
# Fields of a model's card that may change although the model does not.
_PASSING = ("created", "permission", "object", "num_gpus")
_SHAPES = ("version", "cache", "quant", "precision", "dtype", "attention", "compile", "lora", "scheduler")


@functools.cache
def describe(address: str, model: str) -> str:
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
    shaping = {  # no numbers: under such names they count calls or hits
        name: value
        for name, value in info.items()
        if isinstance(value, str | bool) and any(word in name for word in _SHAPES)
    }
    return canonical({"version": "not told", **shaping, "model": facts})


def _ask(address: str) -> Json | None:
    try:
        with wire.one_call(_PATIENCE):
            response = wire.send("GET", address, {})
            value = response.json() if response.status_code == 200 else None
    except (Transient, Rejected):
        return None
    return value if isinstance(value, dict) else None


def describe_all(addresses: Sequence[str], model: str) -> str:
    first, *others = {describe(address, model) for address in addresses}
    if others:
        raise UserError(f"{' and '.join(addresses)} do not run the same: {first} and {others[0]}")
    return first


def costs_nothing(address: str) -> bool:
    host = urllib.parse.urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host


@contextlib.contextmanager
def least_loaded(calls: dict[str, int], failed: dict[str, float]) -> Iterator[str]:
    """An address with few calls in flight; one that failed rests until its health check succeeds."""
    for address, since in list(failed.items()):
        if time.monotonic() - since >= REST:
            failed[address] = time.monotonic()
            if _is_healthy(address):
                failed.pop(address, None)
    with _LOCK:
        usable = [address for address in calls if address not in failed]
        address = min(usable or calls, key=lambda address: calls[address])
        calls[address] += 1
    try:
        yield address
    except Transient as error:
        if error.retry_after is None:
            failed[address] = time.monotonic()
        raise
    finally:
        with _LOCK:
            calls[address] -= 1


def _is_healthy(address: str) -> bool:
    try:
        with wire.one_call(_PATIENCE):
            return wire.send("GET", f"{address.removesuffix('/v1')}/health", {}).status_code == 200
    except Transient:
        return False
