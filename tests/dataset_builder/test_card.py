"""The card's counts, columns and code are those of the files it lies beside."""

import re
from dataclasses import replace

import datasets
import pytest
import stores
import yaml
from convergebench.dataset_builder.building import build as building
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.columns import Column
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import CHAINS, configs
from convergebench.metric_modules.scores import SCORES


@pytest.fixture
def folder(tmp_path):
    stores.keep(tmp_path / "run", stores.chain())
    stores.keep(tmp_path / "run", stores.chain("paint"), ends="refused")
    return stores.built(tmp_path / "convergebench", tmp_path / "run")


def read(folder):
    _, head, body = (folder / "README.md").read_text().split("---\n", 2)
    return yaml.safe_load(head), body


def shown(folder):
    """The card without its list of files."""
    return (folder / "README.md").read_text().partition("\n<!-- convergebench files")[0]


def add_scores(folder, *columns, rows=3):
    config = replace(SCORES, columns=(*SCORES.columns, *columns))
    empty = {column.name: None for column in config.columns}
    schema.write(folder / "data/scores/0000.parquet", config, [empty] * rows, folder)


def test_counts_and_features_are_those_of_the_files(folder):
    for info in read(folder)[0]["dataset_info"]:
        files = list((folder / "data" / info["config_name"]).rglob("*.parquet"))
        assert info["splits"][0]["num_examples"] == sum(schema.pq.read_metadata(file).num_rows for file in files)
        assert info["download_size"] == sum(file.stat().st_size for file in files)
        features = datasets.Features.from_arrow_schema(schema.pq.read_schema(files[0]))
        assert info["features"] == features._to_yaml_list()
    meta, body = read(folder)
    assert "2 chains of 2 editors on 1 source picture: 10 steps, 9 pictures" in body
    assert "| `source-1` | Noise | face | real | CC0-1.0 | Nobody \\| Noone |" in body
    assert meta["license"] == ["cc0-1.0"]
    assert "{{" not in body.replace("{{\\url", "")


def test_the_digest_changes_with_the_files_alone(folder):
    def digests():
        hashes = {config["config_name"]: config["description"][-64:] for config in read(folder)[0]["configs"]}
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes.values())
        return hashes

    before = digests()
    card.write(folder, configs())
    assert digests() == before
    rows = [{**row, "cost": 7.0} for row in Reader(folder).rows("chains")]
    schema.write(folder / "data/chains/0000.parquet", CHAINS, rows, folder)
    card.write(folder, configs())
    assert digests()["chains"] != before["chains"]
    assert digests()["steps"] == before["steps"]


def test_every_column_is_explained_as_the_schema_says(folder):
    add_scores(folder, Column("niqe", "float64", "naturalness, lower is better"))
    card.write(folder, configs())
    meta, body = read(folder)
    names = ["steps", "chains", "sources", "editors", "scores"]
    assert [config["config_name"] for config in meta["configs"]] == names
    assert meta["configs"][0]["default"] is True
    assert f"One row is {SCORES.row}: 3 rows in 1 file, " in body
    for name in names:
        config = (configs() | {"scores": SCORES})[name]
        section = re.search(rf"### {name}\n\n.*?\n\n(.*?)\n\n", body, re.DOTALL)[1]
        rows = [line.strip("|").split(" | ") for line in section.splitlines()[2:]]
        explained = [(row[0].strip(" `"), row[2].strip()) for row in rows][: len(config.columns)]
        assert explained == [(column.name, column.meaning) for column in config.columns]
    assert "| `niqe` | float64 | naturalness, lower is better |" in body


def test_the_code_in_the_card_runs_on_a_local_copy(folder, tmp_path, monkeypatch):
    """`filters` alone would fail: fewer rows come than the card counts."""
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    blocks = re.findall(r"```python\n(.*?)```", read(folder)[1], re.DOTALL)
    names = {}
    for block in blocks:
        exec(block.replace(card.REPO, "convergebench"), names)  # noqa: S102 - the card's own code is what is tested
    assert names["steps"].num_rows == 10
    calls = [line for block in blocks for line in block.splitlines() if line.startswith("load_dataset")]
    for call in calls:
        alone = eval(call.replace(card.REPO, "convergebench"), names)  # noqa: S307
        assert set(alone["editor"]) == {"jpeg:quality=40"}
        assert alone.num_rows == 5
    assert len(calls) == 2


def test_published_versions_survive_the_next_build(folder):
    path = folder / "README.md"
    path.write_text(path.read_text().replace(card.NOT_PUBLISHED, "### v1.0.0\n\nThe first."))
    card.write(folder, configs())
    assert "### v1.0.0\n\nThe first.\n\n## Cite" in path.read_text()


def test_the_card_is_the_last_file_written(folder, tmp_path, monkeypatch):
    """A build that dies before its end leaves the card of the data before, never a new card on half of the data."""
    before = shown(folder)
    stores.keep(tmp_path / "run", stores.chain(run=2))
    seen = []
    swap = building._replace_files

    def watched(*arguments):
        swap(*arguments)
        seen.append(shown(folder))

    monkeypatch.setattr(building, "_replace_files", watched)
    stores.built(folder, tmp_path / "run")
    assert seen == [before]
    assert shown(folder) != before
    assert (folder / "README.md").stat().st_mtime_ns >= max(
        p.stat().st_mtime_ns for p in folder.rglob("*.parquet")
    )


def test_names_and_words_of_others_are_text_in_the_card(tmp_path):
    hostile = "<img src=x onerror=alert(1)>"
    base = stores.chain(f"pai`{hostile}")
    source = replace(base.source, title=f"![x](http://a.b) {hostile}", attribution=f"`{hostile}`")
    program = replace(base.program, cycle=(f"add {hostile} | `", f"remove {hostile}"))
    stores.keep(tmp_path / "run", replace(base, source=source, program=program))
    stores.built(tmp_path / "convergebench", tmp_path / "run")
    _, body = read(tmp_path / "convergebench")
    outside_code = re.sub("`[^`\n]*`", "", re.sub("```.*?\n```", "", body, flags=re.DOTALL))
    assert "<img" not in outside_code
    assert "![x]" not in outside_code
    assert "&lt;img src=x onerror=alert(1)&gt;" in outside_code
