"""The page of the three studies: its items are counted, and their commands and files are there."""

import re
from pathlib import Path

from convergebench.spaces_app.statistics import find_statistics
from verbs import invoke

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs" / "studies.md").read_text()
ROW = re.compile(r"\| (\d+) \| (.+) \| `([^`]+)` \| `([^`]+)` \| (works|partly: .+) \|")
PARTS = {part.partition("\n")[0]: ROW.findall(part) for part in PAGE.split("\n## ")[1:]}
TARGETS = set(re.findall(r"^([a-z-]+):", (HOUSE / "Makefile").read_text(), re.MULTILINE))


def test_every_item_is_counted():
    counted = {title: [int(number) for number, *_ in rows] for title, rows in PARTS.items()}
    sizes = {"The design log": 63, "Banana100": 39, "Restoration": 22}
    assert counted == {title: list(range(1, size + 1)) for title, size in sizes.items()}


def test_what_shows_an_item_is_there():
    items = [row for rows in PARTS.values() for row in rows]
    for command, file in sorted({(command, file) for _, _, command, file, _ in items}):
        if file.startswith("report/"):
            assert file.removeprefix("report/").removesuffix(".csv") in find_statistics()
        else:
            assert (HOUSE / file).is_file(), file
        verb, *words = command.split()
        if verb == "make":
            assert words[0] in TARGETS
            continue
        kind = words[:1] if verb in ("list", "publish", "sources") else []
        if "--layout" in words:
            kind = ["--layout", words[words.index("--layout") + 1]]
        told = invoke(verb, *kind, "--help")
        assert told.exit_code == 0, told.output
        for option in {*re.findall(r"--[a-z-]+", command)} - {"--layout"}:
            assert option in told.output, f"{verb} has no {option}"
