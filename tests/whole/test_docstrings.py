"""The examples in docstrings are right; those of the functions of `cb` are run in test_run.py."""

import doctest
import importlib

import pytest
from size import HOUSE, files_of

ROOMS = ("cli/", "dataset_builder/", "generation/", "metric_modules/", "spaces_app/")
TEXTS = {name: (HOUSE / name).read_text(encoding="utf-8") for name in files_of(*ROOMS)}
FILES = [name for name, text in TEXTS.items() if ">>> " in text and "convergebench as cb" not in text]


@pytest.mark.parametrize("file", FILES)
def test_the_examples_are_right(file):
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    results = doctest.testmod(importlib.import_module(f"convergebench.{name}"))
    assert results.attempted > 0
    assert results.failed == 0
