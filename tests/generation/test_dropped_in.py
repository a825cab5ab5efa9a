"""A new hosted vendor is one file; what else is dropped in stands in whole/test_contributing.py."""

import base64
import json

import pytest
from house_copy import HouseCopy
from vendors.loopback import Reply, picture, serving, told

VENDOR = '''
"""A vendor that nobody has heard of."""

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
    meanings: ClassVar = (("refused", "code", ("forbidden",)), ("unusable", "code", ("unpaid",)))

    def sizes(self):
        return ()

    def body(self, image, instruction, seed):
        return {"words": instruction, "seed": seed, "picture": wire.to_base64(pictures.encode_png(image))}

    def read(self, reply, instruction):
        return self.answer(wire.from_base64(reply["b64_json"]), reply, {})
'''


def vendor(server, request):
    assert (request.path, request.headers["authorization"]) == ("/edit", "Bearer sentinel-key-1234567890")
    body = request.json()
    assert isinstance(body["seed"], int)
    if "remove" in body["words"]:
        return told({"code": "forbidden", "message": "not this one"}, 400)
    if len(server.requests) == 1:
        return Reply(503)
    return told({"b64_json": base64.b64encode(picture((128, 128))).decode()})


def test_a_vendor_is_one_file_found_priced_and_asked(tmp_path, monkeypatch):
    house = HouseCopy(tmp_path)
    house.write("generation/editors/newcomer.py", VENDOR)
    (house.work / "prices.toml").write_text("newcomer.newcomer-1 = 0.02\n")
    monkeypatch.setenv("NEWCOMER_KEY", "sentinel-key-1234567890")
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(house.work / "prices.toml"))
    listed = {row["name"]: row for row in json.loads(house.verb("list", "editors", "--json"))}
    assert listed["newcomer"]["about"] == "Edits at Newcomer."
    assert listed["newcomer"]["needs"].startswith("NEWCOMER_KEY")
    with serving(vendor) as server:
        words = ("--suite", "smoke", "--editor", f"newcomer:base_url={server.base}", "--rounds", "1")
        [planned] = json.loads(house.verb("plan", *words, "--json"))["editors"]
        assert planned["dollars"] == pytest.approx(planned["calls"] * 0.02)
        house.verb("generate", *words, "--out", "paid", "--max-cost", "1")
    paths = (house.work / "paid" / "chains").glob("*/steps.jsonl")
    done = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    by_status = {step["status"]: step for step in done}
    assert set(by_status) == {"input", "ok", "refused"}
    assert (by_status["refused"]["reason"], by_status["refused"]["cost"]) == ("forbidden: not this one", 0.0)
    assert by_status["ok"]["details"]["model"] == "newcomer-1"
    assert {step["cost"] for step in done if step["status"] == "ok"} == {0.02}
