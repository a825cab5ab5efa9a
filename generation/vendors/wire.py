"""HTTP calls to vendors: a time limit for the whole call, a client that keeps it, and the reading of errors.

An ordinary read timeout starts anew with every byte, so a server that sends a
byte a second could hold a call forever, in the headers as well as in the body.
Here every socket operation gets only the seconds that remain of the call.
"""

import base64
import binascii
import contextlib
import contextvars
import dataclasses
import email.utils
import functools
import ipaddress
import os
import socket
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import keys
from ..calls import Rejected, Transient, Unusable
from ..records import Json, UserError, json_object

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 2**27  # that one connection may receive; a 4K picture as base64 has a third of that
_MOST_HOPS = 8  # redirects of a picture's address
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # 529 is an overloaded site
_UNUSABLE = (401, 402, 403, 404)  # wrong key, no credit, not allowed, no such model: true of every further call
_STANDARD = str.maketrans("-_", "+/")  # from the base64 alphabet for addresses to the usual one

deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


@contextlib.contextmanager
def one_call(seconds: float) -> Iterator[None]:
    """Every request, wait and poll in this block ends within this many seconds.

    The block reads answers without checking the type of each part: one that does
    not have the documented form rejects the call, which may have been billed.
    """
    token = deadline.set(time.monotonic() + seconds)
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError) as error:
        problem = keys.scrub_and_cut(f"{type(error).__name__}: {error}", 120)
        raise Rejected(f"an answer in another form than documented ({problem})", charged=True) from error
    finally:
        deadline.reset(token)


@contextlib.contextmanager
def before_the_order() -> Iterator[None]:
    """A connection that breaks in this block cost nothing."""
    try:
        yield
    except Transient as error:
        error.charged = False
        raise


def pause(seconds: float) -> None:
    end = deadline.get()
    if end is not None and end - time.monotonic() < seconds:
        raise Transient("no picture before the time limit", charged=True)
    time.sleep(seconds)


@functools.cache
def client() -> "httpx2.Client":
    from .client import make_client

    return make_client()


def send(method: str, address: str, headers: Mapping[str, str], **content: Any) -> "httpx2.Response":
    """Raises Transient if it ends without an answer, charged once it was sent."""
    import httpx2

    try:
        return client().request(method, address, headers=headers, **content)
    except httpx2.TransportError as error:
        name, text = type(error).__name__, keys.scrub_and_cut(str(error), 120)
        problem = "no answer in time" if "Timeout" in name else "the connection broke"
        charged = not name.startswith(("Connect", "Pool", "Proxy", "Unsupported"))
        raise Transient(f"{problem} ({name}: {text})", charged=charged) from error


def status_error(status: int, message: str, retry_after: str | None = None) -> Exception:
    text = f"HTTP {status}: {keys.scrub_and_cut(' '.join(message.split()), 300)}"
    if status in _RETRIED:
        return Transient(text, retry_after=retry_after_seconds(retry_after))
    return Unusable(text) if status in _UNUSABLE else Rejected(text)


def retry_after_seconds(retry_after: str | None) -> float | None:
    """Of a Retry-After header, which holds seconds or a date."""
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, float(retry_after or ""))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(retry_after or "").timestamp() - time.time())
    return None


def parse_json(response: "httpx2.Response") -> Json:
    """An HTML page instead comes from a proxy or gateway before the vendor."""
    if (value := json_object(response.content)) is not None:
        return value
    start = keys.scrub_and_cut(response.content[:4096].decode("ascii", "replace"), 60)
    if response.status_code >= 400:
        raise status_error(response.status_code, start, response.headers.get("retry-after"))
    kind = response.headers.get("content-type", "nothing")
    raise Transient(f"an answer of {kind} instead of JSON, starting with {start!r}", charged=True)


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def data_address(data: bytes) -> str:
    return "data:image/png;base64," + to_base64(data)


def from_base64(text: object) -> bytes:
    letters = (str(text).partition("base64,")[2] or str(text)).translate(_STANDARD)
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except binascii.Error as error:
        raise Transient(f"a picture field that is not base64 ({error})", charged=True) from error


def download(address: str, base: str) -> tuple[bytes, str]:
    """Download a finished picture; its bytes and declared type. No key is sent.

    The picture is paid for, so a broken download is retried here instead of ordering a second picture.
    """
    for wait in (0, 0.5, 1, 2, 4, 8, 16):
        pause(wait)
        try:
            response = _follow(address, base)
            if response.status_code == 200:
                return response.content, response.headers.get("content-type", "")
            problem = f"HTTP {response.status_code} for the finished picture"
            if response.status_code not in _RETRIED:
                break
        except Transient as error:
            problem = str(error)
    raise Rejected(f"the finished picture cannot be fetched: {problem}", charged=True)


def _follow(address: str, base: str) -> "httpx2.Response":
    """Every hop must be to the vendor's own server, or by HTTPS to a public host: a machine inside could answer."""
    home = _parsed(base)
    for _ in range(_MOST_HOPS):
        target = _parsed(address)
        is_own = (target.scheme, target.netloc) == (home.scheme, home.netloc)
        if not is_own and not (target.scheme == "https" and _is_public(target.host)):
            start = keys.scrub_and_cut(address, 80)
            raise Rejected(f"the picture's address is {start!r}, not an https one of a public host", charged=True)
        response = send("GET", address, {})
        if response.next_request is None:
            return response
        address = str(response.next_request.url)
    raise Rejected(f"the picture's address redirects more than {_MOST_HOPS} times", charged=True)


def _is_public(host: str) -> bool:
    try:
        rows = socket.getaddrinfo(host, None)
    except OSError:  # only a proxy may know it
        return True
    return all(ipaddress.ip_address(str(row[4][0]).partition("%")[0]).is_global for row in rows)


def poll(
    address: str,
    headers: Mapping[str, str],
    every: float,
    unfinished: Callable[[Json], bool] = lambda reply: False,
    errors: int | None = None,
) -> "tuple[httpx2.Response, Json]":
    """Poll a task until it is finished; the response and its JSON object.

    The work is ordered and paid for, so a lost poll is repeated.
    After `errors` server errors the next one is returned.
    """
    failed = 0
    while True:
        pause(every)
        try:
            response = send("GET", address, headers)
            reply = parse_json(response)
        except Transient:
            continue
        failed += response.status_code in _RETRIED
        if unfinished(reply) or (response.status_code in _RETRIED and (errors is None or failed <= errors)):
            continue
        return response, reply


def _parsed(address: str) -> "httpx2.URL":
    import httpx2

    try:
        return httpx2.URL(address)
    except httpx2.InvalidURL as error:
        start = keys.scrub_and_cut(address, 80)
        raise Rejected(f"the vendor gave {start!r}, which is not an address ({error})", charged=True) from error


def trusted(address: object, base: str, *hosts: str) -> str:
    """The address, if a key may be sent there: a server's own, or a vendor's by https."""
    target, home = _parsed(str(address)), _parsed(base)
    host = target.host
    is_theirs = target.scheme == "https" and any(host == name or host.endswith(f".{name}") for name in hosts)
    if is_theirs or (target.scheme, target.netloc) == (home.scheme, home.netloc):
        return str(target)
    raise Rejected(f"the polling address is on {host!r}, not a vendor's, so no key is sent", charged=True)


def base_url_option(variable: str) -> Any:
    """The field base_url, part of the identity if it or the environment is set."""
    read = functools.partial(os.environ.get, variable, "")
    option: Any = dataclasses.field(default_factory=read, metadata={"identity": "where given"})
    return option


def base_address(option: str, default: str) -> str:
    """A user's own is checked."""
    address = (option.strip() or default).rstrip("/")
    if address == default:
        return address
    import httpx2

    try:
        httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise UserError(f"the base address {address!r} is not an address ({error})") from error
    if not address.startswith(("https://", "http://")):
        raise UserError(
            f"the base address must start with https:// (or http:// on this machine), got {address!r}"
        )
    if "@" in urllib.parse.urlsplit(address).netloc:
        raise UserError("the base address must not hold a user name or password: it is stored with the chains")
    return address
