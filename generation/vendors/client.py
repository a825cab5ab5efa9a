"""The HTTP client of `wire`: every socket operation gets only the seconds that remain of the call."""

import contextlib
import ssl
import time
import urllib.request
import zlib
from typing import Any

import httpcore2
import httpx2

from . import wire

_CONNECT = 15.0  # seconds for a connection to open


def _seconds_left(expired: type[Exception] = httpcore2.ReadTimeout) -> float | None:
    deadline = wire.deadline.get()
    remaining = None if deadline is None else deadline - time.monotonic()
    if remaining is not None and remaining <= 0:
        raise expired("no time is left for this call: the answer did not end before its time limit")
    return remaining


class _LimitedStream:
    def __init__(self, stream: httpcore2.NetworkStream):
        self.stream, self.received = stream, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self.stream.read(max_bytes, timeout=_seconds_left())
        self.received += len(data)
        if self.received > wire.MOST_BYTES:
            raise httpcore2.ReadError(f"an answer of more than {wire.MOST_BYTES} bytes")
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
    """We ask for no compression; of what comes compressed nevertheless, at most wire.MOST_BYTES are unpacked."""
    encoding = b"".join(value for name, value in answer.headers if name.lower() == b"content-encoding")
    if encoding in (b"", b"identity"):
        return content
    try:
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or deflate
        content = unpacker.decompress(content, wire.MOST_BYTES)
    except zlib.error as error:
        raise httpcore2.ReadError(f"the answer has an encoding that was not requested ({error})") from error
    if unpacker.unconsumed_tail:
        raise httpcore2.ReadError(f"an answer of more than {wire.MOST_BYTES} bytes")
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


def make_client() -> httpx2.Client:
    return httpx2.Client(transport=_Transport(), headers={"accept-encoding": "identity"}, timeout=None)
