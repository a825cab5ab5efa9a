"""Chains become a dataset that loads, to the byte the same each time."""

import hashlib
import io
import re
import shutil
from dataclasses import replace

import datasets
import numpy as np
import pytest
import stores
from convergebench.dataset_builder.building import build as building
from convergebench.dataset_builder.building.card import editor_folders
from convergebench.dataset_builder.dataset import manifest, schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import STEPS
from convergebench.dataset_builder.publishing import beside
from convergebench.generation import store_reader
from convergebench.generation.files import locked
from convergebench.generation.records import UserError
from hub_fixtures import score
from PIL import Image


def build(out, *runs):
    return building.build(store_reader.find_finished(runs), out)


def load(folder, cache, *config, **options):
    return datasets.load_dataset(str(folder), *config, split="test", cache_dir=str(cache), **options)


def contents(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


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
    assert contents(tmp_path / "once") == contents(tmp_path / "again")


def test_another_editor_adds_files_and_rewrites_no_shard(run, tmp_path):
    build(tmp_path / "out", run)
    before = contents(tmp_path / "out")
    stores.keep(tmp_path / "more", stores.chain("blur"))
    build(tmp_path / "out", run, tmp_path / "more")
    after = contents(tmp_path / "out")
    kept = {file for file in before if after.get(file) == before[file]}
    assert kept == {f"data/{name}/0000.parquet" for name in ("steps/jpeg-quality-40", "steps/paint", "sources")}
    assert set(after) - set(before) == {"data/steps/blur/0000.parquet"}


def test_shards_are_bounded_and_hold_whole_chains(run, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "SHARD", 7_000)
    build(tmp_path / "out", run)
    files = Reader(tmp_path / "out").files("steps")
    assert len(files) == 4
    for file in files:
        assert schema.pq.read_table(tmp_path / "out" / file, columns=["chain"])["chain"].unique().__len__() == 1


def test_a_rebuild_takes_away_what_is_no_longer_part_of_it(run, tmp_path):
    stores.keep(tmp_path / "more", stores.chain("blur"))
    build(tmp_path / "out", run, tmp_path / "more")
    build(tmp_path / "out", run)
    build(tmp_path / "fresh", run)
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert not (tmp_path / "out/data/steps/blur").exists()


def test_a_rebuild_that_fails_leaves_the_dataset_as_it_was(run, tmp_path):
    build(tmp_path / "out", run)
    before = contents(tmp_path / "out")
    (run / "chains" / stores.chain("paint", 2).id / "0001.png").unlink()
    with pytest.raises(UserError, match=r"0001\.png is missing"):
        build(tmp_path / "out", run)
    assert contents(tmp_path / "out") == before


def test_the_next_build_clears_what_a_killed_one_left(run, tmp_path):
    build(tmp_path / "fresh", run)
    stores.write(tmp_path / "out/.building/data/steps/paint/0000.parquet", "half a file")
    stores.write(tmp_path / "out/data/steps/gone/0000.parquet", "of an earlier build")
    manifest.expect(tmp_path / "out", {"data/steps/gone/0000.parquet": {}})
    build(tmp_path / "out", run)
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_half_a_file_of_a_metric_is_gone_after_the_next_copy(tmp_path):
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
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_two_builds_of_one_folder_do_not_mix(run, tmp_path):
    with locked(tmp_path / "out"), pytest.raises(UserError, match="is being written by another process"):
        build(tmp_path / "out", run)
    build(tmp_path / "out", run)


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


def test_one_name_for_two_sources_is_an_error(tmp_path):
    stores.keep(tmp_path / "run", stores.chain())
    other = replace(stores.chain("blur"), source=replace(stores.source(1)[0], licence="MIT"))
    stores.keep(tmp_path / "run", other)
    with pytest.raises(
        UserError, match=r"source 'source-1' is one picture in .* and another, or described otherwise, in"
    ):
        build(tmp_path / "out", tmp_path / "run")


def test_a_folder_that_is_something_else_is_left_alone(run, tmp_path):
    stores.write(tmp_path / "mine" / "README.md", "# My notes\n")
    with pytest.raises(UserError, match=r"README.md is not a card of this benchmark"):
        build(tmp_path / "mine", run)
    with pytest.raises(UserError, match="holds a chain store"):
        build(run, run)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["README.md"]


def test_nothing_done_is_an_error(tmp_path):
    stores.keep(tmp_path / "run", stores.chain(), done=False)
    with pytest.raises(UserError, match="no chain is done"):
        build(tmp_path / "out", tmp_path / "run")
    assert not (tmp_path / "out").exists()
