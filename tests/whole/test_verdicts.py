"""What is published of how often the verdicts are right: one page and one card, both written by `make verdicts`."""

from pathlib import Path

import pytest
from benchmarks.verdicts import labelled
from benchmarks.verdicts.__main__ import autoencoders_section, rounds_section, words_section
from convergebench.metric_modules.lpips import weights

HOUSE = Path(__file__).parents[2]


def test_the_card_has_the_table_of_the_page():
    card = (HOUSE / "metric_modules" / "edit_applied" / "README.md").read_text()
    table = card.split("<!-- verdicts -->\n")[1].split("<!-- end -->")[0].strip()
    assert table.count("\n") > 5
    page = (HOUSE / "docs" / "verdicts.md").read_text()
    assert table in next(part for part in page.split("\n## ") if part.startswith("Did something"))


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.skipif(not labelled.LABELS.is_dir(), reason="the labelled rounds are not beside the checkout")
@pytest.mark.skipif(not weights.weights_file("alex").is_file(), reason="the weights of LPIPS are not here")
@pytest.mark.parametrize("section", [rounds_section, autoencoders_section, words_section])
def test_the_numbers_of_the_labelled_rounds_come_out_again(section):
    page = (HOUSE / "docs" / "verdicts.md").read_text()
    assert section().strip() in page
