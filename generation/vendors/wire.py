"""What every vendor's client shares: one reading of what went wrong, JSON, base64 and downloads."""

import base64
import binascii
import contextlib
import email.utils
import json
import os
import time
import urllib.parse
from typing import Any

from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from .deadlines import pause

RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)
STANDARD = str.maketrans("-_", "+/")


def broken(error: Exception) -> Transient:
    """A call that ended without an answer. Once it was sent, the work may have been done and billed."""
    name = type(error).__name__
    sent = not name.startswith(("Connect", "Pool", "Proxy", "Unsupported"))
    what = "no answer in time" if "Timeout" in name else "the connection broke"
    return Transient(f"{what} ({name}: {str(error)[:120]})", charged=sent)


def wrong(status: int, message: str, retry_after: str | None = None) -> Exception:
    """The exception for an HTTP status that no vendor gives a meaning of its own."""
    text = f"HTTP {status}: {' '.join(message.split())[:300]}"
    if status in RETRIED:
        return Transient(text, retry_after=seconds_of(retry_after))
    return Unusable(text) if status in (401, 402, 403, 404) else Rejected(text)


def seconds_of(retry_after: str | None) -> float | None:
    """A Retry-After header: seconds, or a date."""
    if not retry_after:
        return None
    with contextlib.suppress(ValueError):
        return max(0.0, float(retry_after))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    return None


def parsed(response: Any) -> dict[str, Any]:
    """A response's JSON object; a page of HTML in its place comes from something between us and the vendor."""
    try:
        value = json.loads(response.content)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    kind, start = response.headers.get("content-type", "nothing"), response.content[:60].decode("ascii", "replace")
    if response.status_code >= 400:
        raise wrong(response.status_code, start, response.headers.get("retry-after"))
    raise Transient(f"an answer of {kind} in place of JSON, starting with {start!r}", charged=True)


def post(http: Any, address: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Send JSON; the response and its JSON object, whatever its status."""
    import httpx

    try:
        response = http.post(address, headers=headers, json=body)
    except httpx.TransportError as error:
        raise broken(error) from error
    return response, parsed(response)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def decoded(text: object) -> bytes:
    """The bytes of a base64 field, in either alphabet, or of a data address."""
    letters = (str(text).partition("base64,")[2] or str(text)).translate(STANDARD)
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except binascii.Error as error:
        raise Transient(f"a picture field that is no base64 ({error})", charged=True) from error


def download(http: Any, address: str, base: str) -> tuple[bytes, str]:
    """A finished picture and its declared type, from an address the vendor gave; no key goes there.

    It is paid for already, so a broken download is tried again here, not by asking for a second picture.
    """
    import httpx

    scheme = urllib.parse.urlsplit(address).scheme
    if scheme != "https" and scheme != urllib.parse.urlsplit(base).scheme:
        raise Rejected(f"the picture's address is {address[:80]!r}, not an https one", charged=True)
    for attempt in range(4):
        try:
            response = http.get(address, headers={"accept-encoding": "identity"}, follow_redirects=True)
        except httpx.TransportError as error:
            problem: Exception = broken(error)
        else:
            if response.status_code == 200:
                return response.content, response.headers.get("content-type", "")
            problem = Transient(f"HTTP {response.status_code} for the finished picture", charged=True)
            if response.status_code not in RETRIED:
                break
        pause(0.5 * 2**attempt)
    raise Rejected(f"the finished picture cannot be fetched: {problem}", charged=True)


def base(option: str, variable: str, default: str) -> str:
    """The vendor's address: the option, else the environment's, else the vendor's own."""
    address = (option or os.environ.get(variable, "") or default).rstrip("/")
    if not address.startswith(("https://", "http://")):
        raise UserError(f"the base address is {address!r}; it starts with https:// (or http:// on this machine)")
    return address


def refused(reason: str, cost: float | None = None, **details: Any) -> Answer:
    """The vendor declines, in its own words."""
    return Answer(status="refused", reason=reason, cost=cost, details=details)
