"""The user's own servers with OpenAI's images/edits API, such as vLLM-Omni: what they run."""

import functools
import ipaddress
import urllib.parse

from ..calls import Rejected, Transient
from ..records import UserError, canonical
from . import wire
from .wire import Json

_PATIENCE = 5.0  # seconds for a server to describe itself
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


def costs_nothing(address: str) -> bool:
    host = urllib.parse.urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host
