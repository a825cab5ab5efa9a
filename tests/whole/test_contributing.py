"""The examples of CONTRIBUTING.md work: added to a copy of the repository, they are used from plan to Space."""

import json
import re

import pyarrow.parquet as pq
import pytest
from house_copy import HOUSE, HouseCopy

EDITORS = {"paint", "paint+dimmed:by=0.2", "upside:angle=90"}
TEXT = (HOUSE / "CONTRIBUTING.md").read_text()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    copy = HouseCopy(tmp_path_factory.mktemp("copy"))
    blocks = r"^```(?:python|html|js)\n(?:#|<!--|//) (\S+)[^\n]*\n(.*?)^```"
    for path, code in re.findall(blocks, TEXT, re.DOTALL | re.MULTILINE):
        assert not copy.path(path).exists(), f"{path} already exists"
        copy.path(path).parent.mkdir(exist_ok=True)
        copy.write(path, code)
    [row] = re.findall(r"^```toml\n(\[\[program.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    copy.append("generation/programs.toml", f"\n{row}")
    suite = "generation/suites/smoke.toml"
    copy.write(suite, copy.path(suite).read_text().replace("programs = [", 'programs = ["shawl", '))
    generate = "generate --suite smoke --rounds 1 --editor paint"
    copy.verbs(
        f"{generate} --editor upside:angle=90 --out runs",
        f"{generate} --policy dimmed:by=0.2 --out under",
        "build runs under --out data",
        "score data --metrics psnr,ssim,mean_colour",
        "report data --out report",
    )
    return copy


def test_every_block_of_python_is_a_file():
    assert len(re.findall(r"^```python\n# \S+\.py\n", TEXT, re.MULTILINE)) == TEXT.count("```python")


def test_the_editor_is_listed_and_ranked_by_its_role(copy):
    [listed] = [row for row in json.loads(copy.verb("list", "editors", "--json")) if row["name"] == "upside"]
    assert listed["about"] == "Rotates its input by half a turn or another angle, whatever the instruction."
    assert listed["options"] == {"angle": 180}
    rows = json.loads((copy.work / "report" / "leaderboard.json").read_text())["rows"]
    roles = {row["editor"]: row["role"] for row in rows}
    assert roles["upside:angle=90"] != roles["paint"] == "editors"


def test_the_policy_is_listed_and_compared_with_the_editor_alone(copy):
    listed = {row["name"]: row for row in json.loads(copy.verb("list", "policies", "--json"))}
    assert listed["dimmed"] == {"name": "dimmed", "about": "Dims every answer.", "options": {"by": 0.5}}
    chains = pq.read_table(copy.work / "data" / "data" / "chains").to_pylist()
    policies = {row["editor"]: row["policy"] for row in chains}
    assert (policies["paint"], policies["paint+dimmed:by=0.2"]) == ("", "dimmed:by=0.2")
    [row, *parts] = json.loads((copy.work / "report" / "tables.json").read_text())["policies"]["rows"]
    assert (row["editor"], row["policy"], row["by"]) == ("paint", "dimmed:by=0.2", "all tests")
    assert row["gained"] <= 0
    assert {part["by"].split(":")[0] for part in parts} == {"by kind", "by category"}
    words = [
        "plan",
        "--suite",
        "smoke",
        "--rounds",
        "1",
        "--editor",
        "paint",
        "--policy",
        "dimmed:by=0.2",
        "--json",
    ]
    [planned] = json.loads(copy.verb(*words))["editors"]
    assert (planned["editor"], planned["calls"]) == ("paint+dimmed:by=0.2", 2 * row["cases"])
    board = """from convergebench.spaces_app.space import headline, served_dataset
board = headline.leaderboard(served_dataset.open_dataset("data"), headline.Choice())
print(*(row["editor"] for row in board.table.rows))
"""
    assert "paint+dimmed:by=0.2" in copy.python("-c", board).split()


def test_the_program_is_planned_for_the_pictures_it_fits(copy):
    chains = pq.read_table(copy.work / "data" / "data" / "chains").to_pylist()
    assert {(row["editor"], row["source"]) for row in chains if row["program"] == "shawl"} == {
        (editor, "astronaut") for editor in EDITORS
    }


def test_the_metric_is_scored_and_explained_and_drawn(copy):
    rows = pq.read_table(copy.work / "data" / "data" / "scores").to_pylist()
    rows = [row for row in rows if row["status"] == "ok"]
    assert all(row["mean_colour"] >= 0 and row["retained_mean_colour"] is not None for row in rows)
    floors = pq.read_table(copy.work / "data" / "data" / "floors").to_pylist()
    assert "mean_colour" in {row["metric"] for row in floors}
    assert "distance of the mean colours in grey levels" in (copy.work / "data" / "README.md").read_text()


def test_the_statistic_has_its_files_and_its_place_on_the_page(copy):
    rows = json.loads((copy.work / "report" / "tables.json").read_text())["first_losses"]["rows"]
    assert {row["editor"] for row in rows} == EDITORS
    assert all(0 <= row["lost"] <= 1 for row in rows)
    page = (copy.work / "report" / "index.html").read_text()
    assert [
        title for title in ("Lost in the first round", "What makes it last", "Mean colour") if title not in page
    ] == []


def test_the_tab_is_on_the_page_of_the_space_in_its_place(copy):
    code = """
import re
from convergebench.spaces_app.space.page import page_files
from convergebench.spaces_app.space.served_dataset import open_dataset
files = page_files(open_dataset("data"))
print("pictures/tab.js" in files, *re.findall(r'data-tab="([\\w-]+)"', files["index.html"].decode()))
"""
    there, *tabs = copy.python("-c", code).split()
    assert (there, tabs[-3:]) == ("True", ["try-yours", "pictures", "labels"])
