"""What each vendor says in its own way: forms of success, refusals, answers without a picture, empty accounts.

What it answers in another form than it documents is a step with a reason, and never the end of a run.
"""

import json

import pytest
from convergebench.generation.calls import Caller, Rejected, Unusable
from convergebench.generation.loop import check
from convergebench.generation.records import Answer, storable
from convergebench.generation.vendors import wire
from fuzz.answers import VendorAnswer
from vendors import bfl, chains, fal, gemini, openai, qwen, replicate, seedream, xai
from vendors.loopback import Reply, picture, serving, told
from verbs import invoke

DATA = picture((96, 64))


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A step that a vendor answered so, and its requests."""

    def asked(module, *plays, **options):
        script = chains.script(module, *plays)
        steps, requests = chains.asked(tmp_path, monkeypatch, module, script, **options)
        return steps[-1], requests

    return asked


@pytest.fixture
def ask(asked):
    return lambda *words, **options: asked(*words, **options)[0]


def ended(status, **more):
    """An order at Black Forest Labs that ends so."""
    return lambda server: bfl.accepted(server, bfl.ended(status, **more))


def result(module, **attributes):
    """An order whose later answers are what these attributes of the server say."""

    def play(server):
        for name, value in attributes.items():
            setattr(server, name, value)
        return module.shown(server, DATA)

    return play


MODERATED = {"details": {"Moderation Reasons": ["Safety Filter"]}}
BLOCKED = {"error": {"code": "OutputImageSensitiveContentDetected", "message": "no"}}
FLAGGED = {"status": "failed", "output": None, "error": "The input or output was flagged as sensitive. (E005)"}
BLACK = told({"images": [{"url": "http://127.0.0.1/0"}], "has_nsfw_concepts": [True]})
ELSEWHERE = "https://queue.fal.run.evil.example/x"
ORDER = {"request_id": "r1", "status_url": ELSEWHERE, "response_url": ELSEWHERE, "urls": {"get": ELSEWHERE}}
SAID = [  # vendor, what it answers an order with, the step's status, words of its reason
    *((gemini, gemini.without(word), "refused", f"{word}: as it says")
      for word in ("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "PROHIBITED_CONTENT", "SAFETY")),
    *((gemini, gemini.blocked(word), "refused", word) for word in ("PROHIBITED_CONTENT", "IMAGE_SAFETY", "OTHER")),
    *((gemini, gemini.without(word), "no_image", f"{word}: as it says")
      for word in ("NO_IMAGE", "IMAGE_OTHER", "OTHER", "MAX_TOKENS")),
    (gemini, gemini.parts({"text": "Here you go!"}), "no_image", "STOP"),
    *((openai, openai.error(400, word), "refused", f"{word}: words for 400")
      for word in ("moderation_blocked", "content_policy_violation")),
    *((openai, told(body), "no_image", "")
      for body in ({"created": 1, "data": []}, {"created": 1}, {"data": [{"url": "https://x.example/y"}]})),
    (openai, told({"data": [{"b64_json": "not base64!"}]}), "failed", "base64"),
    (bfl, ended("Request Moderated", **MODERATED), "refused", "Safety Filter"),
    (bfl, ended("Content Moderated", **MODERATED), "refused", "Safety Filter"),
    (bfl, ended("Task not found"), "failed", "Task not found"),
    *((seedream, seedream.error(400, f"{word}SensitiveContentDetected"), "refused", "words for 400")
      for word in ("OutputImage", "InputImage", "InputText")),
    (seedream, seedream.answer(BLOCKED), "refused", "OutputImageSensitiveContentDetected: no"),
    (seedream, seedream.answer({}), "no_image", ""),
    *((qwen, qwen.error(status, word), "refused", f"{word}: words for {status}")
      for status in (400, 200) for word in ("DataInspectionFailed", "IPInfringementSuspect")),
    (qwen, qwen.answer({"text": "I cannot see a door."}), "no_image", ""),
    *((fal, result(fal, result=fal.detail(word)), "refused", f"{word}: as it says")
      for word in ("content_policy_violation", "image_moderated")),
    (fal, result(fal, result=BLACK), "refused", "has_nsfw_concepts"),
    (fal, told(ORDER), "failed", "so no key is sent"),
    (replicate, told(ORDER), "failed", "so no key is sent"),
    (replicate, result(replicate, ends=FLAGGED), "refused", FLAGGED["error"]),
    *((replicate, result(replicate, ends={"output": output}), "no_image", "") for output in ([], [None], None)),
    (xai, xai.told({"code": "x", "error": "rejected by content moderation"}, 400), "refused", "content moderation"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "play", "status", "words"),
    [pytest.param(*row, id=f"{row[0].__name__[8:]}-{row[2]}-{place}") for place, row in enumerate(SAID)],
)
def test_an_answer_without_a_picture_is_a_typed_step(ask, module, play, status, words):
    step = ask(module, play)
    assert (step.status, step.file) == (status, None)
    assert words in (step.reason or "")
    if status == "refused" and module in (openai, seedream, qwen, xai):
        assert step.cost == 0.0


WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
WRONG_KEY = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [WRONG_KEY]}


@pytest.mark.parametrize(
    ("module", "play", "words"),
    [
        (gemini, told({"error": WRONG_KEY}, 400), "API key not valid"),
        (openai, openai.error(429, "insufficient_quota"), "insufficient_quota"),
        (openai, openai.error(400, "billing_hard_limit_reached"), "billing_hard_limit_reached"),
        (qwen, qwen.error(400, "Arrearage"), "Arrearage"),
        (fal, told({"detail": "User is locked. Reason: Exhausted balance."}, 403), "Exhausted balance"),
    ],
)
def test_an_empty_account_stops_the_run_under_any_status(ask, module, play, words):
    with pytest.raises(Unusable, match=words):
        ask(module, play)


def test_a_passing_error_is_tried_again_and_paid_for(ask):
    busy = qwen.error(200, "Throttling.RateQuota")
    for module, play, cost in ((bfl, ended("Error"), 0.09), (bfl, ended("Failed"), 0.09), (qwen, busy, 0.03)):
        step = ask(module, play, DATA)
        assert (step.status, step.cost) == ("ok", pytest.approx(cost))
    endless = ask(bfl, ended("Pending"), timeout=0.8)
    assert (endless.status, " time" in endless.reason) == ("failed", True)


def test_gemini_takes_no_picture_from_a_thought(ask):
    draft = gemini.inline(picture((8, 8)), thought=True)
    thought = {"text": "The door should be green.", "thought": True}
    step = ask(gemini, gemini.parts(thought, draft, {"text": "Done."}, gemini.inline(DATA, "image/jpeg")))
    assert (step.status, step.type, step.width, step.text, step.cost) == ("ok", "png", 96, "Done.", 0.0336)
    details = {"thoughts": thought["text"], "model": "gemini-nano-banana-2.1", "request_id": "response-7"}
    details |= {"finish_reason": "STOP", "declared": "image/jpeg"}
    assert step.details.items() >= details.items()
    assert step.details["usage"]["candidatesTokenCount"] == 1290


def test_a_key_goes_to_a_vendors_regional_hosts_and_nowhere_else(asked):
    for place in ("https://api.eu2.bfl.ai/v1/get_result?id=1", "https://bfl.ai/x"):
        assert wire.trusted(place, "https://api.bfl.ai", "bfl.ai") == place
    for place in (
        *("https://notbfl.ai/x", "https://api.bfl.ai.evil.example/v1/get_result?id=1"),
        *("https://evil.example/bfl.ai", "http://api.bfl.ai/v1/get_result?id=1"),
    ):
        with pytest.raises(Rejected, match="so no key is sent"):
            wire.trusted(place, "https://api.bfl.ai", "bfl.ai")

    def elsewhere(server):
        return told({"id": "1", "polling_url": server.base.replace("127.0.0.1", "localhost")})

    step, requests = asked(bfl, elsewhere)
    assert (step.status, "so no key is sent" in step.reason, step.cost) == ("failed", True, 0.045)
    assert [request.method for request in requests] == ["POST"]


HTML = Reply(200, b"<html>", "text/html")


@pytest.mark.parametrize(
    ("module", "path", "faults", "cost"),
    [
        (bfl, "/v1/get_result", [Reply(503), HTML, Reply(200, b"x" * 99, cut=True)], 0.045),
        (qwen, "/delivery/", [Reply(503), Reply(200, b"x" * 99, cut=True)], 0.03),
    ],
)
def test_a_lost_poll_or_download_orders_nothing_twice(asked, monkeypatch, module, path, faults, cost):
    rest, left = module.rest, iter(faults)
    flaky = lambda server, request: (request.path.startswith(path) and next(left, None)) or rest(server, request)  # noqa: E731
    monkeypatch.setattr(module, "rest", flaky)
    step, requests = asked(module, DATA)
    assert (step.status, step.cost) == ("ok", cost)
    assert [request.method for request in requests].count("POST") == 1


def rewritten(server):
    result = {"sample": f"{server.base}/delivery/0", "prompt": "A lush emerald door."}
    return bfl.accepted(server, bfl.ended("Ready", DATA, result=result), cost=6.0)


def linked(server):
    return seedream.linked(server, picture((96, 64), "JPEG"))


@pytest.mark.parametrize(
    ("module", "play", "cost", "details"),
    [
        (openai, DATA, (20 * 5 + 380 * 8 + 1584 * 30) / 1e6, {"request_id": "req-5", "uncontrolled": ["seed"]}),
        (seedream, linked, seedream.PRICE, {"declared": "image/png", "uncontrolled": ["seed", "type"]}),
        (bfl, rewritten, 0.06, {"revised_prompt": "A lush emerald door."}),
        (xai, DATA, xai.PRICE, {"revised_prompt": "Paint the wooden door green."}),
    ],
)
def test_what_comes_with_a_picture_is_in_the_step(ask, module, play, cost, details):
    step = ask(module, play)
    assert (step.status, step.type) == ("ok", "jpg" if play is linked else "png")
    assert step.cost == pytest.approx(cost)
    assert step.details.items() >= details.items()


def test_a_broken_request_at_fal_is_ordered_again_for_free(asked):
    broken = result(fal, result=told({"detail": "runner lost", "error_type": "runner_disconnected"}, 500))
    step, requests = asked(fal, broken)
    assert (step.status, step.cost) == ("failed", None)
    assert "runner_disconnected: runner lost (tried 3 times)" in step.reason
    assert sum(map(fal.is_order, requests)) == 3


def test_replicate_runs_a_version_by_its_number(asked):
    step, requests = asked(replicate, DATA, model="me/mine:abc")
    [order] = filter(replicate.is_order, requests)
    assert (step.status, order.path, order.json()["version"]) == ("ok", "/v1/predictions", "abc")


def test_a_key_in_what_a_model_says_is_not_kept(ask):
    step = ask(gemini, gemini.parts({"text": f"I saw {chains.KEY}", "thought": True}, {"text": chains.KEY}))
    assert step.status == "no_image"
    assert (step.details["thoughts"], step.text) == ("I saw [key]", "[key]")


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    return VendorAnswer(tmp_path_factory.mktemp("door"))


@pytest.mark.parametrize("body", [
    ["bfl", {"status": "Error", "details": "\ud800"}],
    ["bfl", {"polling_url": "http://127.0.0.1/\u0000", "cost": -5}],
    ["bfl", {"polling_url": "http://127.0.0.1/x", "cost": float("nan"), "status": "Ready", "result": {}}],
    ["seedream", {"data": [{"url": "http://356.0.0.1/x"}]}],
    ["qwen", {"output": {"choices": {"message": 1}}}],
    ["qwen", {"output": {"choices": [{"message": {"content": [1, None]}}]}}],
    ["xai", {"data": [{"b64_json": 7}], "usage": {"\ud800": [float("inf")]}}],
    ["fal", {"status": "COMPLETED", "status_url": "http://127.0.0.1/s", "response_url": "http://127.0.0.1/r",
        "has_nsfw_concepts": 3}],
    ["fal", {"status": "COMPLETED", "status_url": "http://127.0.0.1/s", "response_url": "http://127.0.0.1/r",
        "images": {"a": 1}}],
    ["replicate", {"urls": "x"}],
    ["openai", {"usage": {"output_tokens": -10**12, "input_tokens_details": {"text_tokens": "3", "image_tokens": 1}}}],
    ["openai", {"usage": {"output_tokens": 5, "input_tokens_details": [1]}}],
    ["gemini", {"candidates": {"a": 1}}],
])  # fmt: skip
def test_an_answer_of_another_form_is_a_step_that_can_be_stored(door, body):
    door.enter(json.dumps(body).encode())


def test_an_impossible_cost_is_kept_as_words():
    for cost in (float("nan"), float("inf"), -1.0):
        caller = Caller(price=0.04)
        reply = caller.ask(lambda cost=cost: Answer(b"x", cost=cost))
        assert (reply.cost, reply.details["cost_said"]) == (0.04, str(cost))
        assert caller.budget.spent == 0.04


def test_what_no_file_can_hold_is_spelled_out():
    deep = []
    for _ in range(900):
        deep = [deep]
    spelled = {"a\\ud800": ["\\udfff", "nan", "b'x'", 1, None, True, 0.5]}
    assert storable({"a\ud800": ["\udfff", float("nan"), b"x", 1, None, True, 0.5]}) == spelled
    assert "..." in json.dumps(storable(deep))
    assert str(Rejected("of \ud800")) == "of \\ud800"


def test_one_cheap_call_says_what_an_editor_answers_and_costs(monkeypatch):
    monkeypatch.setenv(bfl.KEY, chains.KEY)
    with serving(chains.script(bfl, picture((1024, 1024), "JPEG"))) as server:
        found = check(f"bfl:base_url={server.base},poll=0.01")
    assert sum(map(bfl.is_order, server.requests)) == 1
    assert (found["status"], found["received"], found["type"]) == ("ok", "1024x1024", "jpg")
    assert (found["price"], found["cost"], found["details"]["declared"]) == (0.045, 0.045, "image/png")
    with serving(chains.script(bfl, ended("Request Moderated"))) as server:
        result = invoke("list", "editors", "--check", f"bfl:base_url={server.base},poll=0.01", "--json")
    assert (result.exit_code, json.loads(result.stdout)["status"]) == (1, "refused")
    assert invoke("list", "editors", "--check", "oracle").exit_code == 0  # which remembers
