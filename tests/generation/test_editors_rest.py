"""The vendors that are descriptions: whole requests, by their SDKs' types, and what becomes of their answers."""

import base64

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Caller
from convergebench.generation.vendors import models
from vendors import chains, openai
from vendors.goldens import check
from vendors.loopback import picture, serving, told

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
