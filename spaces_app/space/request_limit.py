"""Limits the memory that requests hold: each request, and all large ones together.

Bytes count as they arrive, whatever the headers say. A request that has sent more than a little
waits until there is room for all of it; a slow sender keeps only the room of what it has sent. Bytes
count until the request is answered and garbage-collected; then the memory goes back to the system.
"""

import asyncio
import contextlib
import ctypes
import gc
import sys
import threading
import time
import weakref
from collections import deque

import pyarrow as pa
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 90_000_000  # of one request: a full series in base64
_MOST_BYTES_TOGETHER = 100_000_000  # of all large ones; one takes four times its size while it is scored
_SMALL = 250_000  # bytes that any request may send without waiting
MOST_WAITING = 64
MOST_SECONDS_TO_SEND = 120.0  # not counting the time that it waits for room
_PAUSE = 0.5  # seconds without a byte, or behind the rate that the limit needs, after which a sender is slow
_LONGEST_HELD = 600.0  # seconds; then room is freed even if something still refers to the request
_COLLECT_EVERY = 0.5  # seconds; with 2, a thousand pictures left 50 MB more in use
SHARE = "convergebench.share"  # key of a request's share in its scope
_Refusal = tuple[int, str]  # status and reason


class _Share:
    """The room that a request has; given back when it is garbage-collected."""

    def __init__(self) -> None:
        self.room = [0]  # in a list, which outlives the share


class RequestLimit:
    """ASGI middleware that lets large requests in only while there is room for them, in order of arrival."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES, together: int = _MOST_BYTES_TOGETHER):
        self.app, self.most = app, most
        self.left = together  # bytes that are free for large requests; first come, first served
        self.waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = self._expected_size(scope) if scope["type"] == "http" else 0
        if not size:
            await self.app(scope, receive, send)
            return
        refusals: list[_Refusal] = []
        if size > self.most:
            refusals.append(self._too_large())
        else:
            share = self._new_share()
            limited = self._limit_received(receive, size, share.room, refusals)

            async def send_unless_refused(message: Message) -> None:
                if not refusals:
                    await send(message)

            try:
                # A copy: the server keeps the original scope until the connection closes.
                await self.app({**scope, SHARE: share}, limited, send_unless_refused)
            except Exception:
                if not refusals:  # otherwise it only noticed that its visitor was gone
                    raise
            del share
        for status, reason in refusals:
            await JSONResponse({"error": reason}, status)(scope, receive, send)

    def _too_large(self) -> _Refusal:
        return 413, f"the request has more than {self.most:,} bytes, the most that is accepted"

    def _expected_size(self, scope: Scope) -> int:
        """The bytes that are to come: those declared, or the limit where the headers say something else."""
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and b"transfer-encoding" not in headers:
            return int(declared[:20])
        return self.most if b"transfer-encoding" in headers or declared else 0

    def _new_share(self) -> _Share:
        loop, share = asyncio.get_running_loop(), _Share()

        def give_back(room: list[int]) -> None:
            room[0], size = 0, room[0]
            self._give_back(size)

        finalizer = weakref.finalize(share, loop.call_soon_threadsafe, give_back, share.room)
        finalizer.atexit = False
        loop.call_later(_LONGEST_HELD, finalizer)  # calling it once more does nothing
        return share

    async def _take(self, size: int, room: list[int]) -> None:
        """Wait for more room."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
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
        room[0] += size

    def _give_back(self, size: int) -> None:
        """Free `size` bytes and admit the waiting requests that now fit."""
        self.left += size
        while self.waiting and self.waiting[0][0] <= self.left:
            taken, turn = self.waiting.popleft()
            self.left -= taken
            turn.set_result(None)

    def _limit_received(self, receive: Receive, size: int, room: list[int], refusals: list[_Refusal]) -> Receive:
        received, has_more, is_slow, gone = 0, True, False, {"type": "http.disconnect"}
        clock = asyncio.get_running_loop().time
        began, until = clock(), clock() + MOST_SECONDS_TO_SEND

        def slow_down() -> None:
            """Mark the sender as slow, and free the room for what it has not sent."""
            nonlocal is_slow
            is_slow, unused = True, max(room[0] - received, 0)
            room[0] -= unused
            self._give_back(unused)

        async def receive_in_time() -> Message:
            if room[0] > received and until - clock() > _PAUSE:
                with contextlib.suppress(TimeoutError):
                    return await asyncio.wait_for(receive(), _PAUSE)
                slow_down()
            return await asyncio.wait_for(receive(), max(until - clock(), 0.0))

        async def receive_limited() -> Message:
            nonlocal received, has_more, began, until
            if not has_more:
                return await receive()
            try:
                message = await receive_in_time()
            except TimeoutError:
                refusals.append((408, "the request was sent too slowly"))
                return gone
            received += len(message.get("body", b""))
            has_more = message.get("more_body", False)
            if room[0] > received and received < size * (clock() - began - _PAUSE) / MOST_SECONDS_TO_SEND:
                slow_down()
            if received > self.most:
                refusals.append(self._too_large())
            elif received > max(room[0], _SMALL):
                if len(self.waiting) >= MOST_WAITING:
                    refusals.append((503, "many large requests are waiting already; try again in some minutes"))
                    return gone
                whole = size if received <= size else self.most
                asked = clock()
                await self._take((received if is_slow else whole) - room[0], room)
                if not is_slow:
                    began, until = clock(), until + clock() - asked
            return gone if refusals else message

        return receive_limited


def keep_memory_low() -> None:
    """From now on, collect garbage every _COLLECT_EVERY seconds and give memory back to the system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None

    def repeat() -> None:
        while True:
            time.sleep(_COLLECT_EVERY)
            gc.collect()
            pa.default_memory_pool().release_unused()
            if trim:
                trim(0)

    threading.Thread(target=repeat, daemon=True).start()
