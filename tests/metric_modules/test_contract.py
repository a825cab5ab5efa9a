"""Every metric folder is complete in itself, a new one unasked: it loads, its card's example holds, its page builds."""

import ast
import dataclasses
import json
import os
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import kept_numbers
import pytest
import yaml
from convergebench.dataset_builder.publishing import beside
from convergebench.metric_modules import scores, specs
from convergebench.metric_modules.contraction.contraction import Contraction, contraction
from convergebench.metric_modules.halflife.halflife import HalfLife, half_life
from convergebench.metric_modules.scores import Missing

HOUSE = Path(__file__).parents[2]
FOLDERS = sorted(path for path in (HOUSE / "metric_modules").iterdir() if (path / f"{path.name}.py").is_file())
every_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


OFFLINE = {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """The folders as `build` lays them beside a dataset."""
    place = tmp_path_factory.mktemp("alone")
    beside.copy_to(place / "convergebench")
    return place


@pytest.fixture(scope="module")
def alone(laid):
    """What happened to each folder in a process where convergebench cannot be imported, offline."""
    done = subprocess.run(
        [sys.executable, str(HOUSE / "tests" / "metrics_alone.py"), str(laid)],
        env={**os.environ, **OFFLINE, "HF_HOME": str(laid / "huggingface")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_evaluate_loads_every_folder_of_the_checkout(tmp_path):
    names = [folder.name for folder in FOLDERS]
    code = f"import evaluate\nfor name in {names}: assert evaluate.load(f'metric_modules/{{name}}').description, name"
    environment = {**os.environ, **OFFLINE, "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HOUSE, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


@every_folder
def test_it_works_without_convergebench(folder, alone):
    assert (alone[folder.name]["loads"], alone[folder.name]["page"]) == ("", "")
    if alone[folder.name]["example"].startswith("missing: "):
        pytest.skip(alone[folder.name]["example"])
    assert alone[folder.name]["example"] == ""


@every_folder
def test_its_card_is_a_space_and_says_what_a_reader_needs(folder):
    text = (folder / "README.md").read_text()
    _, header, body = text.split("---\n", 2)
    declared = yaml.safe_load(header)
    assert declared["sdk"] == "gradio"
    assert re.fullmatch(r"6\.\d+\.\d+", str(declared["sdk_version"]))
    assert declared["app_file"] == "app.py"
    assert set(declared["tags"]) >= {"evaluate", "metric"}
    assert len(declared.get("short_description", "")) <= 60  # the Hub refuses longer ones
    assert "```python\nimport evaluate\n" in body


@every_folder
def test_its_requirements_name_all_it_imports(folder, laid):
    lines = (folder / "requirements.txt").read_text().splitlines()
    names = {re.split(r"[<>=!~\[ ]", line)[0].lower() for line in lines}
    files = sorted((laid / "convergebench" / folder.name).glob("*.py"))
    distributions, missing = installed(), {}
    for path in files:
        # A process that accelerate launched has these two; networks.py works without torch.
        launched = {"accelerate", "torch"} if path.name in ("images.py", "networks.py") else set()
        for module in imported(path) - launched - set(sys.stdlib_module_names) - {file.stem for file in files}:
            # Of an optional package that is not installed here, the distribution may be MODULE-bin.
            carriers = {
                name.lower().replace("_", "-") for name in distributions.get(module, [module, f"{module}-bin"])
            }
            if module != "gradio" and not carriers & names:  # a Space brings the gradio its card names
                missing[module] = path.name
    assert missing == {}


installed = cache(packages_distributions)  # reads every distribution's list of files


def imported(path):
    """The top-level packages that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.split(".")[0])
    return found


CURVES = [[0.9, None, 0.4], [0.9, 0.8], [float("nan"), 0.3, 0.2]]

CASES = {
    HalfLife: (half_life, CURVES, {"rounds": [1, 2, 5], "clusters": ["a", "b", "b"]}),
    Contraction: (contraction, CURVES, {"steps": [[3, 2], [3, 1], [2, 1]]}),
}


@pytest.mark.parametrize("module", CASES, ids=lambda module: module.__name__)
def test_a_statistic_gets_missing_values_through_evaluate(module, tmp_path):
    function, values, options = CASES[module]
    expected = json.dumps(function(values, **options))  # fails on anything that is not plain JSON
    metric = module(cache_dir=str(tmp_path))
    assert json.dumps(metric.compute(predictions=values, **options)) == expected
    for value in values:
        metric.add_batch(predictions=[value])
    assert json.dumps(metric.compute(**options)) == expected


# Specs: what every metric says in its folder

SPECS = sorted(path.parent for path in (HOUSE / "metric_modules").glob("*/README.md"))


@pytest.mark.parametrize("folder", SPECS, ids=lambda folder: folder.name)
def test_a_spec_is_plain_data(folder):
    tree = ast.parse((folder / "spec.py").read_text())
    [assigned] = [node for node in tree.body if not isinstance(node, ast.Expr)]
    assert assigned.targets[0].id == "SPEC"
    given = ast.literal_eval(assigned.value)
    assert specs.specs()[given["name"]].folder == folder.name
    assert bool(given.get("columns")) == (given.get("kind") != "statistic")
    for code, (fault, sentence) in given.get("reasons", {}).items():
        assert code.isidentifier()
        assert fault in specs.FAULTS
        assert sentence


def test_the_numbers_of_every_column():
    columns = [dataclasses.asdict(column) for spec in specs.specs().values() for column in spec.columns]
    numbers = ("low", "high", "ceiling", "floor", "bfloat16_error")
    kept_numbers.check("specs", {"columns": [{name: column[name] for name in numbers} for column in columns]})


def test_specs_agree_on_their_order_and_on_reasons():
    order = list(specs.specs())
    for spec in specs.specs().values():
        assert all(order.index(name) < order.index(spec.name) for name in spec.after)
    meant = {}
    for spec in specs.specs().values():
        for code, meaning in spec.reasons.items():
            assert code not in scores.OF_THE_ENGINE
            assert meant.setdefault(code, meaning) == meaning


def test_a_missing_value_says_why_and_whose_fault_it_is():
    refused, symmetric = Missing("refused", "it would rather not"), Missing("symmetric")
    values = {"psnr": 30.0, "ssim": refused, "edit_changed": symmetric}
    row = {"reasons": scores.reasons_json(values)}
    assert json.loads(row["reasons"]) == {"edit_changed": "symmetric", "ssim": ["refused", "it would rather not"]}
    assert scores.missing_values(row) == {"ssim": refused, "edit_changed": symmetric}
    assert (refused.sentence, refused.fault) == ("refused: it would rather not", "editor")
    assert symmetric.fault == "nobody"
    not_asked = "not asked for; `convergebench score --metrics lpips` adds it"
    assert Missing("not_asked", "lpips").sentence == not_asked
    assert Missing("a code of another version").sentence == "a code of another version"
    damaged = {code for code in scores.OF_THE_ENGINE if Missing(code).is_damage}
    assert damaged == {"missing", "unreadable", "not_a_number"}


def test_a_signature_is_structured_and_prose_only_for_readers():
    signature = {"engine": {"version": 1, "size": "64x48"}, "psnr": {"version": 1, "ceiling": 100.0}}
    assert scores.signature_of({"signature": json.dumps(signature)}) == signature
    assert scores.signature_texts(signature) == ["engine/1 size=64x48", "psnr/1 ceiling=100"]
    assert scores.signature_of({"signature": "psnr/1 ceiling=100 | ssim/1"}) == {}


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"kind": "odd"}, "kind must be one of 'picture', 'round', 'statistic', got 'odd'"),
        ({"title": 3}, "title must be one of str, got 3"),
        ({"colour": "red"}, "no key 'colour'; the keys are name, title, "),
        ({"columns": [{"name": "a", "title": "A", "meaning": "a", "show": "all"}]}, "a: show must be one of"),
    ],
)
def test_a_spec_with_a_wrong_key_or_value_is_refused(tmp_path, monkeypatch, change, refusal):
    given = {"name": "odd", "title": "Odd", "kind": "picture"} | change
    module = type(sys)("convergebench.metric_modules.odd.spec")
    module.SPEC = given
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "spec.py").write_text("")
    monkeypatch.setattr(specs, "__file__", str(tmp_path / "specs.py"))
    with pytest.raises(ValueError, match=refusal):
        specs.specs.__wrapped__()
