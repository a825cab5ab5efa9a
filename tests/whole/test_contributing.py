"""The examples of CONTRIBUTING.md work: added to a copy of the repository, they are used from plan to Space."""

import json
import os
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from convergebench import generation
from house_copy import HOUSE, HouseCopy

EDITORS = {"paint", "paint+dimmed:by=0.2", "upside:angle=90"}
TEXT = (HOUSE / "CONTRIBUTING.md").read_text()
FACTS = r"""
import json, re
import convergebench as cb
from convergebench.spaces_app.space import headline, page, served_dataset
from convergebench.spaces_app.space.chains import tab as chains
from convergebench.spaces_app.space.curves import tab as curves
from convergebench.spaces_app.studies.metrics.tab import tab as metrics
dataset = served_dataset.open_dataset("data")
files = page.page_files(dataset)
chain = chains.pick(dataset, "longest", "paint")
view = chains.chain(dataset, chain)
last = view["steps"][-1]
print(json.dumps({
    "listed": {row["name"]: row for row in [*cb.list_editors(), *cb.list_policies()]},
    "editors": [row["editor"] for row in headline.leaderboard(dataset, headline.Choice()).table.rows],
    "tabs": re.findall(r'data-tab="([\w-]+)"', files["index.html"].decode()),
    "script": "pictures/tab.js" in files,
    "viewer": [metric["title"] for metric in view["metrics"] if metric["name"] == "mean_colour"],
    "values": [last["scores"]["mean_colour"], last["retained"]["mean_colour"], *view["curves"]["mean_colour"]],
    "metrics": [row["metric"] for row in metrics.metrics(dataset, chain)],
    "choice": headline.metric_titles(dataset).get("mean_colour"),
    "drawn": [curves.metric_titles(dataset).get(name) for name in ("mean_colour", "retained mean_colour")],
    "lines": len(curves.curves(dataset, "mean_colour")["curves"]),
    "row": '<th scope="row">Mean colour</th><td>a colour cast' in files["index.html"].decode(),
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
    assert (copy.work / "report" / "first_losses.csv").read_text().count("\n") == 1 + len(losses)
    assert "Lost in the first round" in (copy.work / "report" / "tables.tex").read_text()
    page = (copy.work / "report" / "index.html").read_text()
    assert all(title in page for title in ("Lost in the first round", "What makes it last", "Mean colour"))


def test_the_metric_is_in_every_tab_of_the_space_and_the_tab_in_its_place(facts):
    assert facts["viewer"] == ["Mean colour"]
    assert None not in facts["values"]
    assert "Mean colour" in facts["metrics"]
    assert all("Mean colour" in title for title in (facts["choice"], *facts["drawn"]))
    assert facts["lines"] > 0
    assert facts["row"]
    assert facts["script"]
    assert facts["tabs"][-3:] == ["try-yours", "pictures", "labels"]


# An installed package adds an editor, a metric, a suite and a judge by its entry points

OTHERS = {
    "mine/__init__.py": "",
    "mine/mean_colour/__init__.py": "",
    "mine/suites/__init__.py": "",
    "mine/suites/shawls.toml": """
        rounds = 1
        short_side = 128
        sources = ["astronaut", "rocket"]
        [[program]]
        id = "shawl"
        cycle = ["add a shawl", "remove the shawl"]
        fits = ["face", "object", "scene"]
    """,
    "mine/editors.py": "def edit(image, instruction, seed):\n    return image\n",
    "mine/darken.py": """
def edit(ask, image, instruction, seed):
    return ask(image.point(lambda value: value // 2), instruction, seed)
""",
    "mine/judges.py": """
from dataclasses import dataclass
from convergebench.generation.records import Answer
from convergebench.metric_modules._judges.backends import BaseJudge

@dataclass(frozen=True)
class Judge(BaseJudge):
    def answer(self, shown):
        return Answer(text="no")
""",
    "mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
}
SCRIPT = """
import json, sys
import convergebench as cb
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules._judges import backends
chosen = {"metrics": ["psnr", "mean_colour"], "policies": ["darken"]}
finished = cb.run("upside", "shawls", "bench", audit=False, quiet=True, **chosen)
rows = list(Reader(finished.dataset).rows("scores"))
print(json.dumps({
    "suite": [chain.suite for chain in Reader(finished.dataset).chains()],
    "editor": [row["editor"] for row in finished.board.rows],
    "values": [row["mean_colour"] for row in rows],
    "metrics": [row["name"] for row in cb.list_metrics()],
    "judge": backends.choose("stern").label,
}))
"""


def test_a_package_adds_what_its_entry_points_name(tmp_path):
    site = tmp_path / "site"
    wanted = "".join(re.findall(r"^\[project.*\n.*\n", TEXT, re.MULTILINE))
    groups = re.findall(r'entry-points\."(.+)"\]\n(\w+) = "([\w.:]+)"', wanted)
    assert len(groups) == 5
    lines = [f"[{group}]\n{name} = {value.replace(':Editor', ':edit')}\n" for group, name, value in groups]
    files = OTHERS | {"mine-1.0.dist-info/entry_points.txt": "".join(lines)}
    for name in ("spec", "measure"):
        block = rf"```python\n# metric_modules/mean_colour/{name}.py\n(.*?)```"
        files[f"mine/mean_colour/{name}.py"] = re.search(block, TEXT, re.DOTALL)[1]
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
    told = json.loads(subprocess.check_output([sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment))
    assert set(told["suite"]) == {"shawls"}
    assert [label.partition("=")[0] for label in told["editor"]] == ["upside:version"]
    assert all(isinstance(value, float) for value in told["values"])
    assert any(told["values"])
    assert "mean_colour" in told["metrics"]
    assert told["judge"] == "stern"


# A model of another environment behind the server of docs/servers.md, asked as an editor

SERVER = HOUSE / "docs" / "edit_server.py"
MODEL = """
def edit(image, instruction, seed):
    if "glasses" in instruction:
        raise RuntimeError("no glasses here")
    return image
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    words = [sys.executable, "-I", SERVER, tmp_path / "model.py", "0", "stand-in"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def test_a_model_behind_the_example_server_is_an_editor(server, tmp_path):
    outcome = generation.generate(
        f"openai:base_url={server},model=stand-in", suite="smoke", out=tmp_path / "run", rounds=1, quiet=True
    )
    assert outcome.stopped is None
    assert outcome.ends == {"complete": 3, "failed": 1}
    told = [json.loads(line) for path in tmp_path.glob("run/chains/*/steps.jsonl") for line in path.open()]
    assert any("no glasses here" in (step.get("reason") or "") for step in told)
