"""What is published of how often the verdicts are right: one page and one card, both written by `make verdicts`."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
TITLES = (
    *("A part lost", "Wear alone", "An edit undone", "No edit was made", "Faint edits", "Blur and sharpen"),
    *("The oracle", "Real chains", "Where it breaks"),
)


def sections(text):
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def test_the_page_has_every_section_and_the_card_has_its_tables():
    found = sections((HOUSE / "docs" / "verdicts.md").read_text())
    assert [next((title for title in TITLES if name.startswith(title)), name) for name in found] == list(TITLES)
    in_words = ("Where it breaks", "The oracle")  # the oracle's table is of what it did not keep
    assert all("|" in text for name, text in found.items() if not name.startswith(in_words))
    assert re.search(r"\d+ of \d+ kept", found["The oracle, which undoes exactly"])
    card = (HOUSE / "metric_modules" / "edit_applied" / "README.md").read_text()
    first, *others = card.split("<!-- verdicts -->\n")[1].split("<!-- end -->")[0].split("\n### ")
    assert first.strip() in found[next(iter(found))]
    assert [other.split(":")[0] for other in others] == ["Applied", "Undone"]
    assert all(any(f"### {other.strip()}\n" in f"{text}\n" for text in found.values()) for other in others)


@pytest.mark.slow
def test_one_section_is_measured_anew_and_the_others_stay(tmp_path):
    from benchmarks.verdicts.__main__ import main

    page = tmp_path / "verdicts.md"
    page.write_text((HOUSE / "docs" / "verdicts.md").read_text())
    before = sections(page.read_text())
    assert main(["--photographs", "2", "--only", "Faint", "--out", str(page)]) == 0
    after = sections(page.read_text())
    assert list(after) == list(before)
    changed = [name for name in after if after[name].strip() != before[name].strip()]
    assert [name.split(":")[0] for name in changed] == ["Faint edits"]
