"""API keys: read from the environment, sent to their vendor only, and removed from every text that is stored."""

import os
import re
from typing import Any

_KEYS = re.compile(r"(_|^)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST = 8  # anything shorter is a word, not a key


class NoKey(Exception):
    """The environment holds no usable key."""


def missing_key(*names: str) -> str | None:
    """None if one of these environment variables is set, else the sentence that asks for it."""
    return None if any(os.environ.get(name, "").strip() for name in names) else f"set {' or '.join(names)}"


def read_key(*names: str) -> str:
    """The key in the first of these environment variables that is set."""
    for name in names:
        if value := os.environ.get(name, "").strip():
            if value.isascii() and value.isprintable() and " " not in value:
                return value
            raise NoKey(f"{name} holds characters that no key has; copy the key again")
    raise NoKey(f"no key: set {' or '.join(names)}")


def scrub(value: Any) -> Any:
    """The same text, list or mapping, with "[key]" in place of every key that the environment holds.

    A part of a key counts as one, from _SHORTEST characters on: whoever quotes a key may have cut it.
    """
    secrets = {os.environ[name].strip() for name in os.environ if _KEYS.search(name)}
    long = sorted((secret for secret in secrets if len(secret) >= _SHORTEST), key=len, reverse=True)
    return _without(value, long) if long else value


def scrub_and_cut(text: str, most: int) -> str:
    """The beginning of a text without keys; cut first, the rest of a key would not be recognised."""
    return str(scrub(text))[:most]


def _without(value: Any, secrets: list[str]) -> Any:
    """The same value with "[key]" in place of these secrets, at any depth."""
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
    """The text with "[key]" in place of the secret and of its parts, each as long as can be."""
    parts = {secret[start : start + _SHORTEST] for start in range(len(secret) - _SHORTEST + 1)}
    if not any(part in text for part in parts):
        return text
    clean, place = [], 0
    while place < len(text):
        end = place
        while text[end : end + _SHORTEST] in parts:
            end += 1
        clean.append("[key]" if end > place else text[place])
        place = end + _SHORTEST - 1 if end > place else place + 1
    return "".join(clean)
