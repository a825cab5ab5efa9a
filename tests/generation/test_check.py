"""One cheap call, and what it says of an editor."""

import json

import pytest
from convergebench.generation.calls import Unusable
from convergebench.generation.loop import check
from vendors import bfl, chains
from vendors.loopback import picture, serving
from verbs import invoke


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("BFL_API_KEY", "sentinel-key-1234567890")


def test_an_editor_that_remembers_is_given_what_it_asks_for():
    assert check("oracle")["status"] == "ok"


def test_a_vendors_answer_is_described_with_its_price(key):
    with serving(chains.script(bfl, picture((1024, 1024), "JPEG"))) as server:
        found = check(f"bfl:base_url={server.base},poll=0.01")
    assert sum(map(bfl.is_order, server.requests)) == 1
    assert (found["status"], found["received"], found["type"]) == ("ok", "1024x1024", "jpg")
    assert (found["price"], found["cost"], found["details"]["declared"]) == (0.045, 0.045, "image/png")


def test_a_missing_key_is_one_sentence_and_exit_2(monkeypatch):
    monkeypatch.delenv("BFL_API_KEY", raising=False)
    with pytest.raises(Unusable, match="set BFL_API_KEY"):
        check("bfl")


def test_the_command_prints_json_and_exits_1_without_a_picture(key):
    with serving(
        chains.script(bfl, lambda server: bfl.accepted(server, bfl.ended("Request Moderated")))
    ) as server:
        result = invoke("list", "editors", "--check", f"bfl:base_url={server.base},poll=0.01", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["status"] == "refused"
    assert invoke("list", "editors", "--check", "jpeg").exit_code == 0
