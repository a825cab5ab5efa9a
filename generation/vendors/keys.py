"""API keys: read from the environment, sent to their vendor only, and removed from every text that is stored."""

import os
import re
from typing import Any

KEYS = re.compile(r"(_|^)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$")
SHORTEST = 8  # anything shorter is a word, not a key


class NoKey(Exception):
    """The environment holds no usable key."""


def missing_key(*names: str) -> str | None:
    """None where one of these environment variables is set, else the sentence that asks for it."""
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
    """The same text, list or mapping, with "[key]" in place of every key that the environment holds."""
    secrets = {os.environ[name].strip() for name in os.environ if KEYS.search(name)}
    long = sorted((secret for secret in secrets if len(secret) >= SHORTEST), key=len, reverse=True)
    return without(value, long) if long else value


def without(value: Any, secrets: list[str]) -> Any:
    """The same value with "[key]" in place of these secrets, at any depth."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[key]")
        return value
    if isinstance(value, dict):
        return {without(name, secrets): without(item, secrets) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without(item, secrets) for item in value]
    return value
