"""API keys: read from the environment, and removed from every text that is stored."""

import os
import re
from typing import Any

from .records import UserError, spellings

_KEYS = re.compile(r"(_|^)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST = 8  # anything shorter is a word, not a key


def missing_key(*names: str) -> str | None:
    return None if any(os.environ.get(name, "").strip() for name in names) else f"set {' or '.join(names)}"


def read_key(*names: str) -> str:
    """The first that is set; UserError if the environment holds no usable key."""
    for name in names:
        if value := os.environ.get(name, "").strip():
            if value.isascii() and value.isprintable() and " " not in value:
                return value
            raise UserError(f"{name} holds characters that no key has; copy the key again")
    raise UserError(f"no key: set {' or '.join(names)}")


def scrub(value: Any) -> Any:
    """The same text, list or mapping, with "[key]" in place of every key that the environment holds.

    Parts of a key are replaced too, from _SHORTEST characters on, because a server may quote only a part.
    """
    long = sorted((spelling for secret in _secrets() for spelling in spellings(secret)), key=len, reverse=True)
    return _without(value, long) if long else value


def _secrets() -> set[str]:
    secrets = {os.environ[name].strip() for name in os.environ if _KEYS.search(name)}
    return {secret for secret in secrets if len(secret) >= _SHORTEST}


def is_in(data: bytes) -> bool:
    """Whether a file, such as a picture's text, holds a key that the environment holds."""
    return any(spelling.encode() in data for secret in _secrets() for spelling in spellings(secret))


def scrub_and_cut(text: str, most: int) -> str:
    """In this order; if the text were cut first, half a key might remain."""
    return str(scrub(text))[:most]


def _without(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = _without_parts(value, secret)
        return value
    if isinstance(value, dict):
        return {_without(name, secrets): _without(item, secrets) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without(item, secrets) for item in value]
    return value


def _without_parts(text: str, secret: str) -> str:
    parts = {secret[start : start + _SHORTEST] for start in range(len(secret) - _SHORTEST + 1)}
    if not any(part in text for part in parts):
        return text
    clean, start = [], 0
    while start < len(text):
        end = start
        while text[end : end + _SHORTEST] in parts:
            end += 1
        clean.append("[key]" if end > start else text[start])
        start = end + _SHORTEST - 1 if end > start else start + 1
    return "".join(clean)
