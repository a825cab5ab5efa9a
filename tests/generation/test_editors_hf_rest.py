"""The Hub's router in front of its providers, and the vendors that are descriptions: requests, answers, faults."""

import base64

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Caller, Unusable
from convergebench.generation.vendors import models
from vendors import chains, fal, hf, openai
from vendors.goldens import check
from vendors.loopback import is_png, picture, serving, told

DATA = picture((96, 64))
NAME = "lab/kontext"


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """One step, by default through fal's queue; with a reply, by Replicate."""

    def ask(prepare=lambda server: None, reply=None, **options):
        monkeypatch.setenv("HF_TOKEN", "hf_sentinel-key-1234567890")
        script, order = chains.script(hf, DATA), hf.is_order

        def vendor(server, request):
            if request.path.startswith("/api/models/") and reply:
                row = {"providerId": NAME, "status": "live", "task": "image-to-image"}
                return told({"id": hf.MODEL, "inferenceProviderMapping": {"replicate": row}})
            return reply(server) if reply and order(request) else script(server, request)

        more = {"provider": "replicate"} if reply else {}
        with serving(vendor) as server:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base)
            server.kept = DATA
            prepare(server)
            step = chains.one_step(tmp_path / "run", hf, server.base, **more, **options)
        return step, [request for request in server.requests if order(request)]

    return ask


def test_fal_is_sent_an_order_behind_the_router(ask):
    step, [order] = ask()
    assert (step.status, step.details["provider"], step.details["hosted_as"]) == ("ok", "fal-ai", hf.HOSTED)
    body = order.json()
    assert order.path == f"/fal-ai/{hf.HOSTED}?_subdomain=queue"
    assert body.pop("image_url") == body.pop("image_urls")[0]
    assert isinstance(body.pop("seed"), int)
    assert body == {"prompt": "Paint the door green."}
    _, [order] = ask(lambda server: setattr(server, "hosting", {"adapterWeightsPath": "door.safetensors"}))
    [lora] = order.json()["loras"]
    assert (lora["path"].endswith(f"/{hf.MODEL}/resolve/main/door.safetensors"), lora["scale"]) == (True, 1)


def predicted(status="succeeded", **more):
    return lambda server: told({"id": "r2", "status": status, "output": [f"{server.base}/delivery/0"], **more})


def test_replicate_is_asked_behind_the_router(ask, tmp_path):
    step, [order] = ask(reply=predicted(), steps=12)
    assert (step.status, step.details["provider"], step.details["hosted_as"]) == ("ok", "replicate", NAME)
    assert next(tmp_path.glob("run/chains/*/0001.png")).read_bytes() == DATA
    assert (order.path, order.headers["prefer"]) == (f"/replicate/v1/models/{NAME}/predictions", "wait")
    given = order.json()["input"]
    head, _, data = given["input_image"].partition(",")
    assert (head, is_png(base64.b64decode(data))) == ("data:image/png;base64", True)
    assert (given["prompt"], given["num_inference_steps"]) == ("Paint the door green.", 12)
    assert "guidance_scale" not in given  # what was not asked for is not sent


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        (predicted("processing", output=None), "failed", "the prediction processing"),
        (predicted("failed", error="The input was flagged as sensitive."), "refused", "flagged as sensitive"),
    ],
)
def test_a_fault_of_replicate_is_a_typed_step(ask, reply, status, words):
    step, _ = ask(reply=reply)
    assert (step.status, words in step.reason) == (status, True)


@pytest.mark.parametrize(("ends", "words"), [("IN_PROGRESS", "before the time limit"), ("FAILED", "FAILED")])
def test_a_task_at_fal_without_a_result_fails(ask, ends, words):
    step, _ = ask(lambda server: setattr(server, "ends", ends), timeout=0.6)
    assert (step.status, words in step.reason) == ("failed", True)


def test_what_fal_answers_without_a_picture_is_a_typed_step(ask):
    for result in ({"images": []}, {"detail": "flagged"}, {"images": [{"url": None}]}):
        assert ask(lambda server, result=result: setattr(server, "result", result))[0].status == "no_image"
    step, _ = ask(lambda server: setattr(server, "result", fal.detail("image_moderated")))
    assert (step.status, step.reason) == ("refused", "image_moderated: as it says")


def test_a_model_that_is_not_hosted_stops_the_run(ask):
    with pytest.raises(Unusable, match="not supported by replicate; providers that edit with it: fal-ai"):
        ask(provider="replicate")


LISTED = [model.name for model in models.all_models() if model.vendor == "rest"]
KEY = "sentinel-key-1234567890"


class Vendor:
    """Answers as each of them does; `ends` takes the place of a finished order."""

    def __init__(self, ends=None):
        self.polls, self.ends, self.data = 0, ends, picture(chains.SIZE)

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


def run(tmp_path, monkeypatch, model, vendor):
    key = models.find("rest", model).facts["key"]
    monkeypatch.setenv(key, KEY)
    size = (64, 64) if "gen4" in model else chains.SIZE
    with serving(vendor) as server:
        spec = f"rest:model={model},base_url={server.base},timeout=5,poll=0.01"
        step = chains.run(tmp_path, spec, size, Caller(**chains.FAST))[-1]
    return step, server.requests


@pytest.mark.parametrize("model", LISTED)
def test_each_is_sent_what_its_sdk_sends(tmp_path, monkeypatch, model):
    vendor = Vendor()
    step, requests = run(tmp_path, monkeypatch, model, vendor)
    check(f"rest {model}", next(request for request in requests if request.method == "POST"), step.seed)
    assert (step.status, step.type) == ("ok", "png")
    assert next(tmp_path.glob("chains/*/0001.png")).read_bytes() == vendor.data


def test_a_finished_order_is_ordered_once(tmp_path, monkeypatch):
    step, requests = run(tmp_path, monkeypatch, "gen4_image", Vendor())
    assert sum(request.method == "POST" for request in requests) == 1
    assert step.details["credits"] == {"credits": 5}


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
def test_what_is_no_picture_is_a_typed_step(tmp_path, monkeypatch, model, ends, status):
    step, _ = run(tmp_path, monkeypatch, model, Vendor(ends))
    assert step.status == status, step.reason
    assert step.file is None


def test_a_vendor_without_an_address_of_its_own_asks_for_one():
    assert "base_url" in editors.choose("rest:model=MAI-Image-2.6").editor.ready()
    mine = editors.choose("rest:model=MAI-Image-2.6,base_url=https://mine.example").editor
    assert mine.ready() == "set AZURE_AI_API_KEY"
