"""What is published of how often the verdicts are right: one page and one card, both written by `make verdicts`."""

from pathlib import Path

import pytest
from benchmarks.verdicts import labelled
from benchmarks.verdicts.__main__ import autoencoders_section, main, rounds_section, words_section
from convergebench.metric_modules.lpips import weights

HOUSE = Path(__file__).parents[2]


def sections(text):
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def test_the_card_has_the_table_of_the_page():
    card = (HOUSE / "metric_modules" / "edit_applied" / "README.md").read_text()
    table = card.split("<!-- verdicts -->\n")[1].split("<!-- end -->")[0].strip()
    assert table.count("\n") > 5
    by_title = sections((HOUSE / "docs" / "verdicts.md").read_text())
    assert table in next(text for name, text in by_title.items() if name.startswith("Did something"))


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.skipif(not labelled.LABELS.is_dir(), reason="the labelled rounds are not beside the checkout")
@pytest.mark.skipif(not weights.weights_file("alex").is_file(), reason="the weights of LPIPS are not here")
@pytest.mark.parametrize("section", [rounds_section, autoencoders_section, words_section])
def test_the_numbers_of_the_labelled_rounds_come_out_again(section):
    page = (HOUSE / "docs" / "verdicts.md").read_text()
    assert section().strip() in page


@pytest.mark.slow
def test_one_section_is_measured_anew_and_the_others_stay(tmp_path):
    page = tmp_path / "verdicts.md"
    page.write_text((HOUSE / "docs" / "verdicts.md").read_text())
    before = sections(page.read_text())
    assert main(["--photographs", "2", "--only", "An edit", "--out", str(page)]) == 0
    after = sections(page.read_text())
    assert list(after) == list(before)
    changed = [name for name in after if after[name].strip() != before[name].strip()]
    assert {name.split(":")[0] for name in changed} <= {"An edit undone"}
