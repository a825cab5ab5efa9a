"""What is published of how often the verdicts are right: one page and one card, both written by `make verdicts`."""

from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
TITLES = ("A part lost", "Wear alone", "An edit undone", "Real chains", "Where it breaks")


def sections(text):
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def test_the_page_has_every_section_and_the_card_its_table():
    by_title = sections((HOUSE / "docs" / "verdicts.md").read_text())
    assert [next((title for title in TITLES if name.startswith(title)), name) for name in by_title] == list(TITLES)
    assert all("|" in text for name, text in by_title.items() if name != "Where it breaks")
    card = (HOUSE / "metric_modules" / "edit_applied" / "README.md").read_text()
    table = card.split("<!-- verdicts -->\n")[1].split("<!-- end -->")[0].strip()
    assert table.count("\n") > 5
    assert table in next(iter(by_title.values()))


@pytest.mark.slow
def test_one_section_is_measured_anew_and_the_others_stay(tmp_path):
    from benchmarks.verdicts.__main__ import main

    page = tmp_path / "verdicts.md"
    page.write_text((HOUSE / "docs" / "verdicts.md").read_text())
    before = sections(page.read_text())
    assert main(["--photographs", "2", "--only", "An edit", "--out", str(page)]) == 0
    after = sections(page.read_text())
    assert list(after) == list(before)
    changed = [name for name in after if after[name].strip() != before[name].strip()]
    assert [name.split(":")[0] for name in changed] == ["An edit undone"]
