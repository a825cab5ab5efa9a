"""The statistics modules as their users meet them: loaded by evaluate, where convergebench is not installed."""

import doctest
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("halflife", "contraction", "stability", "nr_gap", "retained")

# One process for all of them, because importing evaluate takes seconds.
LOADED = """
import contextlib, io, json, re, sys
from pathlib import Path

sys.modules["convergebench"] = None  # any import of it fails
import evaluate

def batches(metric, batch, options):
    for chain in batch:
        metric.add_batch(**{name: [value] for name, value in chain.items()})
    return metric.compute(**options)

found = {"from_checkout": {}, "examples": {}, "batches": {}}
for name in sys.argv[2:]:
    found["from_checkout"][name] = evaluate.load(f"metric_modules/{name}").name
    card = Path("convergebench", name, "README.md").read_text("utf-8")
    for code in re.findall(r"```python\\n(.*?)```", card, re.S):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), {})
        found["examples"].setdefault(name, []).append([re.findall(r"print\\(.*\\)  # (.*)", code), printed.getvalue()])

CURVES = [[0.9, None, 0.4], [0.9, 0.8], [float("nan"), 0.3, 0.2]]
CASES = {
    "halflife": ([{"predictions": each} for each in CURVES], {"rounds": [1, 2, 5], "clusters": ["a", "b", "b"]}),
    "contraction": ([{"predictions": each} for each in CURVES], {"steps": [[3, 2], [3, 1], [2, 1]]}),
    "stability": ([{"predictions": each} for each in ([1, 2, 3], [2, 1, 3], [1, None, 2])], {}),
    "nr_gap": ([{"predictions": [50, 40, None, 30]}, {"predictions": [9, 8, 7, 6]}],
               {"metrics": ["MUSIQ", "NIMA"], "images": ["x", "x"]}),
    "retained": ([{"predictions": v, "references": r} for v, r in ((0.1, "a"), (None, "a"), (0.2, "b"))],
                 {"metric": "lpips", "floors": {"a": {"lpips": 0.5}, "b": {"lpips": 0.8}}}),
}
for name in sys.argv[2:]:
    rows, options = CASES[name]
    metric = evaluate.load(f"convergebench/{name}")
    whole = metric.compute(**{key: [row[key] for row in rows] for key in rows[0]}, **options)
    found["batches"][name] = [whole, batches(metric, rows, options)]
    try:
        json.dumps(whole)
    except TypeError as error:
        found["batches"][name] = str(error)
Path(sys.argv[1]).write_text(json.dumps(found))
"""

# A page shows its example when it opens: the same function is called with what stands in its inputs.
PAGES = """
import json, runpy, sys
from pathlib import Path

sys.modules["convergebench"] = None
found = {}
for name in sys.argv[2:]:
    page = runpy.run_path(f"convergebench/{name}/app.py")
    shown = page["demo"].fns[0]
    found[name] = page["measure"](*[each.value for each in shown.inputs])[0]
Path(sys.argv[1]).write_text(json.dumps(found))
"""


def run(program: str, place: Path) -> dict:
    """What a process finds that has the metric folders beside it and nothing of ours installed."""
    (place / "metric_modules").symlink_to(ROOT / "metric_modules")
    for name in NAMES:
        shutil.copytree(ROOT / "metric_modules" / name, place / "convergebench" / name)
    offline = {"HF_HOME": str(place / "cache"), "HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    command = [sys.executable, "-c", program, "found.json", *NAMES]
    subprocess.run(command, cwd=place, env=os.environ | offline, check=True, timeout=180)
    return json.loads((place / "found.json").read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    return run(LOADED, tmp_path_factory.mktemp("user"))


@pytest.mark.parametrize("name", NAMES)
def test_evaluate_loads_it_from_the_checkout_and_beside_a_dataset(found, name):
    assert name in found["from_checkout"]
    assert name in found["batches"]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_on_its_card_holds(found, name):
    examples = found["examples"][name]
    assert sum(len(expected) for expected, _ in examples) >= 2
    for expected, printed in examples:
        assert printed.splitlines() == expected


@pytest.mark.parametrize("name", NAMES)
def test_batches_give_what_one_call_gives_and_all_of_it_is_json(found, name):
    whole, batched = found["batches"][name]
    assert whole == batched


@pytest.mark.slow
def test_every_page_measures_its_own_example(tmp_path):
    pytest.importorskip("gradio", reason="the modules' pages need pip install 'convergebench[space]'")
    for name, headline in run(PAGES, tmp_path).items():
        assert len(headline) > 10, name
        assert "None" not in headline, name


FILES = [path for name in NAMES for path in sorted((ROOT / "metric_modules" / name).glob("*.py")) if path.stem != "app"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_examples_in_its_code_hold(path):
    module = importlib.import_module(f"convergebench.metric_modules.{path.parent.name}.{path.stem}")
    assert doctest.testmod(module).failed == 0
    assert module.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_its_card_is_a_space(name):
    card = (ROOT / "metric_modules" / name / "README.md").read_text("utf-8")
    header = card.split("---")[1]
    for needed in ("title:", "sdk: gradio", "sdk_version: 6.", "app_file: app.py", "- evaluate\n- metric"):
        assert needed in header
    for section in ("## Formula", "## Limits", "## Citation"):
        assert section in card
    assert re.search(r"(higher|lower) is|below 1 it contracts|success", card, re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_its_requirements_name_everything_it_imports(name):
    folder = ROOT / "metric_modules" / name
    required = {re.split(r"[<>=]", line)[0] for line in (folder / "requirements.txt").read_text().split()}
    imported = set()
    for file in folder.glob("*.py"):
        imported |= set(re.findall(r"^\s*(?:import|from) ([a-z_]+)", file.read_text("utf-8"), re.MULTILINE))
    assert imported - set(sys.stdlib_module_names) == required
