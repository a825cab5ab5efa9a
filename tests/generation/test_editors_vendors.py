"""What holds for every vendor: real clients against loopback servers, through the real loop, into the real store."""

import base64
import importlib
import json
import time

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Caller, Unusable
from convergebench.generation.vendors import models
from house_copy import HouseCopy
from vendors import chains, goldens
from vendors.loopback import Reply, picture, serving, told

VENDORS = ("gemini", "openai", "bfl", "seedream", "qwen", "xai", "fal", "replicate", "hf", "rest")
SENTINEL = "hf_sentinel-key-1234567890"


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


def test_a_picture_is_kept_exactly_as_received(ask, vendor, tmp_path):
    data = picture(chains.SIZE, "JPEG")
    step, server = ask(data)
    assert (step.status, step.width, step.height) == ("ok", *chains.SIZE)
    assert step.type == "jpg", "whatever is declared"
    assert next(tmp_path.glob("run-0/chains/*/0001.jpg")).read_bytes() == data
    assert orders(vendor, server) == 1


def test_a_vendors_status_is_retried_recorded_or_stops_the_run(ask, vendor):
    for status, words, tries in ((400, "words for 400", 1), (500, "tried 3 times", 3)):
        step, server = ask(vendor.error(status))
        assert (step.status, words in step.reason, step.cost) == ("failed", True, None)
        assert orders(vendor, server) == tries
    for status in (401, 402):
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
    step, _ = ask(Reply(body=b"<html>Please log in to the hotel's network</html>", type="text/html"))
    assert (step.status, "instead of JSON" in step.reason) == ("failed", True)


def test_an_echoed_key_reaches_no_step_and_no_error(ask, vendor, tmp_path):
    error = {"message": f"bad key {SENTINEL}", "code": SENTINEL}
    echo = json.dumps({"error": error, "detail": SENTINEL, "code": SENTINEL})
    step, _ = ask(Reply(400, echo.encode()))
    assert step.status == "failed"
    with pytest.raises(Unusable) as caught:
        ask(Reply(401, echo.encode()))
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert SENTINEL[3:].encode() not in written
    assert SENTINEL[3:] not in str(caught.value)


def test_a_call_has_a_price_and_needs_a_key(ask, vendor, monkeypatch):
    assert editors.choose(vendor.__name__.rpartition(".")[2]).editor.price() == vendor.PRICE
    monkeypatch.delenv(vendor.KEY)
    with pytest.raises(Unusable, match=vendor.KEY):
        ask(picture())


# The models of `rest` are asked in test_editors_hf_rest.py.
NAMES = [f"{model.vendor} {model.name}" for model in models.all_models() if model.vendor != "rest"]


@pytest.mark.parametrize("name", NAMES)
def test_a_models_request_is_its_golden(tmp_path, monkeypatch, name):
    vendor, _, model = name.partition(" ")
    module, golden = importlib.import_module(f"vendors.{vendor}"), goldens.goldens()[name]
    size, script = tuple(golden["size"]), chains.script(module, picture(golden["size"]))
    more = {"model": model, **golden["options"]}
    [step, *_], requests = chains.asked(tmp_path, monkeypatch, module, script, size, **more)
    [order] = filter(module.is_order, requests)
    goldens.check(name, order, step.seed)
    assert step.status == "ok"


NEWCOMER = '''
from dataclasses import dataclass
from typing import ClassVar

from .. import pictures
from ..vendors import hosted, wire


@dataclass(frozen=True)
class Editor(hosted.HostedEditor):
    """Edits at Newcomer."""

    model: str = "newcomer-1"
    base_url: str = wire.base_url_option("NEWCOMER_BASE_URL")
    vendor: ClassVar = "newcomer"
    home: ClassVar = "https://api.newcomer.example"
    key_names: ClassVar = ("NEWCOMER_KEY",)
    path: ClassVar = "/edit"
    meanings: ClassVar = (("refused", "code", ("forbidden",)),)

    def sizes(self):
        return ()

    def body(self, image, instruction, seed):
        return {"words": instruction, "seed": seed, "picture": wire.to_base64(pictures.encode_png(image))}

    def read(self, reply, instruction):
        return self.answer(wire.from_base64(reply["b64_json"]), reply, {})
'''


def test_a_vendor_is_one_file_found_priced_and_asked(tmp_path, monkeypatch):
    def newcomer(server, request):
        assert (request.path, request.headers["authorization"]) == ("/edit", "Bearer sentinel-key")
        assert isinstance(request.json()["seed"], int)
        if "remove" in request.json()["words"]:
            return told({"code": "forbidden", "message": "not this one"}, 400)
        shown = base64.b64encode(picture((128, 128))).decode()
        return told({"b64_json": shown}) if len(server.requests) > 1 else Reply(503)

    house = HouseCopy(tmp_path)
    house.write("generation/editors/newcomer.py", NEWCOMER)
    (house.work / "prices.toml").write_text("newcomer.newcomer-1 = 0.02\n")
    monkeypatch.setenv("NEWCOMER_KEY", "sentinel-key")
    monkeypatch.setenv("CONVERGEBENCH_PRICES", "prices.toml")
    with serving(newcomer) as server:
        words = f"--suite smoke --editor newcomer:base_url={server.base} --rounds 1"
        house.verbs(f"generate {words} --out paid --max-cost 1")
        listed = json.loads(house.python("-m", "convergebench", "list", "editors", "--json"))
        plan = json.loads(house.python("-m", "convergebench", "plan", *words.split(), "--json"))
    [newcomer] = [row for row in listed if row["name"] == "newcomer"]
    assert (newcomer["about"], newcomer["needs"][:12]) == ("Edits at Newcomer.", "NEWCOMER_KEY")
    [planned] = plan["editors"]
    assert planned["dollars"] == pytest.approx(planned["calls"] * 0.02)
    lines = [line for path in house.work.glob("paid/chains/*/steps.jsonl") for line in path.open()]
    steps = {step["status"]: step for step in map(json.loads, lines)}
    assert set(steps) == {"input", "ok", "refused"}
    assert (steps["refused"]["reason"], steps["refused"]["cost"]) == ("forbidden: not this one", 0.0)
    assert (steps["ok"]["details"]["model"], steps["ok"]["cost"]) == ("newcomer-1", 0.02)
