"""The prices that LiteLLM's public table refreshes: read as data from a wheel, told apart from the shipped list."""

import datetime
import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from convergebench.generation import editors
from convergebench.generation.records import UserError
from convergebench.generation.vendors import models

# The rows of our vendors' models in litellm 1.109.1 (MIT), by their prices.
ROWS = json.loads((Path(__file__).parents[1] / "vendors" / "litellm_table.json").read_text())
TODAY = datetime.date.today().isoformat()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONVERGEBENCH_PRICES", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def refreshed(monkeypatch):
    """Refresh the prices from a table."""

    def refreshed(table, version="1.109.1"):
        monkeypatch.setattr(models, "_fetch", lambda: (f"litellm {version}", table))
        return CliRunner().invoke(main, ["list", "prices", "--refresh"], catch_exceptions=False)

    return refreshed


def wheel(folder: Path, table: str, version="9.9.9") -> None:
    """A wheel whose only code would leave a trace if anything of it ran."""
    about = f"litellm-{version}.dist-info"
    with zipfile.ZipFile(folder / f"litellm-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("litellm/__init__.py", f"open({str(folder / 'ran')!r}, 'w')")
        archive.writestr(models.TABLE, table)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: litellm\nVersion: {version}\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")


def test_a_refresh_reads_the_newest_wheel_and_runs_no_code(tmp_path, monkeypatch, cache):
    wheel(tmp_path, json.dumps(ROWS | {"xai/grok-imagine-image": {"input_cost_per_image": 0.05}}))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    told = CliRunner().invoke(main, ["list", "prices", "--refresh"], catch_exceptions=False)
    assert told.stdout.splitlines()[:2] == [
        f"litellm 9.9.9: 1 of the listed models changed; saved to {cache / 'prices.json'}",
        "xai grok-imagine-image: 0.02 -> 0.05",
    ]
    assert not (tmp_path / "ran").exists()
    kept = json.loads((cache / "prices.json").read_text())
    assert (kept["source"], kept["read"]) == ("litellm 9.9.9", TODAY)


@pytest.mark.parametrize("table", ["", "[]", "{"])
def test_a_table_that_cannot_be_read_changes_nothing(tmp_path, monkeypatch, cache, table):
    wheel(tmp_path, table)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(UserError, match="the prices stay as they are"):
        models.refresh()
    assert not (cache / "prices.json").exists()


@pytest.mark.parametrize("theirs", ["my prices", '{"gemini": 3}'])
def test_a_file_that_is_not_ours_is_not_overwritten(refreshed, cache, theirs):
    cache.mkdir()
    (cache / "prices.json").write_text(theirs)
    models.refreshed.cache_clear()
    told = refreshed(ROWS)
    models.refreshed.cache_clear()
    assert (told.exit_code, "prices.json" in told.output) == (2, True)
    assert (cache / "prices.json").read_text() == theirs


@pytest.mark.parametrize(
    ("version", "reason"),
    [("", "no wheel of litellm (the index does not answer)"), ("1.91.5", "litellm 1.91.5 is older than 1.109.1")],
)
def test_without_a_newer_table_the_prices_stay(refreshed, monkeypatch, cache, version, reason):
    def newest(name, ending):
        raise models.packages.Unavailable(f"no wheel of {name} (the index does not answer)")

    monkeypatch.setattr(models.packages, "from_python_index", newest)
    told = refreshed(ROWS, version) if version else CliRunner().invoke(main, ["list", "prices", "--refresh"])
    assert (told.exit_code, f"the prices stay as they are: {reason}" in told.output) == (2, True)
    assert not (cache / "prices.json").exists()


def test_the_shipped_list_agrees_with_the_table_of_its_day(refreshed):
    assert refreshed(ROWS).stdout.startswith("litellm 1.109.1: 0 of the listed models changed;")


def test_what_changed_is_told_and_holds_for_plans(refreshed):
    name = "gemini/gemini-3-pro-image"
    told = refreshed(
        ROWS | {name: ROWS[name] | {"output_cost_per_image_token": 0.0002, "deprecation_date": "2027-01-10"}}
    )
    line = "gemini gemini-3-pro-image: 1K 0.134, 2K 0.134, 4K 0.24 -> 1K 0.224, 2K 0.224, 4K 0.4, ends 2027-01-10"
    assert line in told.stdout
    assert editors.choose("gemini:model=gemini-3-pro-image,resolution=4K").editor.price() == 0.4
    warning = models.find("gemini", "gemini-3-pro-image").warning(datetime.date(2026, 12, 1))
    assert warning == "gemini-3-pro-image is shut down on 2027-01-10, in 40 days"


def test_a_model_that_the_list_does_not_have_gets_its_price(refreshed):
    refreshed(ROWS)
    assert editors.choose("openai:model=gpt-image-1.5-2025-12-16,quality=low").editor.price() == pytest.approx(
        0.073
    )
    assert models.find("openai", "gpt-image-1.5-2025-12-16").tokens == {"text": 5.0, "image": 8.0, "output": 32.0}


def test_ones_own_prices_win_over_the_refreshed_ones(refreshed, tmp_path, monkeypatch):
    refreshed(ROWS | {"dashscope/qwen-image-3.0": {"output_cost_per_image": 0.5}})
    assert editors.choose("qwen").editor.price() == 0.5
    (tmp_path / "prices.toml").write_text('[qwen]\n"qwen-image-3.0" = 0.07\n')
    monkeypatch.setenv("CONVERGEBENCH_PRICES", str(tmp_path / "prices.toml"))
    assert editors.choose("qwen").editor.price() == 0.07


def test_of_two_ends_the_earlier_is_warned_of_and_both_are_told(refreshed):
    refreshed(ROWS | {"gpt-image-1.5": ROWS["gpt-image-1.5"] | {"deprecation_date": "2027-06-01"}})
    warning = models.find("openai", "gpt-image-1.5").warning(datetime.date(2026, 11, 18))
    assert "in 13 days (the list of this package says 2026-12-01, litellm 1.109.1 says 2027-06-01);" in warning


def test_one_price_does_not_replace_those_by_quality(refreshed):
    refreshed(ROWS | {"xai/grok-imagine-image-2.0": {"input_cost_per_image": 0.001}})
    assert editors.choose("xai").editor.price() == 0.07


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), True, "0.04", None])
def test_what_is_no_price_is_left_out(refreshed, value):
    refreshed(ROWS | {"black_forest_labs/flux-kontext-pro": {"output_cost_per_image": value}})
    assert editors.choose("bfl:model=flux-kontext-pro").editor.price() == 0.04


def test_a_refresh_older_than_the_shipped_list_does_not_count(refreshed, cache):
    refreshed(ROWS | {"dashscope/qwen-image-3.0": {"output_cost_per_image": 0.5}})
    kept = json.loads((cache / "prices.json").read_text())
    (cache / "prices.json").write_text(json.dumps(kept | {"read": "2026-01-01"}))
    models.refreshed.cache_clear()
    assert editors.choose("qwen").editor.price() == 0.03


def test_prices_are_listed_with_their_source_and_its_date(refreshed):
    rows = json.loads(CliRunner().invoke(main, ["list", "prices", "--json"]).stdout)["models"]
    assert len(rows) == len(models.listed())
    assert all("read 2026-" in row["source"] for row in rows)
    refreshed(ROWS)
    told = CliRunner().invoke(main, ["list", "prices"]).stdout
    assert f"then litellm 1.109.1, read {TODAY}" in told
    assert "gpt-image-1-mini                   low 0.006, medium 0.015, high 0.052, ends 2026-12-01" in told
