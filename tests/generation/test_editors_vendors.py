"""Real clients against loopback servers, through the real loop, into the real store: what holds for every vendor.

And what the Hub's router does with its providers, and the vendors that are descriptions.
"""

import base64
import importlib
import json
import time

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Caller, Unusable
from convergebench.generation.vendors import models
from house_copy import HouseCopy
from vendors import chains, fal, goldens, hf, openai, rest
from vendors.loopback import Reply, is_png, picture, serving, told

VENDORS = ("gemini", "openai", "bfl", "seedream", "qwen", "xai", "fal", "replicate", "hf", "rest")


@pytest.fixture(params=VENDORS)
def vendor(request, monkeypatch):
    for each in VENDORS:
        monkeypatch.delenv(importlib.import_module(f"vendors.{each}").KEY, raising=False)
    return importlib.import_module(f"vendors.{request.param}")


@pytest.fixture
def ask(vendor, tmp_path, monkeypatch):
    """Play a script to the vendor's editor and hand back the recorded step and the number of orders."""
    asked = iter(range(100))

    def ask(*plays, **options):
        folder, script = tmp_path / f"run-{next(asked)}", chains.script(vendor, *plays)
        steps, requests = chains.asked(folder, monkeypatch, vendor, script, **options)
        return steps[-1], sum(map(vendor.is_order, requests))

    return ask


def test_a_picture_is_kept_exactly_as_received(ask, vendor, tmp_path):
    data = picture(chains.SIZE, "JPEG")
    step, orders = ask(data)
    assert (step.status, step.width, step.height) == ("ok", *chains.SIZE)
    assert step.type == "jpg", "whatever is declared"
    assert next(tmp_path.glob("run-0/chains/*/0001.jpg")).read_bytes() == data
    assert orders == 1


def test_a_vendors_fault_is_retried_recorded_or_stops_the_run(ask, vendor):
    page = Reply(body=b"<html>Please log in to the hotel's network</html>", type="text/html")
    step, _ = ask(page)
    assert (step.status, "instead of JSON" in step.reason) == ("failed", True)
    for status, words, tries in ((400, "words for 400", 1), (500, "tried 3 times", 3)):
        step, orders = ask(vendor.error(status))
        assert (step.status, words in step.reason, step.cost) == ("failed", True, None)
        assert orders == tries
    for status in (401, 402):
        with pytest.raises(Unusable, match=f"words for {status}"):
            ask(vendor.error(status))


def test_a_rate_limit_is_tried_again_after_its_retry_after(ask, vendor):
    caller = Caller(first_wait=0.01, longest_wait=5)
    started = time.monotonic()
    step, orders = ask(vendor.error(429, retry_after="0.4"), picture(chains.SIZE), caller=caller)
    assert step.status == "ok"
    assert time.monotonic() - started >= 0.4
    assert orders == 2


def test_a_cut_connection_is_tried_again_and_counted_as_paid(ask, vendor):
    cut = Reply(body=b"x" * 1000, cut=True)
    step, orders = ask(cut, picture(chains.SIZE))
    assert step.status == "ok"
    assert orders == 2
    if vendor.PRICE and vendor.__name__ != "vendors.openai":
        assert step.cost == pytest.approx(2 * vendor.PRICE)


def test_a_slow_drip_ends_at_the_time_limit(ask, vendor):
    caller = Caller(attempts=1)
    started = time.monotonic()
    step, _ = ask(Reply(body=b" " * 1000, drip=0.1), timeout=0.5, caller=caller)
    assert (step.status, "in time" in step.reason) == ("failed", True)
    assert time.monotonic() - started < 3


def test_an_echoed_key_reaches_no_step_and_no_error(ask, vendor, tmp_path):
    sent = f"hf_{chains.KEY}"
    error = {"message": f"bad key {sent}", "code": sent}
    echo = json.dumps({"error": error, "detail": sent, "code": sent})
    step, _ = ask(Reply(400, echo.encode()))
    assert step.status == "failed"
    with pytest.raises(Unusable) as caught:
        ask(Reply(401, echo.encode()))
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert chains.KEY.encode() not in written
    assert chains.KEY not in str(caught.value)


def test_a_call_has_a_price_and_needs_a_key(ask, vendor, monkeypatch):
    assert editors.choose(vendor.__name__.rpartition(".")[2]).editor.price() == vendor.PRICE
    needed = pytest.raises(Unusable, match=vendor.KEY)
    monkeypatch.setattr(vendor, "KEY", "ANOTHER_KEY")
    with needed:
        ask(picture())


DATA = picture((96, 64))
NAME = "lab/kontext"


@pytest.fixture
def ask_hub(tmp_path, monkeypatch):
    """One step: through the queue of fal, whose server `has` these attributes, or with a reply by Replicate."""

    def ask_hub(has=(), reply=None, **options):
        script, order = chains.script(hf, DATA), hf.is_order

        def vendor(server, request):
            vars(server).update({"kept": DATA, **dict(has)})
            if request.path.startswith("/api/models/") and reply:
                row = {"providerId": NAME, "status": "live", "task": "image-to-image"}
                return told({"id": hf.MODEL, "inferenceProviderMapping": {"replicate": row}})
            return reply(server) if reply and order(request) else script(server, request)

        options |= {"provider": "replicate"} if reply else {}
        steps, requests = chains.asked(tmp_path / "run", monkeypatch, hf, vendor, **options)
        return steps[-1], list(filter(order, requests))

    return ask_hub


def test_fal_is_sent_an_order_behind_the_router(ask_hub):
    step, [order] = ask_hub()
    assert (step.status, step.details["provider"], step.details["hosted_as"]) == ("ok", "fal-ai", hf.HOSTED)
    body = order.json()
    assert order.path == f"/fal-ai/{hf.HOSTED}?_subdomain=queue"
    assert body.pop("image_url") == body.pop("image_urls")[0]
    assert isinstance(body.pop("seed"), int)
    assert body == {"prompt": "Paint the door green."}
    _, [order] = ask_hub({"hosting": {"adapterWeightsPath": "door.safetensors"}})
    [lora] = order.json()["loras"]
    assert (lora["path"].endswith(f"/{hf.MODEL}/resolve/main/door.safetensors"), lora["scale"]) == (True, 1)


def predicted(status="succeeded", **more):
    return lambda server: told({"id": "r2", "status": status, "output": [f"{server.base}/delivery/0"], **more})


def test_replicate_is_asked_behind_the_router(ask_hub, tmp_path):
    step, [order] = ask_hub(reply=predicted(), steps=12)
    assert (step.status, step.details["provider"], step.details["hosted_as"]) == ("ok", "replicate", NAME)
    assert next(tmp_path.glob("run/chains/*/0001.png")).read_bytes() == DATA
    assert (order.path, order.headers["prefer"]) == (f"/replicate/v1/models/{NAME}/predictions", "wait")
    given = order.json()["input"]
    head, _, data = given["input_image"].partition(",")
    assert (head, is_png(base64.b64decode(data))) == ("data:image/png;base64", True)
    assert (given["prompt"], given["num_inference_steps"]) == ("Paint the door green.", 12)
    assert "guidance_scale" not in given  # what was not asked for is not sent


@pytest.mark.parametrize(
    ("has", "reply", "status", "words"),
    [
        ({}, predicted("processing", output=None), "failed", "the prediction processing"),
        ({}, predicted("failed", error="The input was flagged as sensitive."), "refused", "flagged as sensitive"),
        ({"ends": "IN_PROGRESS"}, None, "failed", "before the time limit"),
        ({"ends": "FAILED"}, None, "failed", "FAILED"),
        ({"result": {"images": []}}, None, "no_image", ""),
        ({"result": {"detail": "flagged"}}, None, "no_image", ""),
        ({"result": {"images": [{"url": None}]}}, None, "no_image", ""),
        ({"result": fal.detail("image_moderated")}, None, "refused", "image_moderated: as it says"),
    ],
)
def test_a_fault_behind_the_router_is_a_typed_step(ask_hub, has, reply, status, words):
    step, _ = ask_hub(has, reply, timeout=0.6 if "IN_PROGRESS" in has.values() else 5)
    assert (step.status, words in (step.reason or "")) == (status, True)


def test_a_model_that_is_not_hosted_stops_the_run(ask_hub):
    with pytest.raises(Unusable, match="not supported by replicate; providers that edit with it: fal-ai"):
        ask_hub(provider="replicate")


class Described:
    """Answers as the vendors that are descriptions do; `ends` takes the place of a finished order."""

    def __init__(self, data, ends=None):
        self.polls, self.ends, self.data = 0, ends, data

    def __call__(self, server, request):
        shown = base64.b64encode(self.data).decode()
        if request.path.startswith("/delivery/"):
            return openai.delivery(server, request)
        if request.path.startswith("/mai/") or "images/edits" in request.path:
            return told(self.ends or {"created": 1, "data": [{"b64_json": shown}]})
        if request.path == "/v1/image/edit":
            return told(self.ends or {"image": shown, "request_id": "rsid-1", "credits_used": 30, "version": "v"})
        server.kept = self.data
        if request.method == "POST":
            return told({"id": "order/1", "state": "queued", "status": "PENDING"})
        self.polls += 1
        assert request.path in ("/v1/generations/order%2F1", "/v1/tasks/order%2F1")
        if self.polls % 2:
            return told({"id": "order/1", "state": "processing", "status": "RUNNING"})
        place = f"{server.base}/delivery/0"
        is_luma = "generations" in request.path
        output = [{"type": "image", "url": place}] if is_luma else [place]
        done = {"state": "completed"} if is_luma else {"status": "SUCCEEDED", "cost": {"credits": 5}}
        return told({"id": "order/1", **(self.ends or done | {"output": output})})


@pytest.fixture
def described(tmp_path, monkeypatch):
    """One step of a model that is a description, and its requests."""

    def described(model, vendor, size=chains.SIZE):
        monkeypatch.setattr(rest, "KEY", models.find("rest", model).facts["key"])
        [step], requests = chains.asked(tmp_path, monkeypatch, rest, vendor, size, model=model)
        return step, requests

    return described


NAMES = [f"{model.vendor} {model.name}" for model in models.all_models()]


@pytest.mark.parametrize("name", NAMES)
def test_a_models_request_is_its_golden(tmp_path, monkeypatch, described, name):
    vendor, _, model = name.partition(" ")
    module, golden = importlib.import_module(f"vendors.{vendor}"), goldens.goldens()[name]
    size = tuple(golden.get("size", (64, 64) if "gen4" in model else chains.SIZE))
    data = picture(size)
    if module is rest:
        step, requests = described(model, Described(data), size)
    else:
        script, more = chains.script(module, data), {"model": model, **golden["options"]}
        [step, *_], requests = chains.asked(tmp_path, monkeypatch, module, script, size, **more)
    [order] = filter(module.is_order, requests)
    goldens.check(name, order, step.seed)
    assert (step.status, step.type) == ("ok", "png")
    assert next(tmp_path.glob("chains/*/0001.png")).read_bytes() == data
    assert model != "gen4_image" or step.details["credits"] == {"credits": 5}


@pytest.mark.parametrize(
    ("model", "ends", "status"),
    [
        ("uni-1", {"state": "failed", "failure_code": "content_moderated", "failure_reason": "no"}, "refused"),
        ("uni-1", {"state": "failed", "failure_code": "generation_failed"}, "failed"),
        ("gen4_image", {"status": "FAILED", "failure": "no", "failureCode": "SAFETY.INPUT.TEXT"}, "refused"),
        ("gen4_image", {"status": "CANCELLED", "cost": {"credits": 0}}, "failed"),
        ("reve-edit", {"image": "", "content_violation": True, "request_id": "r"}, "refused"),
        ("muse-image-1.0", {"created": 1, "data": []}, "no_image"),
    ],
)
def test_what_is_no_picture_is_a_typed_step(described, model, ends, status):
    step, _ = described(model, Described(picture(), ends))
    assert step.status == status, step.reason
    assert step.file is None


def test_a_vendor_without_an_address_of_its_own_asks_for_one():
    assert "base_url" in editors.choose("rest:model=MAI-Image-2.6").editor.ready()
    mine = editors.choose("rest:model=MAI-Image-2.6,base_url=https://mine.example").editor
    assert mine.ready() == "set AZURE_AI_API_KEY"


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
