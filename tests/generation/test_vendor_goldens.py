"""Every listed model's whole request is the golden that was read beside the API's documentation."""

import importlib

import pytest
from convergebench.generation.vendors import models
from vendors import chains
from vendors.goldens import check, goldens
from vendors.loopback import picture

# The models of `rest` are asked in test_editors_rest.py.
NAMES = [f"{model.vendor} {model.name}" for model in models.all_models() if model.vendor != "rest"]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_sent_its_own_parameters(tmp_path, monkeypatch, name):
    vendor, _, model = name.partition(" ")
    module, golden = importlib.import_module(f"vendors.{vendor}"), goldens()[name]
    size, script = tuple(golden["size"]), chains.script(module, picture(golden["size"]))
    more = {"model": model, **golden["options"]}
    [step, *_], requests = chains.asked(tmp_path, monkeypatch, module, script, size, **more)
    [order] = filter(module.is_order, requests)
    check(name, order, step.seed)
    assert step.status == "ok"
