"""What holds for every vendor: real clients against loopback servers, through the real loop, into the real store."""

import importlib
import io
import json
import time

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Caller, Unusable
from PIL import Image
from vendors import chains
from vendors.loopback import Reply, bomb, picture, serving

VENDORS = ("gemini", "openai", "bfl", "seedream", "qwen", "xai", "fal", "replicate", "hf", "rest")
SENTINEL = "hf_sentinel-key-1234567890"
PAGE = Reply(body=b"<html><body>Please log in to the hotel's network</body></html>", type="text/html")


@pytest.fixture(params=VENDORS)
def vendor(request, monkeypatch):
    module = importlib.import_module(f"vendors.{request.param}")
    for each in VENDORS:
        monkeypatch.delenv(importlib.import_module(f"vendors.{each}").KEY, raising=False)
    monkeypatch.setenv(module.KEY, SENTINEL if module.KEY == "HF_TOKEN" else SENTINEL[3:])
    return module


@pytest.fixture
def ask(vendor, tmp_path, monkeypatch):
    """Play a script to the vendor's editor and hand back the recorded step and the server."""

    asked = iter(range(100))

    def ask(*plays, **options):
        with serving(chains.script(vendor, *plays)) as server:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base)
            return chains.one_step(tmp_path / f"run-{next(asked)}", vendor, server.base, **options), server

    return ask


def orders(vendor, server):
    return sum(map(vendor.is_order, server.requests))


@pytest.mark.parametrize(("kind", "name"), [("PNG", "png"), ("JPEG", "jpg")])
def test_a_picture_is_kept_exactly_as_received(ask, vendor, tmp_path, kind, name):
    data = picture(chains.SIZE, kind)
    step, server = ask(data)
    assert (step.status, step.type, step.width, step.height) == ("ok", name, *chains.SIZE), "whatever is declared"
    assert next(tmp_path.glob(f"run-0/chains/*/0001.{name}")).read_bytes() == data
    assert orders(vendor, server) == 1


def truncated():
    buffer = io.BytesIO()
    Image.effect_noise((300, 200), 90).convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()[:20000]


@pytest.mark.parametrize(("make", "words"), [(truncated, "cannot be decoded"), (bomb, "10000x10000")])
def test_a_broken_picture_is_no_picture(ask, make, words):
    step, _ = ask(make())
    assert (step.status, words in step.reason) == ("no_image", True)


@pytest.mark.parametrize(("status", "words", "tries"), [(400, "words for 400", 1), (500, "tried 3 times", 3)])
def test_a_server_error_is_tried_again_and_a_bad_request_is_not(ask, vendor, status, words, tries):
    step, server = ask(vendor.error(status))
    assert (step.status, words in step.reason, step.cost) == ("failed", True, None)
    assert orders(vendor, server) == tries


@pytest.mark.parametrize("status", [401, 402])
def test_a_wrong_key_and_an_empty_account_stop_the_run(ask, vendor, status):
    with pytest.raises(Unusable, match=f"words for {status}"):
        ask(vendor.error(status))


def test_a_rate_limit_is_tried_again_after_its_retry_after(ask, vendor):
    caller = Caller(first_wait=0.01, longest_wait=5)
    started = time.monotonic()
    step, server = ask(vendor.error(429, retry_after="0.4"), picture(chains.SIZE), caller=caller)
    assert step.status == "ok"
    assert time.monotonic() - started >= 0.4
    assert orders(vendor, server) == 2


def test_a_cut_connection_is_tried_again_and_counted_as_paid(ask, vendor):
    cut = Reply(body=b"x" * 1000, cut=True)
    step, server = ask(cut, picture(chains.SIZE))
    assert step.status == "ok"
    assert orders(vendor, server) == 2
    if vendor.PRICE and vendor.__name__ != "vendors.openai":
        assert step.cost == pytest.approx(2 * vendor.PRICE)


def test_a_slow_drip_ends_at_the_time_limit(ask, vendor):
    caller = Caller(attempts=1)
    started = time.monotonic()
    step, _ = ask(Reply(body=b" " * 1000, drip=0.1), timeout=0.5, caller=caller)
    assert (step.status, "in time" in step.reason) == ("failed", True)
    assert time.monotonic() - started < 3


def test_a_page_in_place_of_json_is_a_failure_that_says_so(ask):
    step, _ = ask(PAGE)
    assert (step.status, "instead of JSON" in step.reason) == ("failed", True)


def test_an_echoed_key_reaches_no_step_and_no_error(ask, vendor, tmp_path):
    echo = json.dumps(
        {"error": {"message": f"bad key {SENTINEL}", "code": SENTINEL}, "detail": SENTINEL, "code": SENTINEL}
    )
    step, _ = ask(Reply(400, echo.encode()))
    assert step.status == "failed"
    with pytest.raises(Unusable) as caught:
        ask(Reply(401, echo.encode()))
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert SENTINEL[3:].encode() not in written
    assert SENTINEL[3:] not in str(caught.value)


def test_without_a_key_nothing_is_sent(ask, vendor, monkeypatch):
    monkeypatch.delenv(vendor.KEY)
    with pytest.raises(Unusable, match=vendor.KEY):
        ask(picture())


def test_the_price_of_a_call_is_known_before_it_is_made(vendor):
    assert editors.choose(vendor.__name__.rpartition(".")[2]).editor.price() == vendor.PRICE
