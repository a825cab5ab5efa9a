"""The results of real editors are the numbers that the published answers give."""

import csv
import runpy
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
from real_chains import FOLDER

HOUSE = Path(__file__).parents[2]
RESULTS = runpy.run_path(str(HOUSE / "docs" / "results.py"))
PAGES = {name: (HOUSE / name).read_text() for name in ("docs/results.md", "README.md")}
ROUNDS = RESULTS["SHOWN"]


def table(page, name):
    lines = PAGES[page].split(f"<!-- {name} -->\n")[1].split("\n<!-- end -->")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows[2:]}


def test_readme_and_page_say_the_same():
    assert table("README.md", "kept") == table("docs/results.md", "kept")
    short, long = table("README.md", "published"), table("docs/results.md", "ssim")
    assert short == {editor: [row[0], row[1], row[3], row[4]] for editor, row in long.items()}


@pytest.mark.skipif(not FOLDER.exists(), reason="the published answers are not beside the checkout")
def test_every_published_mean_is_that_of_the_rows():
    values, pictures = defaultdict(dict), defaultdict(set)
    with (FOLDER / "published_rounds.csv").open() as file:
        for row in csv.DictReader(file):
            key = row["model"], int(row["round"])
            values[key][row["image"], row["edit_pair"]] = float(row["ssim"]), float(row["psnr"])
            pictures[row["model"]].add(row["image"])
    names = {shown: name for name, shown in RESULTS["PUBLISHED"].items()}
    for place, (metric, digits) in enumerate((("ssim", 2), ("psnr", 1))):
        rows = table("docs/results.md", metric)
        assert set(rows) == set(names)
        for shown, cells in rows.items():
            cases = [values[names[shown], round] for round in ROUNDS]
            # The mean over tests may weigh pictures or tests; both must be within the last digit of the page's.
            found = [mean(value[place] for value in case.values()) for case in cases]
            assert [float(cell.split()[0]) for cell in cells[:-1]] == pytest.approx(found, abs=0.6 * 10**-digits)
            assert cells[-1] == f"{len(cases[0])}, {len(pictures[names[shown]])}"


def test_a_range_needs_more_than_one_picture():
    assert RESULTS["limits"]({"mean": 0.72, "mean_low": None, "mean_high": None}, "mean", ".2f") == "0.72"
    assert all("[" not in cell for cell in table("docs/results.md", "ssim")["Seedream"])
