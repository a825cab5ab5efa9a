"""Calls to vendors over HTTP: the time limit of a call, clients that keep it, and one reading of what went wrong.

An ordinary read timeout starts anew with every byte, so a server that drips a byte a second holds a call for ever, in
the headers as well as in the body. Here every operation on the socket is given the seconds that are left of the call.
"""

import base64
import binascii
import contextlib
import contextvars
import dataclasses
import email.utils
import functools
import importlib
import json
import os
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from . import keys

MOST_BYTES = 2**27  # that one connection may receive; a 4K picture as base64 has a third of that
CONNECT = 15.0  # seconds
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)
STANDARD = str.maketrans("-_", "+/")

_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Everything that the block sends, waits for or polls ends before so many seconds have passed."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextlib.contextmanager
def documented_form() -> Iterator[None]:
    """Where what came back has another form than the vendor documents, the call is rejected: it may have been billed.

    The editors read what they are told without asking for the type of each part.
    """
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        what = keys.scrub_and_cut(f"{type(error).__name__}: {error}", 120)
        raise Rejected(f"an answer in another form than documented ({what})", charged=True) from error


def seconds_left() -> float | None:
    """Seconds to the end of the call, None where it has no time limit."""
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.monotonic()


def pause(seconds: float) -> None:
    """Wait between two polls; raises Transient where the time limit comes first."""
    left = seconds_left()
    if left is not None and left < seconds:
        raise Transient("no picture before the time limit", charged=True)
    time.sleep(seconds)


class LimitedStream:
    """A connection of httpcore whose operations end with the call, and which receives a limited number of bytes."""

    def __init__(self, stream: Any, core: Any):
        self.stream, self.core = stream, core
        self.received = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self.stream.read(max_bytes, timeout=shortened(timeout, self.core.ReadTimeout))
        self.received += len(data)
        if self.received > MOST_BYTES:
            raise self.core.ReadError(f"an answer of more than {MOST_BYTES} bytes")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, timeout=shortened(timeout, self.core.WriteTimeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        timeout = shortened(timeout, self.core.ConnectTimeout)
        return LimitedStream(self.stream.start_tls(ssl_context, server_hostname, timeout=timeout), self.core)

    def close(self) -> None:
        self.stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


class LimitedBackend:
    """The network backend of httpcore, with connections that end with the call."""

    def __init__(self, backend: Any, core: Any):
        self.backend, self.core = backend, core

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> LimitedStream:
        timeout = min(CONNECT, shortened(timeout, self.core.ReadTimeout) or CONNECT)
        return LimitedStream(self.backend.connect_tcp(host, port, timeout=timeout, **options), self.core)


def shortened(timeout: float | None, expired: Callable[[str], Exception]) -> float | None:
    """The timeout, or what is left of the call where that is less; raises `expired` where nothing is left."""
    left = seconds_left()
    if left is None:
        return timeout
    if left <= 0:
        raise expired("no time is left for this call: the answer did not end before its time limit")
    return left if timeout is None else min(timeout, left)


@functools.cache
def transport(package: str) -> Any:
    """A transport class of httpx or httpx2 on such connections, through the proxies that the environment names."""
    http = importlib.import_module(package)
    core = importlib.import_module(package.replace("httpx", "httpcore"))
    # A connection that is kept open may be closed by the vendor just as a paid call is sent on it.
    fresh = http.Limits(max_keepalive_connections=0)
    trust = http.create_ssl_context()  # read once, not for every client

    def limited(proxy: str | None = None) -> Any:
        made = http.HTTPTransport(limits=fresh, verify=trust, proxy=proxy)
        made._pool._network_backend = LimitedBackend(made._pool._network_backend, core)  # httpx has no option for it
        return made

    class Routed(http.BaseTransport):  # type: ignore[name-defined]
        def __init__(self) -> None:
            proxies = urllib.request.getproxies()
            self.direct = limited()
            self.proxied = {scheme: limited(proxies[scheme]) for scheme in ("http", "https") if scheme in proxies}

        def handle_request(self, request: Any) -> Any:
            if not self.proxied or bypasses_proxy(request.url.host):
                return self.direct.handle_request(request)
            return self.proxied.get(request.url.scheme, self.direct).handle_request(request)

        def close(self) -> None:
            for each in (self.direct, *self.proxied.values()):
                each.close()

    return Routed


@functools.cache
def bypasses_proxy(host: str) -> bool:
    """Whether the environment wants this host to be reached without its proxy."""
    return bool(urllib.request.proxy_bypass(host))


def client(package: str = "httpx", **options: Any) -> Any:
    """A client of httpx, or of httpx2 for the SDKs that use that, which keeps the time limit of the call."""
    http = importlib.import_module(package)
    headers = {"accept-encoding": "identity"}
    return http.Client(transport=transport(package)(), headers=headers, timeout=None, **options)


def connection_lost(error: Exception) -> Transient:
    """A call that ended without an answer. Once it was sent, the work may have been done and billed."""
    name = type(error).__name__
    sent = not name.startswith(("Connect", "Pool", "Proxy", "Unsupported"))
    what = "no answer in time" if "Timeout" in name else "the connection broke"
    return Transient(f"{what} ({name}: {keys.scrub_and_cut(str(error), 120)})", charged=sent)


def status_error(status: int, message: str, retry_after: str | None = None) -> Exception:
    """The exception for an HTTP status that no vendor gives a meaning of its own."""
    text = f"HTTP {status}: {keys.scrub_and_cut(' '.join(message.split()), 300)}"
    if status in RETRIED:
        return Transient(text, retry_after=retry_after_seconds(retry_after))
    return Unusable(text) if status in (401, 402, 403, 404) else Rejected(text)


def retry_after_seconds(retry_after: str | None) -> float | None:
    """A Retry-After header: seconds, or a date."""
    if not retry_after:
        return None
    with contextlib.suppress(ValueError):
        return max(0.0, float(retry_after))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    return None


def parse_json(response: Any) -> dict[str, Any]:
    """A response's JSON object; a page of HTML in its place comes from something between us and the vendor."""
    try:
        value = json.loads(response.content)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    kind, start = response.headers.get("content-type", "nothing"), response.content[:4096].decode("ascii", "replace")
    start = keys.scrub_and_cut(start, 60)
    if response.status_code >= 400:
        raise status_error(response.status_code, start, response.headers.get("retry-after"))
    raise Transient(f"an answer of {kind} in place of JSON, starting with {start!r}", charged=True)


def post(http: Any, address: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Send JSON; the response and its JSON object, whatever its status."""
    import httpx

    try:
        response = http.post(address, headers=headers, json=body)
    except httpx.TransportError as error:
        raise connection_lost(error) from error
    return response, parse_json(response)


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def from_base64(text: object) -> bytes:
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

    scheme = urllib.parse.urlsplit(require_address(address)).scheme
    if scheme != "https" and scheme != urllib.parse.urlsplit(base).scheme:
        raise Rejected(f"the picture's address is {keys.scrub_and_cut(address, 80)!r}, not an https one", charged=True)
    for attempt in range(4):
        try:
            response = http.get(address, headers={"accept-encoding": "identity"}, follow_redirects=True)
        except httpx.TransportError as error:
            problem: Exception = connection_lost(error)
        else:
            if response.status_code == 200:
                return response.content, response.headers.get("content-type", "")
            problem = Transient(f"HTTP {response.status_code} for the finished picture", charged=True)
            if response.status_code not in RETRIED:
                break
        pause(0.5 * 2**attempt)
    raise Rejected(f"the finished picture cannot be fetched: {problem}", charged=True)


def poll(
    http: Any,
    place: str,
    headers: dict[str, str],
    every: float,
    unfinished: Callable[[Any], bool] = lambda reply: False,
    errors: int | None = None,
) -> Any:
    """Ask for a task until it is finished; the response and its JSON object.

    The work is ordered and paid for, so a lost poll is only polled again; after so many `errors` of the server the next
    one is the answer.
    """
    import httpx

    failed = 0
    while True:
        pause(every)
        try:
            response = http.get(place, headers=headers)
            reply = parse_json(response)
        except (httpx.TransportError, Transient):
            continue
        failed += response.status_code in RETRIED
        if unfinished(reply) or (response.status_code in RETRIED and (errors is None or failed <= errors)):
            continue
        return response, reply


def require_address(address: str) -> str:
    """The address that the vendor gave; Rejected where it is none."""
    import httpx

    try:
        httpx.URL(address)
    except httpx.InvalidURL as error:
        said = keys.scrub_and_cut(address, 80)
        raise Rejected(f"the vendor gave {said!r}, which is no address ({error})", charged=True) from error
    return address


def trusted(place: object, base: str, *hosts: str) -> str:
    """An address that the vendor gave, if a key may go there: to the base's own, or to one of its hosts by https."""
    require_address(str(place))
    there, here = urllib.parse.urlsplit(str(place)), urllib.parse.urlsplit(base)
    host = there.hostname or ""
    theirs = there.scheme == "https" and any(host == each or host.endswith(f".{each}") for each in hosts)
    if theirs or (there.scheme, there.netloc) == (here.scheme, here.netloc):
        return str(place)
    raise Rejected(f"the polling address is on {host!r}, where the key is not sent", charged=True)


def base_url_option(variable: str) -> Any:
    """The field of an editor's option base_url, part of a chain's identity where it or the environment names one."""
    named: Callable[[], str] = lambda: os.environ.get(variable, "").strip()  # noqa: E731
    return dataclasses.field(default_factory=named, metadata={"identity": "where given"})


def base_address(option: str, variable: str, default: str) -> str:
    """The vendor's address: the option, else the environment's, else the vendor's own."""
    address = (option or os.environ.get(variable, "") or default).rstrip("/")
    if not address.startswith(("https://", "http://")):
        raise UserError(f"the base address is {address!r}; it starts with https:// (or http:// on this machine)")
    if "@" in urllib.parse.urlsplit(address).netloc:
        raise UserError("the base address names a user or a password, and is stored with the chains; give it without")
    return address


def refusal(reason: str, cost: float | None = None, **details: Any) -> Answer:
    """The vendor declines, in its own words."""
    return Answer(status="refused", reason=reason, cost=cost, details=details)
