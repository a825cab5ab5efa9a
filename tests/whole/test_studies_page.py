"""The page of the three studies: its counts, its commands and its files are there."""

import re
from pathlib import Path

import pytest
from convergebench.spaces_app.statistics import find_statistics
from verbs import invoke

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs" / "studies.md").read_text()
ROW = re.compile(r"\| (\d+) \| (.+) \| `([^`]+)` \| `([^`]+)` \| (works|partly: .+) \|")
PARTS = {part.partition("\n")[0]: ROW.findall(part) for part in PAGE.split("\n## ")[1:]}
ITEMS = [row for rows in PARTS.values() for row in rows]
TARGETS = set(re.findall(r"^([a-z-]+):", (HOUSE / "Makefile").read_text(), re.MULTILINE))


def test_every_item_is_counted():
    assert {title: len(rows) for title, rows in PARTS.items()} == {
        "The design log": 63,
        "Banana100": 39,
        "Restoration": 22,
    }
    for rows in PARTS.values():
        assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1))
    counts = re.findall(r"\| (\d+) \| (\d+) \| (\d+) \|\n", PAGE)
    partly = [sum(state != "works" for *_, state in rows) for rows in PARTS.values()]
    assert [tuple(map(int, row)) for row in counts] == [
        (len(rows), len(rows) - few, few) for rows, few in zip(PARTS.values(), partly, strict=True)
    ]
    assert sum(partly) <= 8


@pytest.mark.parametrize(("command", "file"), sorted({(command, file) for _, _, command, file, _ in ITEMS}))
def test_what_shows_an_item_is_there(command, file):
    if file.startswith("report/"):
        assert file.removeprefix("report/").removesuffix(".csv") in find_statistics()
    else:
        assert (HOUSE / file).is_file()
    if command.startswith("make "):
        assert command.split()[1] in TARGETS
        return
    verb, *words = command.split()
    if verb in ("list", "publish", "sources") or "--layout" in words:
        verb = (
            [verb, words[0]] if verb != "import" else ["import", "--layout", words[words.index("--layout") + 1]]
        )
    told = invoke(*([verb] if isinstance(verb, str) else verb), "--help")
    assert told.exit_code == 0, told.output
    for option in re.findall(r"--[a-z-]+", command):
        assert option == "--layout" or option in told.output, f"{verb} has no {option}"
