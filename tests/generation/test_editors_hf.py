"""The Hub's router in front of each of its providers: what is sent, what comes back, and what goes wrong."""

import base64

import pytest
from convergebench.generation.calls import Unusable
from vendors import chains, fal, hf
from vendors.loopback import Reply, is_png, picture, serving, told

DATA = picture((96, 64))
KEY = "hf_sentinel-key-1234567890"
HOSTED = {"replicate": "lab/kontext", "together": "lab/FLUX.1-kontext-dev", "wavespeed": "lab/kontext/edit"}


class Provider:
    """One of the providers behind the router: orders and polls by their paths, and the reply to each."""

    KEY, SIZE = "HF_TOKEN", (96, 64)
    SPEC = "hf:base_url={base},timeout={timeout},poll=0.01,steps=12"

    def __init__(self, name, hosted, **replies):
        self.name, self.hosted, self.replies, self.bodies = name, hosted, replies, []

    def __call__(self, server, request):
        path = request.path.partition("?")[0]
        if path == "/api/agent-harnesses":  # the client's own curiosity, once a process
            return told({})
        if path.startswith("/delivery/"):
            assert "authorization" not in request.headers, "the download needs no key"
            return Reply(body=DATA, type="image/png")
        assert request.headers["authorization"] == f"Bearer {KEY}"
        if path.startswith("/api/models/"):
            row = {"provider": self.name, "providerId": self.hosted, "status": "live", "task": "image-to-image"}
            return told({"id": hf.MODEL, "inferenceProviderMapping": {self.name: row}})
        assert path.startswith(f"/{self.name}/"), f"a key went to {path}"
        if request.method == "POST":
            self.bodies.append((path.removeprefix(f"/{self.name}/"), request.json(), request.headers))
        reply = self.replies[request.method]
        return reply(server) if callable(reply) else reply


@pytest.fixture
def ask(tmp_path, monkeypatch):
    def ask(provider, **options):
        monkeypatch.setenv("HF_TOKEN", KEY)
        with serving(provider) as server:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base)
            step = chains.one_step(tmp_path / "run", provider, server.base, provider=provider.name, **options)
        return step, next(iter(tmp_path.glob("run/chains/*/0001.png")), None)

    return ask


def by_address(server):
    return told({"id": "r2", "status": "succeeded", "output": [f"{server.base}/delivery/0"]})


def finished(server):
    return told({"data": {"id": "r4", "status": "completed", "outputs": [f"{server.base}/delivery/0"]}})


ORDERED = told({"data": {"id": "r4", "urls": {"get": "https://api.wavespeed.ai/api/v3/predictions/r4/result"}}})
IN_JSON = told({"id": "r3", "data": [{"b64_json": base64.b64encode(DATA).decode()}]})
AS_IT_IS = Reply(body=DATA, type="image/png")
WAYS = {
    "replicate": ("v1/models/lab/kontext/predictions", "input", {"POST": by_address}),
    "together": ("v1/images/generations", "", {"POST": IN_JSON}),
    "wavespeed": ("api/v3/lab/kontext/edit", "", {"POST": ORDERED, "GET": finished}),
    "hf-inference": (f"models/{hf.MODEL}", "parameters", {"POST": AS_IT_IS}),
}


@pytest.mark.parametrize("name", WAYS)
def test_each_provider_is_asked_in_its_own_form(name, ask):
    path, inner, replies = WAYS[name]
    provider = Provider(name, HOSTED.get(name), **replies)
    step, file = ask(provider)
    assert (step.status, step.details["provider"], step.details["model"]) == ("ok", name, hf.MODEL)
    assert step.details.get("hosted_as") == HOSTED.get(name)
    assert file.read_bytes() == DATA
    [(asked, body, headers)] = provider.bodies
    given = body[inner] if inner else body
    assert asked == path
    assert (given["prompt"], isinstance(given["seed"], int)) == ("Paint the door green.", True)
    assert given["steps" if name == "together" else "num_inference_steps"] == 12
    assert "guidance_scale" not in given  # what was not asked for is not sent
    sent = next(body[key] for key in ("image_url", "image", "inputs", "input") if key in body)
    sent = sent["input_image"] if isinstance(sent, dict) else sent
    head, _, data = sent.rpartition(",")
    assert head == ("" if name == "hf-inference" else "data:image/png;base64")
    assert is_png(base64.b64decode(data))
    assert headers.get("prefer") == ("wait" if name == "replicate" else None)


BROKEN = told({"error": {"message": "words for 500"}}, 500)
NONE_YET = told({"id": "r2", "status": "processing", "output": None})
FLAGGED = told({"id": "r2", "status": "failed", "output": None, "error": "The input was flagged as sensitive."})
FAILED = told({"data": {"status": "failed", "error": "out of memory"}})


@pytest.mark.parametrize(
    ("name", "replies", "status", "words"),
    [
        ("replicate", {"POST": BROKEN}, "failed", "words for 500"),
        ("replicate", {"POST": NONE_YET}, "failed", "no picture after Replicate's minute (processing"),
        ("replicate", {"POST": FLAGGED}, "refused", "flagged as sensitive"),
        ("together", {"POST": BROKEN}, "failed", "words for 500"),
        ("together", {"POST": told({"data": []})}, "failed", "another form than documented"),
        ("wavespeed", {"POST": BROKEN}, "failed", "words for 500"),
        ("wavespeed", {"POST": told({"data": {}})}, "failed", "another form than documented"),
        ("wavespeed", {"POST": ORDERED, "GET": FAILED}, "failed", "the task failed: out of memory"),
        ("hf-inference", {"POST": BROKEN}, "failed", "words for 500"),
        ("hf-inference", {"POST": Reply(body=b"{}")}, "failed", "an answer that is not a picture"),
    ],
)
def test_a_fault_of_a_provider_is_a_typed_step(name, replies, status, words, ask):
    step, file = ask(Provider(name, HOSTED.get(name), **replies))
    assert (step.status, file) == (status, None)
    assert words in step.reason


@pytest.mark.parametrize("name", ["replicate", "together", "wavespeed", "hf-inference"])
def test_without_credit_the_run_stops_at_any_provider(name, ask):
    with pytest.raises(Unusable, match="words for 402"):
        ask(Provider(name, HOSTED.get(name), POST=told({"error": "words for 402"}, 402)))


@pytest.fixture
def ask_fal(tmp_path, monkeypatch):
    def ask_fal(prepare, **options):
        monkeypatch.setenv("HF_TOKEN", KEY)
        with serving(chains.script(hf, DATA)) as server:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base)
            prepare(server)
            return chains.one_step(tmp_path, hf, server.base, **options)

    return ask_fal


def test_fal_is_sent_an_order_behind_the_router(ask_fal):
    servers = []
    assert ask_fal(servers.append).status == "ok"
    [order] = filter(hf.is_order, servers[0].requests)
    body = order.json()
    assert order.path == f"/fal-ai/{hf.HOSTED}?_subdomain=queue"
    assert body.pop("image_url") == body.pop("image_urls")[0]
    assert isinstance(body.pop("seed"), int)
    assert body == {"prompt": "Paint the door green."}


def test_a_task_that_never_ends_at_fal_ends_with_the_call(ask_fal):
    step = ask_fal(lambda server: setattr(server, "ends", "IN_PROGRESS"), timeout=0.6)
    assert (step.status, "before the time limit" in step.reason) == ("failed", True)


def test_a_task_that_failed_at_fal_is_said_at_once(ask_fal):
    step = ask_fal(lambda server: setattr(server, "ends", "FAILED"))
    assert (step.status, "FAILED" in step.reason) == ("failed", True)


@pytest.mark.parametrize("result", [{"images": []}, {"detail": "flagged"}, {"images": [{"url": None}]}])
def test_a_result_without_a_picture_is_a_failure(ask_fal, result):
    assert ask_fal(lambda server: setattr(server, "result", result)).status == "failed"


@pytest.mark.parametrize("kind", ["content_policy_violation", "image_moderated"])
def test_a_refusal_of_fal_is_one_behind_the_router_too(ask_fal, kind):
    step = ask_fal(lambda server: setattr(server, "result", fal.detail(kind)))
    assert (step.status, step.reason) == ("refused", f"{kind}: as it says")


def test_a_model_that_is_not_hosted_stops_the_run(ask_fal):
    with pytest.raises(Unusable, match="not supported by replicate; providers that edit with it: fal-ai"):
        ask_fal(lambda server: None, provider="replicate")


def test_a_step_changes_nothing_of_huggingface_hub(ask_fal, monkeypatch):
    import huggingface_hub

    def refuse(*words, **more):
        raise AssertionError("the client of the whole process was replaced, or opened what came")

    addresses = {name: value for name, value in vars(huggingface_hub.constants).items() if isinstance(value, str)}
    monkeypatch.setattr("huggingface_hub.set_client_factory", refuse)
    monkeypatch.setattr("huggingface_hub.InferenceClient.image_to_image", refuse)
    assert ask_fal(lambda server: None).status == "ok"
    now = {name: value for name, value in vars(huggingface_hub.constants).items() if isinstance(value, str)}
    assert {name for name in now if now[name] != addresses[name]} == {"ENDPOINT"}  # which the test sets
