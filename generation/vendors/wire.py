"""HTTP calls to vendors: a time limit for the whole call, clients that keep it, and the reading of errors.

An ordinary read timeout starts anew with every byte, so a server that sends a byte a second could hold a call forever,
in the headers as well as in the body. Here every socket operation gets only the seconds that remain of the call.
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
import ssl
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..calls import Rejected, Transient, Unusable
from ..records import Answer, UserError
from . import keys

if TYPE_CHECKING:
    import httpcore
    import httpx
    import httpx2

    Response = httpx.Response | httpx2.Response

Json = dict[str, Any]

MOST_BYTES = 2**27  # that one connection may receive; a 4K picture as base64 has a third of that
_CONNECT = 15.0  # seconds for a connection to open
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # 529 is an overloaded site
_UNUSABLE = (401, 402, 403, 404)  # wrong key, no credit, not allowed, no such model: true of every further call
_STANDARD = str.maketrans("-_", "+/")  # from the base64 alphabet for addresses to the usual one

_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Every request, wait and poll in this block ends within this many seconds."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextlib.contextmanager
def documented_form() -> Iterator[None]:
    """Rejects the call if its answer does not have the documented form; it may have been billed.

    Inside this block the editors read answers without checking the type of each part.
    """
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        problem = keys.scrub_and_cut(f"{type(error).__name__}: {error}", 120)
        raise Rejected(f"an answer in another form than documented ({problem})", charged=True) from error


def seconds_left() -> float | None:
    """Seconds until the call's time limit; None if it has none."""
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.monotonic()


def pause(seconds: float) -> None:
    """Wait between two polls; raises Transient if the time limit would come first."""
    remaining = seconds_left()
    if remaining is not None and remaining < seconds:
        raise Transient("no picture before the time limit", charged=True)
    time.sleep(seconds)


class _LimitedStream:
    """A connection of httpcore that keeps the call's time limit and receives a limited number of bytes."""

    def __init__(self, stream: "httpcore.NetworkStream", core: ModuleType):
        self.stream, self.core, self.received = stream, core, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self.stream.read(max_bytes, timeout=_shortened(timeout, self.core.ReadTimeout))
        self.received += len(data)
        if self.received > MOST_BYTES:
            raise self.core.ReadError(f"an answer of more than {MOST_BYTES} bytes")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, timeout=_shortened(timeout, self.core.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_LimitedStream":
        timeout = _shortened(timeout, self.core.ConnectTimeout)
        return _LimitedStream(self.stream.start_tls(ssl_context, server_hostname, timeout=timeout), self.core)

    def close(self) -> None:
        self.stream.close()

    def get_extra_info(self, info: str) -> object:
        return self.stream.get_extra_info(info)


def _shortened(timeout: float | None, expired: Callable[[str], Exception]) -> float | None:
    """The timeout, or the call's remaining seconds if those are fewer; raises `expired` if none remain."""
    remaining = seconds_left()
    if remaining is None:
        return timeout
    if remaining <= 0:
        raise expired("no time is left for this call: the answer did not end before its time limit")
    return remaining if timeout is None else min(timeout, remaining)


@functools.cache
def _transport_class(package: str) -> "type[httpx.BaseTransport]":
    """A transport class for httpx or httpx2 that uses these connections and the environment's proxies.

    httpx's own transport has no option for the network backend, so this one uses httpcore's public pool.
    """
    http, core = importlib.import_module(package), importlib.import_module(package.replace("httpx", "httpcore"))
    trust = http.create_ssl_context()  # read once, not for every client

    class Backend(core.SyncBackend):  # type: ignore[name-defined]
        def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: object) -> _LimitedStream:
            timeout = min(_CONNECT, _shortened(timeout, core.ReadTimeout) or _CONNECT)
            return _LimitedStream(super().connect_tcp(host, port, timeout=timeout, **options), core)

    def pool(address: str = "") -> "httpcore.ConnectionPool":
        proxy = None
        if address:
            url = http.URL(address)
            auth = (url.username, url.password) if url.username or url.password else None
            proxy = core.Proxy(str(url.copy_with(username=None, password=None)), auth)
        # No keep-alive: the vendor may close an idle connection just as a paid call is sent on it.
        connections: httpcore.ConnectionPool = core.ConnectionPool(
            trust, proxy, max_connections=None, max_keepalive_connections=0, network_backend=Backend()
        )
        return connections

    class Transport(http.BaseTransport):  # type: ignore[name-defined]
        def __init__(self) -> None:
            proxies = urllib.request.getproxies()
            self.direct = pool()
            self.proxied: dict[str, httpcore.ConnectionPool] = {
                scheme: pool(proxies[scheme]) for scheme in ("http", "https") if scheme in proxies
            }

        def handle_request(self, request: "httpx.Request") -> "httpx.Response":
            target, headers, extensions = request.url, request.headers.raw, request.extensions
            url = core.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
            sent = core.Request(request.method, url, headers=headers, content=request.stream, extensions=extensions)
            connections = self.direct if bypasses_proxy(target.host) else self.proxied.get(target.scheme, self.direct)
            try:
                with contextlib.closing(connections.handle_request(sent)) as answer:
                    content = answer.read()
            except Exception as error:
                # httpx has an exception of the same name for each of httpcore's.
                kind = getattr(http, type(error).__name__, None)
                if kind is None:
                    raise
                raise kind(str(error)) from error
            response: httpx.Response = http.Response(
                answer.status, headers=answer.headers, content=content, extensions=answer.extensions
            )
            return response

        def close(self) -> None:
            for pooled in (self.direct, *self.proxied.values()):
                pooled.close()

    return Transport


@functools.cache
def bypasses_proxy(host: str) -> bool:
    """Whether the environment wants this host to be reached without its proxy."""
    return bool(urllib.request.proxy_bypass(host))


def client(package: str = "httpx") -> "httpx.Client":
    """A client of httpx, or of httpx2 for the SDKs that use it, which keeps the time limit of the call."""
    http = importlib.import_module(package)
    headers = {"accept-encoding": "identity"}
    limited: httpx.Client = http.Client(transport=_transport_class(package)(), headers=headers, timeout=None)
    return limited


def connection_lost(error: Exception) -> Transient:
    """The fault of a call that ended without an answer; once it was sent, it may have been done and billed."""
    name = type(error).__name__
    sent = not name.startswith(("Connect", "Pool", "Proxy", "Unsupported"))
    problem = "no answer in time" if "Timeout" in name else "the connection broke"
    return Transient(f"{problem} ({name}: {keys.scrub_and_cut(str(error), 120)})", charged=sent)


def status_error(status: int, message: str, retry_after: str | None = None) -> Exception:
    """The exception for an HTTP status, unless the vendor's own words say more."""
    text = f"HTTP {status}: {keys.scrub_and_cut(' '.join(message.split()), 300)}"
    if status in _RETRIED:
        return Transient(text, retry_after=retry_after_seconds(retry_after))
    return Unusable(text) if status in _UNUSABLE else Rejected(text)


def retry_after_seconds(retry_after: str | None) -> float | None:
    """The seconds of a Retry-After header, which holds seconds or a date; None if it holds neither."""
    if not retry_after:
        return None
    with contextlib.suppress(ValueError):
        return max(0.0, float(retry_after))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    return None


# What words in an error mean: (meaning, "code" or "message", the words). The first row that matches decides.
Meanings = Sequence[tuple[str, str, Sequence[str]]]


def declined(
    response: "Response",
    code: str,
    message: str,
    meanings: Meanings,
    *,
    charged: bool = False,
    passing: bool = False,
    **details: object,
) -> Answer:
    """Read a vendor's error: a refusal is returned as an answer, everything else is raised.

    The vendor's own words outrank the HTTP status. A refusal is free unless it came after the work (`charged`). An
    unknown error with a good status is retried if this vendor's are usually temporary (`passing`).
    """
    text = f"{code}: {message}".removeprefix(": ")
    status, retry_after = response.status_code, response.headers.get("retry-after")
    parts = {"code": code.lower(), "message": message.lower()}
    meaning = next(
        (meaning for meaning, part, words in meanings if any(word.lower() in parts[part] for word in words)), ""
    )
    if meaning == "refused":
        return Answer(status="refused", reason=text, cost=None if charged else 0.0, details=details)
    if meaning == "unusable":
        raise Unusable(f"HTTP {status}: {text}")
    if meaning == "transient":
        raise Transient(f"HTTP {status}: {text}", retry_after=retry_after_seconds(retry_after))
    if status >= 400:
        raise status_error(status, text, retry_after)
    if passing:
        raise Transient(f"an error instead of a picture: {text[:200]}")
    raise Rejected(f"an error instead of a picture: {text[:200]}", charged=charged)


def parse_json(response: "Response") -> Json:
    """A response's JSON object; an HTML page instead comes from a proxy or gateway before the vendor."""
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
    raise Transient(f"an answer of {kind} instead of JSON, starting with {start!r}", charged=True)


def post(http: "httpx.Client", address: str, headers: Mapping[str, str], body: Json) -> "tuple[httpx.Response, Json]":
    """Send JSON; the response and its JSON object, whatever its status."""
    import httpx

    try:
        response = http.post(address, headers=headers, json=body)
    except httpx.TransportError as error:
        raise connection_lost(error) from error
    return response, parse_json(response)


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def data_address(data: bytes) -> str:
    """A PNG as a data address."""
    return "data:image/png;base64," + to_base64(data)


def from_base64(text: object) -> bytes:
    """The bytes of a base64 field, in either alphabet, or of a data address."""
    letters = (str(text).partition("base64,")[2] or str(text)).translate(_STANDARD)
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except binascii.Error as error:
        raise Transient(f"a picture field that is not base64 ({error})", charged=True) from error


def download(http: "httpx.Client", address: str, base: str) -> tuple[bytes, str]:
    """Download a finished picture; its bytes and declared type. No key is sent.

    The picture is paid for, so a broken download is retried here instead of ordering a second picture.
    """
    import httpx

    scheme = urllib.parse.urlsplit(_require_address(address)).scheme
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
            if response.status_code not in _RETRIED:
                break
        pause(0.5 * 2**attempt)
    raise Rejected(f"the finished picture cannot be fetched: {problem}", charged=True)


def poll(
    http: "httpx.Client",
    address: str,
    headers: Mapping[str, str],
    every: float,
    unfinished: Callable[[Json], bool] = lambda reply: False,
    errors: int | None = None,
) -> "tuple[httpx.Response, Json]":
    """Poll a task until it is finished; the response and its JSON object.

    The work is ordered and paid for, so a lost poll is repeated. After `errors` server errors the next one is returned.
    """
    import httpx

    failed = 0
    while True:
        pause(every)
        try:
            response = http.get(address, headers=headers)
            reply = parse_json(response)
        except (httpx.TransportError, Transient):
            continue
        failed += response.status_code in _RETRIED
        if unfinished(reply) or (response.status_code in _RETRIED and (errors is None or failed <= errors)):
            continue
        return response, reply


def _require_address(address: str) -> str:
    """The address that the vendor gave; Rejected if it is not one."""
    import httpx

    try:
        httpx.URL(address)
    except httpx.InvalidURL as error:
        start = keys.scrub_and_cut(address, 80)
        raise Rejected(f"the vendor gave {start!r}, which is not an address ({error})", charged=True) from error
    return address


def trusted(address: object, base: str, *hosts: str) -> str:
    """The address, if a key may be sent there: to the same server as `base`, or by https to one of these hosts."""
    text = _require_address(str(address))
    target, home = urllib.parse.urlsplit(text), urllib.parse.urlsplit(base)
    host = target.hostname or ""
    is_theirs = target.scheme == "https" and any(host == name or host.endswith(f".{name}") for name in hosts)
    if is_theirs or (target.scheme, target.netloc) == (home.scheme, home.netloc):
        return text
    raise Rejected(
        f"the polling address is on {host!r}, which is not a vendor host, so no key is sent",
        charged=True,
    )


def base_url_option(variable: str) -> str:
    """The dataclass field for the option base_url; if it or the environment sets one, it is part of the identity."""
    option: str = dataclasses.field(
        default_factory=lambda: os.environ.get(variable, "").strip(), metadata={"identity": "where given"}
    )
    return option


def base_address(option: str, variable: str, default: str) -> str:
    """The vendor's address: the option, else the environment's, else the vendor's own."""
    address = (option or os.environ.get(variable, "") or default).rstrip("/")
    if not address.startswith(("https://", "http://")):
        raise UserError(f"the base address must start with https:// (or http:// on this machine), got {address!r}")
    if "@" in urllib.parse.urlsplit(address).netloc:
        raise UserError("the base address must not hold a user name or password, because it is stored with the chains")
    return address
