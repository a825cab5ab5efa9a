"""The wire: nothing goes on for ever, nothing is too large, nothing echoes a key."""

import email.utils
import socket
import threading
import time

import httpx2
import pytest
from convergebench.generation import keys
from convergebench.generation.calls import Rejected, Transient, Unusable
from convergebench.generation.records import UserError
from convergebench.generation.vendors import wire
from vendors.loopback import Reply, serving, told


@pytest.mark.parametrize("drip", [b"HTTP/1.1 200 OK\r\nx-slow: ", b""])
def test_endless_headers_are_cut_at_the_deadline(drip):
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listening.accept()
        connection.sendall(drip)
        for _ in range(100):
            time.sleep(0.1)
            try:
                connection.sendall(b"x" if drip else b"")
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    started = time.monotonic()
    with wire.one_call(0.5), pytest.raises(Transient, match="no answer in time"):
        wire.send("GET", f"http://127.0.0.1:{listening.getsockname()[1]}", {})
    assert time.monotonic() - started < 3
    listening.close()


def test_each_call_keeps_its_limits(monkeypatch):
    with wire.one_call(0.2), pytest.raises(Transient, match="before the time limit"):
        wire.pause(1)
    with pytest.raises(Transient) as caught, wire.one_call(5):
        wire.send("POST", "http://127.0.0.1:9/", {}, json={})
    assert not caught.value.charged
    monkeypatch.setattr(wire, "MOST_BYTES", 1000)
    big = pytest.raises(Transient, match="more than 1000 bytes")
    with serving(lambda server, request: Reply(body=b"x" * 5000)) as server, wire.one_call(5), big:
        wire.send("GET", server.base, {})


def test_the_environments_proxy_is_used(monkeypatch):
    with serving(lambda server, request: told({"asked": request.path})) as server:
        monkeypatch.setenv("http_proxy", server.base)
        monkeypatch.setenv("no_proxy", "")
        wire.client.cache_clear()
        with wire.one_call(5):
            answer = wire.send("POST", "http://vendor.invalid/v1", {}, json={})
    assert answer.json() == {"asked": "http://vendor.invalid/v1"}
    wire.client.cache_clear()


def test_a_status_is_retried_recorded_or_stops_the_run():
    kinds = {Rejected: (400, 422), Unusable: (401, 402, 403, 404), Transient: (408, 429, 500, 502, 503, 504)}
    for kind, statuses in kinds.items():
        assert {type(wire.status_error(status, "words")) for status in statuses} == {kind}
    assert wire.retry_after_seconds("2.5") == 2.5
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert wire.retry_after_seconds(in_a_minute) == pytest.approx(60, abs=2)
    assert wire.retry_after_seconds("soon") is None
    assert wire.retry_after_seconds(None) is None


def test_a_paid_picture_is_asked_for_again(monkeypatch):
    waits, busy = [], [503, 502, 500, 429, 503, 504]
    monkeypatch.setattr(wire, "pause", waits.append)
    with serving(lambda server, request: Reply(busy.pop(0)) if busy else Reply(body=b"pixels")) as server:
        assert wire.download(f"{server.base}/x.png", server.base)[0] == b"pixels"
        assert sum(waits) > 30
        busy += [503] * 9
        with pytest.raises(Rejected, match="cannot be fetched: HTTP 503"):
            wire.download(f"{server.base}/x.png", server.base)
    for address in ("http://elsewhere.example/x.png", "file:///etc/passwd", "/x.png"):
        with pytest.raises(Rejected, match="not an https one"):
            wire.download(address, "https://vendor.example")


def test_keys_are_taken_out_of_anything_and_read_whole(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sentinel-1234567890")
    monkeypatch.setenv("OTHER_TOKEN", "short")
    told = {"a": ["x sentinel-1234567890 y"], "sentinel-1234567890": ("short", 3, None)}
    assert keys.scrub(told) == {"a": ["x [key] y"], "[key]": ["short", 3, None]}
    assert "sentinel" not in str(Rejected("bad key sentinel-1234567890"))
    monkeypatch.setenv("SOME_API_KEY", "sentinel-1234567890-abcdefghijkl")
    assert keys.scrub("x sentinel-1234567890-abcdefg") == "x [key]"
    assert keys.scrub("ends in -abcdefghijkl, twice -abcdefghijkl") == "ends in [key], twice [key]"
    assert keys.scrub("the sentine stood, 1234567") == "the sentine stood, 1234567", "a word is no part of a key"
    monkeypatch.setenv("SOME_API_KEY", " sentinel-1234567890\n")
    assert keys.read_key("SOME_API_KEY") == "sentinel-1234567890"
    monkeypatch.setenv("SOME_API_KEY", "two words")
    with pytest.raises(UserError, match="holds characters that no key has"):
        keys.read_key("SOME_API_KEY")


def test_an_error_is_scrubbed_before_it_is_cut(monkeypatch):
    key = "sentinel-" + "0123456789" * 3
    monkeypatch.setenv("SOME_API_KEY", key)
    for length in range(250, 310):
        error = wire.status_error(400, "x" * length + key)
        assert not any(key[start : start + 8] in str(error) for start in range(len(key) - 7))
    broken = httpx2.ReadError("y" * 110 + key)
    monkeypatch.setattr(wire.client(), "request", lambda *words, **more: (_ for _ in ()).throw(broken))
    with pytest.raises(Transient) as caught:
        wire.send("GET", "https://vendor.example", {})
    assert "sent" not in str(caught.value).partition("y")[2]
