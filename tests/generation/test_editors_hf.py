"""The Hub's router in front of each of its providers: what is sent, what comes back, and what goes wrong."""

import base64

import pytest
from convergebench.generation.calls import Unusable
from vendors import chains, fal, hf
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


def test_fal_is_sent_the_weights_of_a_lora(ask):
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


def test_a_result_without_a_picture_is_no_image_and_a_refusal_of_fal_a_refusal(ask):
    for result in ({"images": []}, {"detail": "flagged"}, {"images": [{"url": None}]}):
        assert ask(lambda server, result=result: setattr(server, "result", result))[0].status == "no_image"
    step, _ = ask(lambda server: setattr(server, "result", fal.detail("image_moderated")))
    assert (step.status, step.reason) == ("refused", "image_moderated: as it says")


def test_a_model_that_is_not_hosted_stops_the_run(ask):
    with pytest.raises(Unusable, match="not supported by replicate; providers that edit with it: fal-ai"):
        ask(provider="replicate")
