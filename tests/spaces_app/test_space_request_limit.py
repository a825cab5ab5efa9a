"""Large requests wait for each other, small ones do not, and their memory is given back."""

import asyncio
import gc

import pytest
from convergebench.spaces_app.space import request_limit
from convergebench.spaces_app.space.request_limit import RequestLimit


@pytest.fixture(autouse=True)
def small_heap():
    """What earlier tests left is not looked through for garbage: with torch that takes half a second each time."""
    gc.freeze()
    yield
    gc.unfreeze()


class App:
    """An application that reads a body, and keeps its scope for a while as Gradio's queue does."""

    def __init__(self, keep=0.0):
        self.keep, self.reading, self.most, self.kept = keep, 0, 0, []

    async def __call__(self, scope, receive, send):
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        size = len(body)
        self.reading += size
        self.most = max(self.most, self.reading)
        if self.keep:
            asyncio.get_running_loop().create_task(self.finish(scope, size))
        else:
            self.reading -= size
        await send({"type": "http.response.start", "status": 200 if message["type"] == "http.request" else 400})

    async def finish(self, scope, size):
        await asyncio.sleep(self.keep)
        self.reading -= size


async def post(limit, size, declared=True, pause=0.0):
    """The status of one request of so many bytes, sent in ten parts; `declared` may be another size, or chunked."""
    parts = [size // 10] * 10
    sent = []

    async def receive():
        if pause:
            await asyncio.sleep(pause)
        part = parts.pop()
        return {"type": "http.request", "body": bytes(part), "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    length = (b"content-length", str(size if declared is True else declared).encode())
    headers = [length] * bool(declared) + [(b"transfer-encoding", b"chunked")] * (declared is not True)
    await limit({"type": "http", "headers": headers}, receive, send)
    return sent[0]["status"]


async def collect():
    """As the server does every few seconds."""
    while True:
        await asyncio.sleep(0.02)
        gc.collect()


def together(app, requests, most=4_000_000, total=4_500_000):
    async def run():
        limit = RequestLimit(app, most, total)
        collecting = asyncio.create_task(collect())
        found = await asyncio.gather(*(post(limit, **each) for each in requests))
        for _ in range(50):
            if limit.left == total:
                break
            await asyncio.sleep(0.02)
        collecting.cancel()
        return found, limit.left

    return asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize("keep", [0.0, 0.05])
def test_large_requests_hold_no_more_than_allowed(keep):
    app = App(keep)
    statuses, left = together(app, [{"size": 2_000_000}] * 6)
    assert statuses == [200] * 6
    assert app.most <= 4_500_000
    assert left == 4_500_000


def test_small_requests_do_not_wait():
    app = App(0.2)
    statuses, _ = together(app, [{"size": 4_000_000}, {"size": 240_000}])
    assert statuses == [200] * 2
    assert app.most == 4_240_000


def test_a_request_of_unknown_size_counts_as_the_largest():
    app = App()
    assert together(app, [{"size": 3_000_000, "declared": False}] * 2)[0] == [200, 200]
    assert app.most == 3_000_000
    assert together(app, [{"size": 5_000_000, "declared": False}])[0] == [413]
    assert together(app, [{"size": 5_000_000}])[0] == [413]


def test_a_slow_sender_does_not_keep_others_waiting(monkeypatch):
    monkeypatch.setattr(request_limit, "MOST_SECONDS_TO_SEND", 0.1)
    statuses, left = together(App(), [{"size": 4_000_000, "pause": 0.03}, {"size": 4_000_000}])
    assert statuses == [408, 200]
    assert left == 4_500_000


def test_a_crowd_is_told_to_come_again(monkeypatch):
    monkeypatch.setattr(request_limit, "MOST_WAITING", 2)
    statuses, _ = together(App(0.05), [{"size": 4_000_000}] * 5)
    assert sorted(statuses) == [200, 200, 200, 503, 503]


def test_bytes_count_whatever_is_declared():
    app = App(0.05)
    statuses, left = together(app, [{"size": 2_000_000, "declared": 5, "pause": 0.002}] * 6)
    assert (statuses, left) == ([200] * 6, 4_500_000)
    assert app.most <= 4_500_000


def test_what_is_declared_and_not_sent_takes_no_room(monkeypatch):
    """Two that declare all the room, send a little and pause: a third is answered long before they are cut off."""
    monkeypatch.setattr(request_limit, "_PAUSE", 0.05)

    async def run():
        limit = RequestLimit(App(), 4_000_000, 4_500_000)
        slow = [asyncio.create_task(post(limit, size, pause=1.0)) for size in (4_000_000, 3_000_000)]
        await asyncio.sleep(1.2)
        status = await asyncio.wait_for(post(limit, 3_500_000), 1.5)
        for task in slow:
            task.cancel()
        return status

    assert asyncio.run(run()) == 200
