"""The examples of CONTRIBUTING.md work: added to a copy of the repository, they are used from plan to Space."""

import json
import re

import pyarrow.parquet as pq
import pytest
from house_copy import HOUSE, HouseCopy

EDITORS = {"paint", "paint+dimmed:by=0.2", "upside:angle=90"}
TEXT = (HOUSE / "CONTRIBUTING.md").read_text()
FACTS = r"""
import json, re
import convergebench as cb
from convergebench.spaces_app.space import headline, page, served_dataset
dataset = served_dataset.open_dataset("data")
files = page.page_files(dataset)
print(json.dumps({
    "listed": {row["name"]: row for row in [*cb.list_editors(), *cb.list_policies()]},
    "editors": [row["editor"] for row in headline.leaderboard(dataset, headline.Choice()).table.rows],
    "tabs": re.findall(r'data-tab="([\w-]+)"', files["index.html"].decode()),
    "script": "pictures/tab.js" in files,
}))
"""


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


@pytest.fixture(scope="module")
def facts(copy):
    return json.loads(copy.python("-c", FACTS))


def read(copy, config):
    return pq.read_table(copy.work / "data" / "data" / config).to_pylist()


def table(copy, name):
    return json.loads((copy.work / "report" / "tables.json").read_text())[name]["rows"]


def test_every_block_of_python_is_a_file():
    assert len(re.findall(r"^```python\n# \S+\.py\n", TEXT, re.MULTILINE)) == TEXT.count("```python")


def test_the_editor_is_listed_and_ranked_by_its_role(copy, facts):
    listed = facts["listed"]["upside"]
    assert listed["about"] == "Rotates its input by half a turn or another angle, whatever the instruction."
    assert listed["options"] == {"angle": 180}
    roles = {row["editor"]: row["role"] for row in table(copy, "leaderboard")}
    assert roles["upside:angle=90"] != roles["paint"] == "editors"


def test_the_policy_is_listed_and_compared_with_the_editor_alone(copy, facts):
    assert facts["listed"]["dimmed"] == {"name": "dimmed", "about": "Dims every answer.", "options": {"by": 0.5}}
    policies = {row["editor"]: row["policy"] for row in read(copy, "chains")}
    assert (policies["paint"], policies["paint+dimmed:by=0.2"]) == ("", "dimmed:by=0.2")
    [row, *parts] = table(copy, "policies")
    assert (row["editor"], row["policy"], row["by"]) == ("paint", "dimmed:by=0.2", "all tests")
    assert row["gained"] <= 0
    assert {part["by"].split(":")[0] for part in parts} == {"by kind", "by category"}
    assert "paint+dimmed:by=0.2" in facts["editors"]


def test_the_program_is_planned_for_the_pictures_it_fits(copy):
    made = {(row["editor"], row["source"]) for row in read(copy, "chains") if row["program"] == "shawl"}
    assert made == {(editor, "astronaut") for editor in EDITORS}


def test_the_metric_and_the_statistic_are_in_dataset_and_report(copy):
    rows = [row for row in read(copy, "scores") if row["status"] == "ok"]
    assert all(row["mean_colour"] >= 0 and row["retained_mean_colour"] is not None for row in rows)
    assert "mean_colour" in {row["metric"] for row in read(copy, "floors")}
    assert "distance of the mean colours in grey levels" in (copy.work / "data" / "README.md").read_text()
    losses = table(copy, "first_losses")
    assert {row["editor"] for row in losses} == EDITORS
    assert all(0 <= row["lost"] <= 1 for row in losses)
    page = (copy.work / "report" / "index.html").read_text()
    assert all(title in page for title in ("Lost in the first round", "What makes it last", "Mean colour"))


def test_the_tab_is_on_the_page_of_the_space_in_its_place(facts):
    assert (facts["script"], facts["tabs"][-3:]) == (True, ["try-yours", "pictures", "labels"])
