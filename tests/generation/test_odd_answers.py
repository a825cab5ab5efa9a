"""What a vendor answers in another form than it documents is a step with a reason, and never the end of a run."""

import json

import pytest
from convergebench.generation.calls import Caller, Rejected
from convergebench.generation.records import Answer, storable
from fuzz.answers import VendorAnswer


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
    assert storable({"a\ud800": ["\udfff", float("nan"), b"x", 1, None, True, 0.5]}) == {
        "a\\ud800": ["\\udfff", "nan", "b'x'", 1, None, True, 0.5]
    }
    assert "..." in json.dumps(storable(deep))
    assert str(Rejected("of \ud800")) == "of \\ud800"
