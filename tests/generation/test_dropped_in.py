"""A new editor or hosted vendor is one file, a new program one row and its line in a suite: dropped in and run."""

import base64
import json

import pytest
from convergebench.generation import store
from house_copy import HouseCopy
from vendors.loopback import Reply, picture, serving, told

BROWNING = '''
"""A filter that browns."""

from dataclasses import dataclass
from typing import ClassVar

from PIL import Image

from ..pictures import encode_png
from ..records import Answer


@dataclass(frozen=True)
class Editor:
    """Browns the picture a little with every call."""

    strength: int = 3
    role: ClassVar[str] = "baseline"
    embedded: ClassVar[bool] = True

    def edit(self, image: Image.Image, instruction: str, seed: int) -> Answer:
        return Answer(encode_png(image.point(lambda level: max(0, level - self.strength))))
'''

GREEN_HAT = """
[[program]]
id = "green-hat"
cycle = ["add a green hat", "remove the green hat"]
category = "accessories"
closes = true
reversibility = "clear"
reason = "a clear object; the hair under it has to be drawn again"
shows = "a green hat"
fits = ["face"]
"""


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


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return HouseCopy(tmp_path_factory.mktemp("house"))


def steps(house, run):
    return [
        json.loads(line)
        for path in sorted((house.work / run / "chains").glob("*/steps.jsonl"))
        for line in path.read_text().splitlines()
    ]


def test_an_editor_is_one_new_file(house):
    house.write("generation/editors/browning.py", BROWNING)
    listed = {row["name"]: row for row in json.loads(house.verb("list", "editors", "--json"))}
    assert (listed["browning"]["role"], listed["browning"]["missing"]) == ("baseline", None)
    words = ("--suite", "smoke", "--editor", "browning:strength=9")
    (planned,) = json.loads(house.verb("plan", *words, "--json"))["editors"]
    assert planned["editor"] == "browning:strength=9"
    house.verb("generate", *words, "--out", "run")
    assert {step["status"] for step in steps(house, "run")} == {"input", "ok"}
    assert store.read_checked(house.work / "run" / "editors.json") == {
        "browning:strength=9": {
            "name": "browning",
            "role": "baseline",
            "about": "Browns the picture a little with every call.",
            "planned": 0,
            "standing": "",
        }
    }


def test_a_program_is_one_new_row_and_a_line_in_a_suite(house):
    house.append("generation/programs.toml", GREEN_HAT)
    suite = house.path("generation/suites/smoke.toml")
    suite.write_text(suite.read_text().replace("programs = [", 'programs = ["green-hat", '))
    house.verb("generate", "--suite", "smoke", "--editor", "oracle", "--rounds", "1", "--out", "hats")
    asked = [step for step in steps(house, "hats") if "green hat" in step["instruction"]]
    assert [(step["instruction"], step["status"]) for step in asked] == [
        ("add a green hat", "ok"),
        ("remove the green hat", "ok"),
    ]


def vendor(server, request):
    assert (request.path, request.headers["authorization"]) == ("/edit", "Bearer sentinel-key-1234567890")
    body = request.json()
    assert isinstance(body["seed"], int)
    if "remove" in body["words"]:
        return told({"code": "forbidden", "message": "not this one"}, 400)
    if len(server.requests) == 1:
        return Reply(503)
    return told({"b64_json": base64.b64encode(picture((128, 128))).decode()})


def test_a_vendor_is_one_file_found_priced_and_asked(house, monkeypatch):
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
    done = steps(house, "paid")
    by_status = {step["status"]: step for step in done}
    assert set(by_status) == {"input", "ok", "refused"}
    assert (by_status["refused"]["reason"], by_status["refused"]["cost"]) == ("forbidden: not this one", 0.0)
    assert by_status["ok"]["details"]["model"] == "newcomer-1"
    assert {step["cost"] for step in done if step["status"] == "ok"} == {0.02}
