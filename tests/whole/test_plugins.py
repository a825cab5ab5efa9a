"""An installed package adds an editor, a metric, a suite and a judge by its entry points."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from convergebench import generation

HOUSE = Path(__file__).parents[2]
CONTRIBUTING = (HOUSE / "CONTRIBUTING.md").read_text()
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
    wanted = "".join(re.findall(r"^\[project.*\n.*\n", CONTRIBUTING, re.MULTILINE))
    groups = re.findall(r'entry-points\."(.+)"\]\n(\w+) = "([\w.:]+)"', wanted)
    assert len(groups) == 5
    lines = [f"[{group}]\n{name} = {value.replace(':Editor', ':edit')}\n" for group, name, value in groups]
    files = OTHERS | {"mine-1.0.dist-info/entry_points.txt": "".join(lines)}
    for name in ("spec", "measure"):
        block = rf"```python\n# metric_modules/mean_colour/{name}.py\n(.*?)```"
        files[f"mine/mean_colour/{name}.py"] = re.search(block, CONTRIBUTING, re.DOTALL)[1]
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
