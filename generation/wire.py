"""What every vendor's client shares: time limits, size limits, and one reading of what went wrong."""

import base64
import binascii
import contextlib
import contextvars
import email.utils
import functools
import importlib
import json
import os
import socket
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .calls import Rejected, Transient, Unusable
from .records import Answer, UserError

MOST_BYTES = 2**27  # of one response; a 4K picture as base64 has a third of that
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)
CONNECT = 15.0  # seconds
STANDARD = str.maketrans("-_", "+/")

_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Everything that the block sends, waits for or polls ends before so many seconds have passed."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float | None:
    """Seconds to the deadline of the call, None where there is none."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def pause(seconds: float) -> None:
    """Wait between two polls, or say that the time is over."""
    rest = left()
    if rest is not None and rest < seconds:
        raise Transient("no picture before the time limit", charged=True)
    time.sleep(seconds)


class Watch:
    """Cuts a connection at the deadline, whatever it is waiting for: read timeouts alone let a slow drip go on."""

    def __init__(self, seconds: float):
        self.expired = False
        self.stream: Any = None
        self.timer = threading.Timer(seconds, self.cut)
        self.timer.daemon = True
        self.timer.start()

    def trace(self, event: str, about: dict[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self.stream = about["return_value"]

    def cut(self) -> None:
        self.expired = True
        connection = self.stream.get_extra_info("socket") if self.stream else None
        if connection is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


@functools.cache
def transport(package: str) -> Any:
    """A transport class of httpx or httpx2 that keeps the deadline of the call and the limit on bytes."""
    http = importlib.import_module(package)
    fresh = http.Limits(max_keepalive_connections=0)  # a kept connection could not be watched
    trust = http.create_ssl_context()  # read once, not for every client

    class Bounded(http.BaseTransport):  # type: ignore[name-defined]
        def __init__(self) -> None:
            proxies = urllib.request.getproxies()
            self.direct = http.HTTPTransport(limits=fresh, verify=trust)
            self.proxied = {
                scheme: http.HTTPTransport(limits=fresh, verify=trust, proxy=proxies[scheme])
                for scheme in ("http", "https")
                if scheme in proxies
            }

        def handle_request(self, request: Any) -> Any:
            rest = left()
            if rest is None:
                return self.route(request).handle_request(request)
            if rest <= 0:
                raise http.ReadTimeout("no time is left for this call", request=request)
            watch = Watch(rest)
            connect = min(CONNECT, rest)
            request.extensions |= {
                "trace": watch.trace,
                "timeout": {"connect": connect, "read": rest, "write": rest, "pool": connect},
            }
            try:
                with timely(http, watch, request):
                    response = self.route(request).handle_request(request)
            except http.TransportError:
                watch.timer.cancel()
                raise
            return http.Response(
                response.status_code,
                headers=response.headers,
                stream=Limited(response.stream, watch, request),
                extensions=response.extensions,
            )

        def route(self, request: Any) -> Any:
            if urllib.request.proxy_bypass(request.url.host):
                return self.direct
            return self.proxied.get(request.url.scheme, self.direct)

        def close(self) -> None:
            for each in (self.direct, *self.proxied.values()):
                each.close()

    class Limited(http.SyncByteStream):  # type: ignore[name-defined]
        def __init__(self, stream: Any, watch: Watch, request: Any):
            self.stream, self.watch, self.request = stream, watch, request

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            with timely(http, self.watch, self.request):
                for chunk in self.stream:
                    size += len(chunk)
                    if size > MOST_BYTES:
                        raise http.ReadError(f"an answer of more than {MOST_BYTES} bytes", request=self.request)
                    yield chunk

        def close(self) -> None:
            self.watch.timer.cancel()
            self.stream.close()

    return Bounded


@contextlib.contextmanager
def timely(http: ModuleType, watch: Watch, request: Any) -> Iterator[None]:
    """A connection that we cut ran out of time, whatever error that looks like from inside."""
    try:
        yield
    except http.TransportError as error:
        if watch.expired:
            raise http.ReadTimeout("no whole answer before the time limit", request=request) from error
        raise


def client(package: str = "httpx", **options: Any) -> Any:
    """A client of httpx, or of httpx2 for the SDKs that use that, whose every call has an end."""
    http = importlib.import_module(package)
    headers = {"accept-encoding": "identity"}
    return http.Client(transport=transport(package)(), headers=headers, timeout=None, **options)


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
