"""`convergebench metrics` says of every metric what it measures and what is missing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from convergebench.cli import metrics
from convergebench.cli.__main__ import main

HOUSE = Path(__file__).parent.parent


def test_every_metric_is_listed_in_the_words_of_its_card():
    rows = json.loads(CliRunner().invoke(main, ["metrics", "--json"]).output)
    assert [row["name"] for row in rows] == sorted(path.parent.name for path in HOUSE.glob("metric_modules/*/spec.py"))
    for row in rows:
        if (HOUSE / "metric_modules" / row["name"] / "README.md").exists():
            assert 20 < len(row["measures"]) <= 60, "the Hub shows 60 characters of a short_description"


def test_weights_that_are_not_there_are_named_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "lpips            " in (said := CliRunner().invoke(main, ["metrics"]).output)
    assert "needs `convergebench weights lpips`" in said


@pytest.mark.parametrize("present", [True, False])
def test_a_package_that_is_not_installed_is_named(monkeypatch, present):
    monkeypatch.setattr(metrics, "installed", lambda name: present or name != "numpy")
    assert metrics.missing(HOUSE / "metric_modules" / "psnr") == (None if present else "needs pip install numpy")
