"""Chains become a dataset that loads, to the byte the same each time, with a card of its counts, columns and code."""

import io
import re
import shutil
from dataclasses import replace

import datasets
import numpy as np
import pytest
import stores
import yaml
from convergebench.dataset_builder.building import build as building
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.building.card import editor_folders
from convergebench.dataset_builder.dataset import manifest, schema
from convergebench.dataset_builder.dataset.columns import Column
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import CHAINS, STEPS, configs
from convergebench.dataset_builder.publishing import beside
from convergebench.generation import store_reader
from convergebench.generation.files import locked
from convergebench.generation.records import UserError
from convergebench.metric_modules.scores import SCORES
from counting import digest
from house_copy import HOUSE
from hub_fixtures import score
from PIL import Image


def build(out, *runs):
    return building.build(store_reader.find_finished(runs), out)


def load(folder, cache, *config, **options):
    return datasets.load_dataset(str(folder), *config, split="test", cache_dir=str(cache), **options)


@pytest.fixture
def run(tmp_path):
    for seed in (1, 2):
        stores.keep(tmp_path / "run", stores.chain(seed=seed), kinds=("png", "jpg", "webp"))
        stores.keep(tmp_path / "run", stores.chain("paint", seed), ends="refused")
    return tmp_path / "run"


def test_the_dataset_loads_with_a_row_per_step_and_every_config(run, tmp_path):
    calls = []
    finished = store_reader.find_finished([run])
    built = building.build(finished, tmp_path / "convergebench", lambda: calls.append(1))
    assert (built.chains, built.steps, built.sources, len(calls)) == (4, 20, 2, 20)
    everything = datasets.load_dataset(str(tmp_path / "convergebench"), cache_dir=str(tmp_path / "cache"))
    assert list(everything) == ["test"]
    steps = everything["test"]
    assert steps.num_rows == 20
    assert steps.column_names == [column.name for column in STEPS.columns]
    assert load(tmp_path / "convergebench", tmp_path / "cache", "chains").num_rows == 4
    assert load(tmp_path / "convergebench", tmp_path / "cache", "sources")["source"] == ["source-1", "source-2"]
    first = steps.filter(lambda row: row["chain"] == steps[0]["chain"])
    assert list(first["step"]) == [*range(5)]


def test_pictures_are_the_stored_bytes_of_every_type(run, tmp_path):
    build(tmp_path / "convergebench", run)
    decoded = load(tmp_path / "convergebench", tmp_path / "cache")
    raw = decoded.cast_column("image", datasets.Image(decode=False))
    streamed = load(tmp_path / "convergebench", tmp_path / "cache", streaming=True)
    seen = set()
    for row, bare, flowing in zip(decoded, raw, streamed, strict=True):
        if row["image"] is None:
            assert (row["status"], row["reason"], row["sha256"]) == ("refused", "it would not", None)
            assert flowing["image"] is None
            continue
        received = (run / "chains" / row["chain"] / bare["image"]["path"]).read_bytes()
        assert bare["image"]["bytes"] == received
        pixels = np.asarray(Image.open(io.BytesIO(received)))
        assert np.array_equal(np.asarray(row["image"]), pixels)
        assert np.array_equal(np.asarray(flowing["image"]), pixels)
        seen.add(row["type"])
    assert seen == {"png", "jpg", "webp"}


def test_the_same_chains_give_the_same_bytes_in_any_order(run, tmp_path):
    build(tmp_path / "once" / "convergebench", run)
    (moved := tmp_path / "b").mkdir()
    for name in ("run.json", "editors.json"):
        stores.write(moved / name, (run / name).read_bytes())
    (moved / "sources").symlink_to(run / "sources")
    (moved / "chains").mkdir()
    for folder in sorted((run / "chains").iterdir())[:2]:
        folder.rename(moved / "chains" / folder.name)
    build(tmp_path / "again" / "convergebench", moved, run)
    assert digest(tmp_path / "once") == digest(tmp_path / "again")


def test_a_rebuild_rewrites_no_shard_takes_away_what_is_gone_and_fails_whole(run, tmp_path):
    build(tmp_path / "out", run)
    before = digest(tmp_path / "out")
    stores.keep(tmp_path / "more", stores.chain("blur"))
    build(tmp_path / "out", run, tmp_path / "more")
    after = digest(tmp_path / "out")
    kept = {file for file in before if after.get(file) == before[file]}
    assert kept == {f"data/{name}/0000.parquet" for name in ("steps/jpeg-quality-40", "steps/paint", "sources")}
    assert set(after) - set(before) == {"data/steps/blur/0000.parquet"}
    build(tmp_path / "out", run)
    assert digest(tmp_path / "out") == before
    assert not (tmp_path / "out/data/steps/blur").exists()
    (run / "chains" / stores.chain("paint", 2).id / "0001.png").unlink()
    with pytest.raises(UserError, match=r"0001\.png is missing"):
        build(tmp_path / "out", run)
    assert digest(tmp_path / "out") == before


def test_shards_are_bounded_and_hold_whole_chains(run, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "SHARD", 7_000)
    build(tmp_path / "out", run)
    files = Reader(tmp_path / "out").files("steps")
    assert len(files) == 4
    for file in files:
        assert len({row["chain"] for row in Reader(tmp_path / "out").file_rows(file)}) == 1


def test_the_next_build_and_copy_clear_what_a_killed_one_left(run, tmp_path):
    build(tmp_path / "fresh", run)
    stores.write(tmp_path / "out/.building/data/steps/paint/0000.parquet", "half a file")
    stores.write(tmp_path / "out/data/steps/gone/0000.parquet", "of an earlier build")
    manifest.expect(tmp_path / "out", {"data/steps/gone/0000.parquet": {}})
    build(tmp_path / "out", run)
    assert digest(tmp_path / "out") == digest(tmp_path / "fresh")
    stores.write(tmp_path / "psnr/.psnr.py.1-2.part", "half a file")
    beside.copy_to(tmp_path)
    assert (tmp_path / "psnr/psnr.py").exists()
    assert not (tmp_path / "psnr/.psnr.py.1-2.part").exists()


@pytest.mark.parametrize("changed", [False, True])
def test_a_killed_build_resumes_from_its_finished_files(run, tmp_path, monkeypatch, changed):
    chains = sorted(store_reader.find_finished([run]).done.values(), key=lambda chain: chain.order)
    draft = tmp_path / "out" / building.DRAFT
    building.write_files(
        draft, building.plan_files(chains, building._one_chain_per_source(chains)), lambda: None, {}
    )
    if changed:
        shutil.rmtree(run / "chains" / chains[0].id)
    else:
        monkeypatch.setattr(building, "_rows_of", lambda *_: pytest.fail("a file was written again"))
    assert build(tmp_path / "out", run).chains == 4 - changed
    assert not draft.exists()
    monkeypatch.undo()
    build(tmp_path / "fresh", run)
    assert digest(tmp_path / "out") == digest(tmp_path / "fresh")


def test_rows_of_another_dataset_never_come_from_the_cache(tmp_path):
    """Neither for another folder of that name nor for the folder rebuilt."""
    stores.keep(tmp_path / "one", stores.chain())
    stores.keep(tmp_path / "two", stores.chain(), salt=5)
    found = []
    for place, run in (("a", "one"), ("b", "two"), ("a", "two")):
        out = tmp_path / place / "convergebench"
        build(out, tmp_path / run)
        found.append(list(load(out, tmp_path / "cache")["sha256"]))
        assert found[-1] == Reader(out).table("steps", ["sha256"])["sha256"].to_pylist()
    assert found[0] != found[1] == found[2]


def test_scores_stay_only_with_the_pictures_they_were_made_from(tmp_path):
    for run, salt in (("run", 0), ("other", 3)):
        stores.keep(tmp_path / run, stores.chain(), salt=salt)
        stores.keep(tmp_path / run, stores.chain("blur"))
    out = score(stores.built(tmp_path / "out", tmp_path / "run"))
    before = (out / "data/scores/0000.parquet").read_bytes()
    assert build(out, tmp_path / "run").stale == 0
    assert (out / "data/scores/0000.parquet").read_bytes() == before
    assert build(out, tmp_path / "other").stale == 4
    assert set(Reader(out).table("scores")["editor"].to_pylist()) == {"blur"}
    assert load(out, tmp_path / "cache", "scores").num_rows == 4


def test_folders_of_editors_suit_any_file_system():
    names = ["a:b=1", "a b=1", "../x", "A-B-1", "модель", "hf:model=org/Name[1]*"]
    folders = editor_folders(names)
    assert len({folder.casefold() for folder in folders.values()}) == len(names)
    assert all(re.fullmatch("[A-Za-z0-9._-]+", folder) for folder in folders.values())
    assert not any(folder.startswith((".", "-")) for folder in folders.values())


def test_a_build_is_refused_and_leaves_the_folder_as_it_was(run, tmp_path):
    """By another process's build, something else in it, and runs without a finished chain or with two of a name."""
    with locked(tmp_path / "out"), pytest.raises(UserError, match="is being written by another process"):
        build(tmp_path / "out", run)
    build(tmp_path / "out", run)
    stores.write(tmp_path / "mine" / "README.md", "# My notes\n")
    with pytest.raises(UserError, match=r"README.md is not a card of this benchmark"):
        build(tmp_path / "mine", run)
    with pytest.raises(UserError, match="holds a chain store"):
        build(run, run)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["README.md"]
    stores.keep(tmp_path / "begun", stores.chain(), done=False)
    with pytest.raises(UserError, match="no chain is done"):
        build(tmp_path / "nothing", tmp_path / "begun")
    other = replace(stores.chain("blur"), source=replace(stores.source(1)[0], licence="MIT"))
    stores.keep(run, other)
    with pytest.raises(UserError, match=r"'source-1' is one picture in .* and another, or described otherwise"):
        build(tmp_path / "nothing", run)
    assert not (tmp_path / "nothing").exists()


# The card's counts, columns and code are those of the files it lies beside


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


def test_the_digest_changes_with_the_files_and_published_versions_stay(folder):
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
    path = folder / "README.md"
    path.write_text(path.read_text().replace(card.NOT_PUBLISHED, "### v1.0.0\n\nThe first."))
    card.write(folder, configs())
    assert "### v1.0.0\n\nThe first.\n\n## Cite" in path.read_text()


def test_every_column_is_explained_as_the_schema_says(folder):
    niqe = Column("niqe", "float64", "naturalness, lower is better")
    config = replace(SCORES, columns=(*SCORES.columns, niqe))
    empty = {column.name: None for column in config.columns}
    schema.write(folder / "data/scores/0000.parquet", config, [empty] * 3, folder)
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
    assert (names["steps"].num_rows, names["chains"].num_rows) == (10, 2)
    assert next(iter(names["stream"]))["status"] == "input"
    assert len(blocks) == (HOUSE / "dataset_card.md").read_text().count("```python")
    calls = [line for block in blocks for line in block.splitlines() if line.startswith("load_dataset")]
    for call in calls:
        alone = eval(call.replace(card.REPO, "convergebench"), names)  # noqa: S307
        assert set(alone["editor"]) == {"jpeg:quality=40"}
        assert alone.num_rows == 5
    assert len(calls) == 2


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
