"""Limits the memory that requests hold: each request, and all large ones together.

A large request waits for room before it is read. Its bytes count until it is answered and garbage-collected; then
the memory goes back to the system.
"""

import asyncio
import ctypes
import gc
import sys
import threading
import time
import weakref
from collections import deque

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 90_000_000  # of one request: a full series in base64
_MOST_BYTES_TOGETHER = (
    100_000_000  # of all large ones; while one is read and scored it takes about four times its size
)
_SMALL = 1_000_000  # requests up to this size do not wait
MOST_WAITING = 64
MOST_SECONDS_TO_SEND = 120.0  # once it has room; a slower request would keep others waiting
_LONGEST_HELD = 600.0  # seconds, even if something still refers to it
_COLLECT_EVERY = 2.0  # seconds
SHARE = "convergebench.share"  # key of a large request's share in its scope


class RequestLimit:
    """ASGI middleware that lets large requests in only while there is room for them, in order of arrival."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES, together: int = _MOST_BYTES_TOGETHER):
        self.app, self.most = app, most
        self.left = together  # bytes that are free for large requests; first come, first served
        self.waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        size = self._declared_size(scope)
        if size > self.most:
            reason = f"the request has more than {self.most:,} bytes, the most that is accepted"
            return await JSONResponse({"error": reason}, 413)(scope, receive, send)
        if size > _SMALL and len(self.waiting) >= MOST_WAITING:
            reason = "many large requests are waiting already; try again in some minutes"
            return await JSONResponse({"error": reason}, 503)(scope, receive, send)
        if size > _SMALL:
            # A copy: the server keeps the original scope until the connection closes.
            scope = {**scope, SHARE: await self._take(size)}
        return await self.app(scope, self._limit_received(receive), send)

    def _declared_size(self, scope: Scope) -> int:
        """The bytes that the headers declare, or the limit if they do not say."""
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"")
        if declared.isdigit():
            return int(declared[:20])
        return self.most if b"transfer-encoding" in headers or declared else 0

    async def _take(self, size: int) -> set[int]:
        """Wait for room, which stays taken until the returned share is garbage-collected."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self.waiting.append((size, turn))
        self._give_back(0)
        try:
            await asyncio.wait([turn])
        except asyncio.CancelledError:
            if turn.done():
                self._give_back(size)
            else:
                self.waiting.remove((size, turn))
            raise
        share = {size}  # a set, because an int cannot have a finalizer
        finalizer = weakref.finalize(share, loop.call_soon_threadsafe, self._give_back, size)
        finalizer.atexit = False
        loop.call_later(_LONGEST_HELD, finalizer)  # calling it once more does nothing
        return share

    def _give_back(self, size: int) -> None:
        """And let in who fits now."""
        self.left += size
        while self.waiting and self.waiting[0][0] <= self.left:
            taken, turn = self.waiting.popleft()
            self.left -= taken
            turn.set_result(None)

    def _limit_received(self, receive: Receive) -> Receive:
        received, has_more = 0, True
        until = asyncio.get_running_loop().time() + MOST_SECONDS_TO_SEND

        async def receive_limited() -> Message:
            nonlocal received, has_more
            seconds = until - asyncio.get_running_loop().time()
            try:
                message = await (asyncio.wait_for(receive(), max(seconds, 0.0)) if has_more else receive())
            except TimeoutError:
                return {"type": "http.disconnect"}
            received += len(message.get("body", b""))
            has_more = message.get("more_body", False)
            return {"type": "http.disconnect"} if received > self.most else message

        return receive_limited


def keep_memory_low() -> None:
    """Every few seconds from now on, collect garbage and give memory back to the system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None

    def repeat() -> None:
        while True:
            time.sleep(_COLLECT_EVERY)
            gc.collect()
            if trim:
                trim(0)

    threading.Thread(target=repeat, daemon=True).start()
