"""Calls that end: a deadline for everything one call does, and clients of httpx and httpx2 that keep it."""

import contextlib
import contextvars
import functools
import heapq
import importlib
import itertools
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ..calls import Transient

MOST_BYTES = 2**27  # of one response; a 4K picture as base64 has a third of that
CONNECT = 15.0  # seconds

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


class Clock(threading.Thread):
    """One thread that calls back at many times; a timer for every call would be a thread for every call."""

    def __init__(self) -> None:
        super().__init__(name="deadlines", daemon=True)
        self.due: list[tuple[float, int]] = []
        self.actions: dict[int, Callable[[], None]] = {}
        self.number = itertools.count()
        self.changed = threading.Condition()
        self.start()

    def call(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Do that then; what is returned calls it off."""
        with self.changed:
            number = next(self.number)
            heapq.heappush(self.due, (time.monotonic() + seconds, number))
            self.actions[number] = action
            if self.due[0][1] == number:
                self.changed.notify()

        def off() -> None:
            self.actions.pop(number, None)

        return off

    def run(self) -> None:
        while True:
            with self.changed:
                rest = self.due[0][0] - time.monotonic() if self.due else None
                if rest is None or rest > 0:
                    self.changed.wait(rest)
                    continue
                action = self.actions.pop(heapq.heappop(self.due)[1], None)
            if action is not None:
                action()


@functools.cache
def clock() -> Clock:
    return Clock()


class Watch:
    """Cuts a connection at the deadline, whatever it is waiting for: read timeouts alone let a slow drip go on."""

    def __init__(self, seconds: float):
        self.expired = False
        self.stream: Any = None
        self.cancel = clock().call(seconds, self.cut)

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
                watch.cancel()
                raise
            return http.Response(
                response.status_code,
                headers=response.headers,
                stream=Limited(response.stream, watch, request),
                extensions=response.extensions,
            )

        def route(self, request: Any) -> Any:
            if not self.proxied or bypasses(request.url.host):
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
            self.watch.cancel()
            self.stream.close()

    return Bounded


@functools.cache
def bypasses(host: str) -> bool:
    """Whether the environment wants this host to be reached without its proxy."""
    return bool(urllib.request.proxy_bypass(host))


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
