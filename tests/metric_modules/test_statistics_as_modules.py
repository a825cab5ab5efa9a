"""The statistics modules through evaluate: missing values arrive as missing, batches agree, all of it is JSON."""

import doctest
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from convergebench.metric_modules.contraction.contraction import Contraction, contraction
from convergebench.metric_modules.halflife.halflife import HalfLife, half_life
from convergebench.metric_modules.nr_gap.nr_gap import NrGap, nr_gap
from convergebench.metric_modules.retained.retained import Retained, retained
from convergebench.metric_modules.stability.stability import Stability, stability

ROOT = Path(__file__).parents[2]
NAMES = ("halflife", "contraction", "stability", "nr_gap", "retained")
CURVES = [[0.9, None, 0.4], [0.9, 0.8], [float("nan"), 0.3, 0.2]]
FLOORS = {"a": {"lpips": 0.5}, "b": {"lpips": 0.8}}

CASES: dict[Any, tuple[Any, list, dict]] = {
    HalfLife: (half_life, [CURVES], {"rounds": [1, 2, 5], "clusters": ["a", "b", "b"]}),
    Contraction: (contraction, [CURVES], {"steps": [[3, 2], [3, 1], [2, 1]]}),
    Stability: (stability, [[[1, 2, 3], [2, 1, 3], [1, None, 2]]], {}),
    NrGap: (nr_gap, [[[50, 40, None, 30], [9, 8, 7, 6]]], {"metrics": ["MUSIQ", "NIMA"], "images": ["x", "x"]}),
    Retained: (retained, [[0.1, None, 0.2], ["a", "a", "b"]], {"metric": "lpips", "floors": FLOORS}),
}


@pytest.mark.parametrize("module", CASES, ids=lambda module: module.__name__)
def test_evaluate_hands_on_what_it_was_given_at_once_and_in_batches(module, tmp_path):
    function, columns, options = CASES[module]
    named = dict(zip(("predictions", "references"), columns, strict=False))
    expected = json.dumps(function(*columns, **options))  # fails on anything that is not plain JSON
    metric = module(cache_dir=str(tmp_path))
    assert json.dumps(metric.compute(**named, **options)) == expected
    for number in range(len(columns[0])):
        metric.add_batch(**{name: values[number : number + 1] for name, values in named.items()})
    assert json.dumps(metric.compute(**options)) == expected


FILES = [path for name in NAMES for path in sorted((ROOT / "metric_modules" / name).glob("*.py")) if path.stem != "app"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_examples_in_its_code_hold(path):
    module = importlib.import_module(f"convergebench.metric_modules.{path.parent.name}.{path.stem}")
    assert doctest.testmod(module).failed == 0
    assert module.__doc__


# A page shows its example when it opens: the same function is called with what stands in its inputs.
PAGES = """
import json, runpy, sys

found = {}
for name in sys.argv[1:]:
    shown = runpy.run_path(f"metric_modules/{name}/app.py")["demo"].fns[0]
    found[name] = shown.fn(*[component.value for component in shown.inputs])[0]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_every_page_measures_its_own_example(tmp_path):
    pytest.importorskip("gradio", reason="the modules' pages need pip install 'convergebench[space]'")
    offline = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    command = [sys.executable, "-c", PAGES, *NAMES]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | offline, check=True, capture_output=True, timeout=180)
    found = json.loads(done.stdout.splitlines()[-1])
    assert sorted(found) == sorted(NAMES)
    for name, headline in found.items():
        assert len(headline) > 10, name
        assert "None" not in headline, name
