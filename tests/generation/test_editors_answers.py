"""What each vendor says in its own way: forms of success, refusals, answers without a picture, empty accounts."""

import base64

import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Rejected, Unusable
from convergebench.generation.records import UserError
from convergebench.generation.vendors import sizes, wire
from vendors import bfl, chains, fal, gemini, hf, openai, qwen, replicate, seedream
from vendors.loopback import Reply, picture, serving, told

KEY = "hf_sentinel-key-1234567890"
DATA = picture((96, 64))


@pytest.fixture
def ask(tmp_path, monkeypatch):
    def ask(module, *plays, prepare=lambda server: None, **options):
        monkeypatch.setenv(module.KEY, KEY if module is hf else KEY[3:])
        with serving(chains.script(module, *plays)) as server:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base)
            prepare(server)
            return chains.one_step(tmp_path, module, server.base, **options)

    return ask


def test_gemini_keeps_thoughts_versions_and_usage_and_takes_no_picture_from_a_thought(ask):
    draft = gemini.inline(picture((8, 8)), thought=True)
    thought = {"text": "The door should be green.", "thought": True}
    step = ask(gemini, gemini.parts(thought, draft, {"text": "Done."}, gemini.inline(DATA, "image/jpeg")))
    assert (step.status, step.type, step.width, step.text) == ("ok", "png", 96, "Done.")
    assert step.details["thoughts"] == "The door should be green."
    assert step.details["model"] == "gemini-nano-banana-2.1"
    assert step.details["request_id"] == "response-7"
    assert step.details["finish_reason"] == "STOP"
    assert step.details["declared"] == "image/jpeg"
    assert step.details["usage"]["candidatesTokenCount"] == 1290
    assert step.cost == 0.0336


@pytest.mark.parametrize("words", ["resolution=1K/8K", "resolution=2K/4K,model=gemini-2.5-flash-image", "session=two"])
def test_gemini_refuses_schedules_and_sessions_it_does_not_know(words):
    with pytest.raises(UserError, match=r"gemini:(resolution|session)"):
        editors.choose(f"gemini:model=gemini-3-pro-image,{words}" if "model" not in words else f"gemini:{words}")


@pytest.mark.parametrize(
    "finish", ["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "PROHIBITED_CONTENT", "SAFETY"]
)
def test_gemini_refuses_with_a_finish_reason(ask, finish):
    step = ask(gemini, gemini.without(finish))
    assert (step.status, step.reason, step.file) == ("refused", f"{finish}: as it says", None)


@pytest.mark.parametrize("finish", ["NO_IMAGE", "IMAGE_OTHER", "OTHER", "MAX_TOKENS"])
def test_gemini_answers_without_a_picture(ask, finish):
    step = ask(gemini, gemini.without(finish))
    assert (step.status, step.reason) == ("no_image", f"{finish}: as it says")


def test_gemini_answers_in_words_only(ask):
    step = ask(gemini, gemini.parts({"text": "Here you go!"}))
    assert (step.status, step.reason, step.text) == ("no_image", "STOP", "Here you go!")


@pytest.mark.parametrize("reason", ["PROHIBITED_CONTENT", "IMAGE_SAFETY", "OTHER"])
def test_gemini_blocks_a_prompt_without_candidates(ask, reason):
    step = ask(gemini, gemini.blocked(reason))
    assert (step.status, step.reason) == ("refused", reason)


def test_gemini_says_a_wrong_key_with_a_400_and_the_run_stops(ask):
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    about = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [info]}
    with pytest.raises(Unusable, match="API key not valid"):
        ask(gemini, told({"error": about}, 400))


def test_gemini_is_asked_for_thoughts_and_size_only_where_the_model_has_them():
    config = editors.choose("gemini:model=gemini-3-pro-image,resolution=2K,temperature=0.4").editor.config(
        (2528, 1696), 5, "2K"
    )
    assert (config.image_config.aspect_ratio, config.image_config.image_size) == ("3:2", "2K")
    assert config.thinking_config.include_thoughts
    assert (config.temperature, config.seed) == (0.4, 5)
    with pytest.raises(UserError, match="gemini:resolution '2K'; it must be one of 1K"):
        editors.choose("gemini:model=gemini-2.5-flash-image,resolution=2K")


@pytest.mark.parametrize("code", ["moderation_blocked", "content_policy_violation"])
def test_openai_refuses_with_a_400_that_costs_nothing(ask, code):
    step = ask(openai, openai.error(400, code))
    assert (step.status, step.reason, step.cost) == ("refused", f"{code}: words for 400", 0.0)


def test_openai_cost_is_counted_from_the_tokens_of_the_answer(ask):
    step = ask(openai, DATA)
    assert step.cost == pytest.approx((20 * 5 + 380 * 8 + 1584 * 30) / 1e6)
    assert step.details["request_id"] == "req-5"
    assert step.details["uncontrolled"] == ["seed"]


@pytest.mark.parametrize("status", [429, 400])
def test_openai_says_an_empty_account_like_a_rate_limit_and_the_run_stops(ask, status):
    code = "insufficient_quota" if status == 429 else "billing_hard_limit_reached"
    with pytest.raises(Unusable, match=code):
        ask(openai, openai.error(status, code))


@pytest.mark.parametrize(
    "body", [{"created": 1, "data": []}, {"created": 1}, {"data": [{"url": "https://x.example/y"}]}]
)
def test_openai_answers_without_a_picture(ask, body):
    assert ask(openai, told(body)).status == "no_image"


def test_a_picture_field_that_is_no_base64_is_a_failure(ask):
    step = ask(openai, told({"data": [{"b64_json": "not base64!"}]}))
    assert (step.status, "not base64" in step.reason) == ("failed", True)


@pytest.mark.parametrize("status", ["Request Moderated", "Content Moderated"])
def test_bfl_moderates_the_request_or_the_result(ask, status):
    more = {"details": {"Moderation Reasons": ["Safety Filter"]}}
    step = ask(bfl, lambda server: bfl.accepted(server, bfl.ended(status, **more)))
    assert step.status == "refused"
    assert step.reason.startswith(f"{status}: ")
    assert "Safety Filter" in step.reason


@pytest.mark.parametrize("status", ["Error", "Failed"])
def test_bfl_ends_a_task_in_an_error_which_is_tried_again(ask, status):
    step = ask(bfl, lambda server: bfl.accepted(server, bfl.ended(status)), DATA)
    assert step.status == "ok"
    assert step.cost == pytest.approx(0.09)


def test_bfl_forgets_a_task(ask):
    step = ask(bfl, lambda server: bfl.accepted(server, bfl.ended("Task not found")))
    assert (step.status, "Task not found" in step.reason) == ("failed", True)


def test_bfl_polls_without_an_end_are_ended(ask):
    step = ask(bfl, lambda server: bfl.accepted(server, bfl.ended("Pending")), timeout=0.4)
    assert (step.status, "before the time limit" in step.reason) == ("failed", True)


@pytest.mark.parametrize(
    "place",
    [
        "https://api.bfl.ai.evil.example/v1/get_result?id=1",
        "https://evil.example/bfl.ai",
        "http://api.bfl.ai/v1/get_result?id=1",
        "http://localhost:{port}/v1/get_result?id=1",
    ],
)
def test_bfl_key_is_not_sent_to_a_polling_address_on_another_host(ask, place):
    seen = []

    def elsewhere(server):
        seen.append(server)
        port = server.base.rpartition(":")[2]
        return told({"id": "1", "polling_url": place.format(port=port)})

    step = ask(bfl, elsewhere)
    assert (step.status, "where the key is not sent" in step.reason) == ("failed", True)
    assert [request.method for request in seen[0].requests] == ["POST"]
    assert step.cost == 0.045


def test_bfl_key_goes_to_its_regional_hosts():
    for place in ("https://api.eu2.bfl.ai/v1/get_result?id=1", "https://bfl.ai/x"):
        assert wire.trusted(place, "https://api.bfl.ai", "bfl.ai") == place
    with pytest.raises(Rejected):
        wire.trusted("https://notbfl.ai/x", "https://api.bfl.ai", "bfl.ai")


def test_bfl_lost_polls_are_polled_again_and_nothing_is_ordered_twice(ask):
    class Flaky:
        KEY, SPEC, SIZE = bfl.KEY, bfl.SPEC, bfl.SIZE
        asked, is_order, shown = staticmethod(bfl.asked), staticmethod(bfl.is_order), staticmethod(bfl.shown)
        faults = iter([Reply(503), Reply(200, b"<html>", "text/html"), Reply(200, b"x" * 99, cut=True)])

        @classmethod
        def rest(cls, server, request):
            if request.path.startswith("/v1/get_result"):
                return next(cls.faults, None) or bfl.rest(server, request)
            return bfl.rest(server, request)

    servers = []
    step = ask(Flaky, DATA, prepare=servers.append)
    assert (step.status, step.cost) == ("ok", 0.045)
    assert [request.method for request in servers[0].requests].count("POST") == 1


def test_a_finished_picture_is_fetched_again_and_not_ordered_again(ask):
    class Flaky:
        KEY, SPEC, SIZE = qwen.KEY, qwen.SPEC, qwen.SIZE
        asked, is_order, shown = staticmethod(qwen.asked), staticmethod(qwen.is_order), staticmethod(qwen.shown)
        faults = iter([Reply(503), Reply(200, b"x" * 99, cut=True)])

        @classmethod
        def rest(cls, server, request):
            return next(cls.faults, None) or qwen.rest(server, request)

    servers = []
    step = ask(Flaky, DATA, prepare=servers.append)
    assert (step.status, step.cost) == ("ok", 0.03)
    assert [request.method for request in servers[0].requests].count("POST") == 1


@pytest.mark.parametrize(
    "code",
    ["OutputImageSensitiveContentDetected", "InputImageSensitiveContentDetected", "InputTextSensitiveContentDetected"],
)
def test_seedream_refuses_by_the_code_of_its_error(ask, code):
    step = ask(seedream, seedream.error(400, code))
    assert (step.status, step.reason) == ("refused", f"{code}: words for 400")


def test_seedream_refuses_in_the_row_of_a_200(ask):
    row = {"error": {"code": "OutputImageSensitiveContentDetected", "message": "no"}}
    assert ask(seedream, seedream.answer(row)).status == "refused"


def test_seedream_answers_with_an_address_in_place_of_bytes(ask):
    step = ask(seedream, lambda server: seedream.linked(server, picture((96, 64), "JPEG")))
    assert (step.status, step.type) == ("ok", "jpg")
    assert step.details["declared"] == "image/jpeg"
    assert step.details["uncontrolled"] == ["seed", "type"]


def test_seedream_answers_without_a_picture(ask):
    assert ask(seedream, seedream.answer({})).status == "no_image"


def test_seedream_4_5_has_no_sizes_below_its_least_pixels():
    with pytest.raises(UserError, match="it must be one of 2K, 4K"):
        editors.choose("seedream:model=seedream-4-5-251128")
    assert all(w * h >= 3_686_400 for w, h in sizes.SEEDREAM["2K"])
    assert all(921_600 <= w * h <= 16_777_216 for row in sizes.SEEDREAM.values() for w, h in row)


@pytest.mark.parametrize("status", [400, 200])
@pytest.mark.parametrize("code", ["DataInspectionFailed", "IPInfringementSuspect"])
def test_qwen_refuses_under_any_status(ask, status, code):
    step = ask(qwen, qwen.error(status, code))
    assert (step.status, step.reason) == ("refused", f"{code}: words for {status}")


def test_qwen_throttles_in_a_200_and_is_asked_again(ask):
    step = ask(qwen, qwen.error(200, "Throttling.RateQuota"), DATA)
    assert (step.status, step.cost) == ("ok", 0.03)


def test_qwen_is_in_arrears_and_the_run_stops(ask):
    with pytest.raises(Unusable, match="Arrearage"):
        ask(qwen, qwen.error(400, "Arrearage"))


def test_qwen_answers_in_words_only(ask):
    step = ask(qwen, qwen.answer({"text": "I cannot see a door."}))
    assert (step.status, step.text) == ("no_image", "I cannot see a door.")


@pytest.mark.parametrize("kind", ["content_policy_violation", "image_moderated"])
def test_fal_refuses_in_the_result_of_a_completed_request(ask, kind):
    def moderated(server):
        server.result = fal.detail(kind)

    step = ask(fal, DATA, prepare=moderated)
    assert (step.status, step.reason) == ("refused", f"{kind}: as it says")


def test_fal_answers_with_a_black_picture_which_is_a_refusal(ask):
    def black(server):
        server.result = told({"images": [{"url": f"{server.base}/delivery/0"}], "has_nsfw_concepts": [True]})

    assert ask(fal, DATA, prepare=black).status == "refused"


def test_a_request_that_broke_at_fal_is_ordered_again_and_cost_nothing(ask):
    servers = []

    def broken(server):
        servers.append(server)
        server.result = told({"detail": "runner lost", "error_type": "runner_disconnected"}, 500)

    step = ask(fal, DATA, prepare=broken)
    assert (step.status, step.cost) == ("failed", None)
    assert "runner_disconnected: runner lost (tried 3 times)" in step.reason
    assert sum(map(fal.is_order, servers[0].requests)) == 3


@pytest.mark.parametrize("module", [fal, replicate])
def test_a_key_is_not_sent_to_an_address_on_another_host(ask, module):
    place = "https://queue.fal.run.evil.example/x"
    order = {"request_id": "r1", "status_url": place, "response_url": place, "urls": {"get": place}}
    step = ask(module, told(order))
    assert (step.status, "where the key is not sent" in step.reason) == ("failed", True)


def test_fal_s_empty_account_stops_the_run(ask):
    with pytest.raises(Unusable, match="Exhausted balance"):
        ask(fal, told({"detail": "User is locked. Reason: Exhausted balance."}, 403))


def test_replicate_refuses_in_the_words_of_its_error(ask):
    def flagged(server):
        server.ends = {
            "status": "failed",
            "output": None,
            "error": "The input or output was flagged as sensitive. (E005)",
        }

    step = ask(replicate, DATA, prepare=flagged)
    assert (step.status, step.reason) == ("refused", "The input or output was flagged as sensitive. (E005)")


@pytest.mark.parametrize(("output", "status"), [([], "no_image"), ([None], "no_image"), (None, "no_image")])
def test_replicate_answers_without_a_picture(ask, output, status):
    def nothing(server):
        server.ends = {"output": output}

    assert ask(replicate, DATA, prepare=nothing).status == status


def test_replicate_runs_a_version_by_its_number(tmp_path, monkeypatch):
    monkeypatch.setenv(replicate.KEY, KEY[3:])

    def vendor(server, request):
        if request.path == "/v1/predictions" and request.method == "POST":
            assert request.json()["version"] == "abc"
            return replicate.shown(server, DATA)
        return replicate.rest(server, request)

    with serving(vendor) as server:
        spec = replicate.SPEC.format(base=server.base, timeout=5) + ",model=me/mine:abc"
        assert chains.run(tmp_path, spec, replicate.SIZE)[-1].status == "ok"


def test_thoughts_and_refusals_hold_no_key(ask):
    step = ask(gemini, gemini.parts({"text": f"I saw {KEY[3:]}", "thought": True}, {"text": KEY[3:]}))
    assert step.status == "no_image"
    assert (step.details["thoughts"], step.text) == ("I saw [key]", "[key]")


def test_a_data_address_is_read_as_base64():
    assert wire.from_base64("data:image/png;base64," + base64.b64encode(DATA).decode()) == DATA
