"""Edit applied and registration as their users meet them: loaded by evaluate, where convergebench is not installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from convergebench.dataset_builder.building.metric_folders import copy_metric_folders

NAMES = ("edit_applied", "registration")
VERSIONS = {"edit_applied": 4, "registration": 2}

# One process for both, because importing evaluate takes seconds.
LOADED = """
import io, json, re, sys
from pathlib import Path

sys.modules["convergebench"] = None  # any import of it fails
import evaluate
import numpy as np
from PIL import Image
from skimage import data

found = {name: {} for name in ("edit_applied", "registration")}
for name in found:
    card = Path("convergebench", name, "README.md").read_text("utf-8")
    examples = re.findall(r"```python\\n(.*?)```", card, re.S)
    for code in examples:
        exec(compile(code, name, "exec"), {})
    found[name]["assertions"] = sum(code.count("assert ") for code in examples)

photo = data.astronaut()
file = io.BytesIO()
Image.fromarray(photo).save(file, "JPEG", quality=20)
opened = Image.open(file)
exact = np.asarray(Image.open(file))
balled = exact.copy()
balled[60:160, 300:400] = (220, 30, 40)

def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)

for name, columns, options in (
    ("edit_applied", [("predictions", [balled, opened]), ("references", [opened, exact]), ("returns", [exact, opened])],
     {"small": True}),
    ("registration", [("predictions", [opened, photo]), ("references", [exact, photo[::-1]])], {}),
):
    metric = evaluate.load(f"convergebench/{name}")
    rows = dict(columns)
    found[name]["whole"] = metric.compute(**rows, **options)
    for n in range(2):
        metric.add_batch(**{column: values[n:n + 1] for column, values in rows.items()})
    found[name]["batches"] = metric.compute(**options)
    first = {column: values[0] for column, values in rows.items()}
    metric.add(prediction=first.pop("predictions"), reference=first.pop("references"), **first)
    found[name]["added"] = metric.compute(**options)
    floats = rows | {"predictions": [values.astype("float64") for values in (exact, photo)]}
    found[name]["refused"] = [
        refused(lambda: evaluate.load(f"convergebench/{name}").compute(**floats)),
        refused(lambda: evaluate.load(f"convergebench/{name}").compute(**{column: [] for column in rows})),
        refused(lambda: evaluate.load(f"convergebench/{name}").compute(**rows | {"references": [photo]})),
    ]

metric = evaluate.load("convergebench/edit_applied")
flipped = [exact[:, ::-1]]
found["edit_applied"]["flip"] = metric.compute(
    predictions=flipped, references=[exact], returns=[exact], cycle=["flip horizontally", "flip it back"])
found["edit_applied"]["cycle"] = refused(lambda: metric.compute(
    predictions=flipped, references=[exact], returns=[exact], cycle="flip"))
found["edit_applied"]["meaning"] = refused(lambda: evaluate.load("convergebench/edit_applied").compute(
    predictions=flipped, references=[exact], returns=[exact], meaning=[[0.1, 0.2]]))
Path("found.json").write_text(json.dumps(found))
"""

PAGES = """
import json, runpy, sys
from pathlib import Path

sys.modules["convergebench"] = None
found = {}
for name in ("edit_applied", "registration"):
    sys.path.insert(0, f"convergebench/{name}")
    page = runpy.run_path(f"convergebench/{name}/app.py")
    words = ["add a red ball", "remove the red ball", False] if name == "edit_applied" else []
    found[name] = page["demo"].fns[0].fn(*page["example"](), *words)[0]
Path("found.json").write_text(json.dumps(found))
"""


def run(program: str, place: Path) -> dict:
    """What a process finds that has the metric folders beside it and nothing of ours installed."""
    copy_metric_folders(place / "convergebench")
    offline = {"HF_HOME": str(place / "cache"), "HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    subprocess.run([sys.executable, "-c", program], cwd=place, env=os.environ | offline, check=True, timeout=180)
    return json.loads((place / "found.json").read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    return run(LOADED, tmp_path_factory.mktemp("user"))


@pytest.mark.parametrize("name", NAMES)
def test_evaluate_loads_it_and_the_example_on_its_card_holds(found, name):
    assert found[name]["assertions"] >= 3


@pytest.mark.parametrize("name", NAMES)
def test_batches_give_what_one_call_gives(found, name):
    assert found[name]["whole"] == found[name]["batches"]
    assert found[name]["whole"]["signature"].startswith(f"{name}/{VERSIONS[name]} ")


def test_pictures_opened_from_jpeg_are_taken_as_they_are(found):
    assert found["registration"]["added"]["psnr"] == 100
    assert found["registration"]["whole"]["psnr_values"] == [100, None]
    assert found["edit_applied"]["whole"]["undo_ratio_values"] == [0, None]


def test_a_mean_leaves_out_what_is_null_and_every_null_has_its_reason(found):
    whole = found["edit_applied"]["whole"]
    assert (whole["applied"], whole["undone"]) == (0.5, 1)
    assert set(whole["reasons"][1]) == {"undone", "undo_ratio", "undo_explained"}
    shift = found["registration"]["whole"]
    assert shift["scale"] == shift["scale_values"][0]
    assert set(shift["reasons"][1]) >= {"shift_x", "shift_y", "scale", "psnr", "ssim"}


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused_in_a_sentence(found, name):
    floats, empty, unequal = found[name]["refused"]
    assert "prediction 0" in floats
    assert "uint8" in floats
    assert "empty" in empty
    assert "as many" in unequal


def test_edit_applied_knows_its_options(found):
    flip = found["edit_applied"]["flip"]
    assert (flip["applied"], flip["undone"], flip["region_share"]) == (1, 1, None)
    assert found["edit_applied"]["cycle"].startswith("cycle is 'flip'; give two instructions")
    assert "three numbers for each example" in found["edit_applied"]["meaning"]


@pytest.mark.slow
def test_every_page_measures_its_own_example(tmp_path):
    pytest.importorskip("gradio", reason="the modules' pages need pip install 'convergebench[space]'")
    pages = run(PAGES, tmp_path)
    assert pages["edit_applied"] == "## Applied: yes · Undone: yes"
    assert pages["registration"].startswith("## Moved 9.0 px right, 4.0 px up, scale 1.000")
