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
import ssl
import time
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpcore2
import httpx2

from .. import keys
from ..calls import Rejected, Transient, Unusable
from ..records import Json, UserError, json_object

MOST_BYTES = 2**27  # that one connection may receive; a 4K picture as base64 has a third of that
_MOST_HOPS = 8  # redirects of a picture's address
_CONNECT = 15.0  # seconds for a connection to open
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # 529 is an overloaded site
_UNUSABLE = (401, 402, 403, 404)  # wrong key, no credit, not allowed, no such model: true of every further call
_STANDARD = str.maketrans("-_", "+/")  # from the base64 alphabet for addresses to the usual one

_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


@contextlib.contextmanager
def one_call(seconds: float) -> Iterator[None]:
    """Every request, wait and poll in this block ends within this many seconds.

    The block reads answers without checking the type of each part: one that does
    not have the documented form rejects the call, which may have been billed.
    """
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError) as error:
        problem = keys.scrub_and_cut(f"{type(error).__name__}: {error}", 120)
        raise Rejected(f"an answer in another form than documented ({problem})", charged=True) from error
    finally:
        _deadline.reset(token)


@contextlib.contextmanager
def before_the_order() -> Iterator[None]:
    """A connection that breaks in this block cost nothing."""
    try:
        yield
    except Transient as error:
        error.charged = False
        raise


def _seconds_left(expired: type[Exception] = httpcore2.ReadTimeout) -> float | None:
    deadline = _deadline.get()
    remaining = None if deadline is None else deadline - time.monotonic()
    if remaining is not None and remaining <= 0:
        raise expired("no time is left for this call: the answer did not end before its time limit")
    return remaining


def pause(seconds: float) -> None:
    deadline = _deadline.get()
    if deadline is not None and deadline - time.monotonic() < seconds:
        raise Transient("no picture before the time limit", charged=True)
    time.sleep(seconds)


class _LimitedStream:
    def __init__(self, stream: httpcore2.NetworkStream):
        self.stream, self.received = stream, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self.stream.read(max_bytes, timeout=_seconds_left())
        self.received += len(data)
        if self.received > MOST_BYTES:
            raise httpcore2.ReadError(f"an answer of more than {MOST_BYTES} bytes")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, timeout=_seconds_left(httpcore2.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_LimitedStream":
        timeout = _seconds_left(httpcore2.ConnectTimeout)
        return _LimitedStream(self.stream.start_tls(ssl_context, server_hostname, timeout))


class _Backend(httpcore2.SyncBackend):
    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *options: Any, **named: Any) -> Any:
        timeout = min(_CONNECT, _seconds_left() or _CONNECT)
        return _LimitedStream(super().connect_tcp(host, port, timeout, *options, **named))


class _Transport(httpx2.BaseTransport):
    """httpx's own has no option for the network backend."""

    def __init__(self) -> None:
        trust, proxies = httpx2.create_ssl_context(), urllib.request.getproxies()
        self.direct = _pool(trust)
        schemes = {"http", "https"} & proxies.keys()
        self.proxied = {scheme: _pool(trust, proxies[scheme]) for scheme in schemes}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        target = request.url
        place = {"scheme": target.raw_scheme, "host": target.raw_host}
        url = httpcore2.URL(**place, port=target.port, target=target.raw_path)
        sent = httpcore2.Request(request.method, url, headers=request.headers.raw, content=request.stream)
        is_direct = urllib.request.proxy_bypass(target.host)
        pool = self.direct if is_direct else self.proxied.get(target.scheme, self.direct)
        try:
            with contextlib.closing(pool.handle_request(sent)) as answer:
                content = _unpacked(answer, answer.read())
        except Exception as error:
            # httpx has an exception of the same name for each of httpcore's.
            kind = getattr(httpx2, type(error).__name__, None)
            if kind is None:
                raise
            raise kind(str(error)) from error
        headers = [(name, value) for name, value in answer.headers if name.lower() != b"content-encoding"]
        return httpx2.Response(answer.status, headers=headers, content=content)


def _unpacked(answer: httpcore2.Response, content: bytes) -> bytes:
    """We ask for no compression; of what comes compressed nevertheless, at most MOST_BYTES are unpacked."""
    encoding = b"".join(value for name, value in answer.headers if name.lower() == b"content-encoding")
    if encoding in (b"", b"identity"):
        return content
    try:
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or deflate
        content = unpacker.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise httpcore2.ReadError(f"the answer has an encoding that was not requested ({error})") from error
    if unpacker.unconsumed_tail:
        raise httpcore2.ReadError(f"an answer of more than {MOST_BYTES} bytes")
    return content


def _pool(trust: ssl.SSLContext, proxy: str = "") -> httpcore2.ConnectionPool:
    forward = None
    if proxy:
        url = httpx2.URL(proxy)
        login = (url.username, url.password) if url.username or url.password else None
        forward = httpcore2.Proxy(str(url.copy_with(username=None, password=None)), login)
    # No keep-alive: the vendor may close an idle connection just as a paid call is sent on it.
    return httpcore2.ConnectionPool(
        trust, forward, max_connections=None, max_keepalive_connections=0, network_backend=_Backend()
    )


@functools.cache
def client() -> httpx2.Client:
    return httpx2.Client(transport=_Transport(), headers={"accept-encoding": "identity"}, timeout=None)


def send(method: str, address: str, headers: Mapping[str, str], **content: Any) -> httpx2.Response:
    """Raises Transient if it ends without an answer, charged once it was sent."""
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


def parse_json(response: httpx2.Response) -> Json:
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


def _follow(address: str, base: str) -> httpx2.Response:
    """Every hop must be to the vendor's own server, or by HTTPS to a public host: a machine inside could answer."""
    home = httpx2.URL(base)
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
) -> tuple[httpx2.Response, Json]:
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


def _parsed(address: str) -> httpx2.URL:
    try:
        return httpx2.URL(address)
    except httpx2.InvalidURL as error:
        start = keys.scrub_and_cut(address, 80)
        raise Rejected(f"the vendor gave {start!r}, which is not an address ({error})", charged=True) from error


def trusted(address: object, base: str, *hosts: str) -> str:
    """The address, if a key may be sent there: a server's own, or a vendor's by https."""
    target, home = _parsed(str(address)), httpx2.URL(base)
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
    address = (option.strip() or default).rstrip("/")
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
