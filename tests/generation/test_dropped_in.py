"""A new editor is one file; a new program is one row and its line in a suite. Both are dropped into a copy and run."""

import json

import pytest
from convergebench.generation import store
from house_copy import HouseCopy

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
