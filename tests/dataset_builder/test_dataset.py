"""One dataset through its one reader: from a folder, from the Hub, and after its small tables were copied here."""

import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
import small_dataset
import stores
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import configs
from convergebench.dataset_builder.dataset.schema import write
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.generation import store_reader as store
from convergebench.generation.records import EditorInfo, UserError
from convergebench.generation.store import open_run, read_checked
from hub_fixtures import REPO

pytest_plugins = ["hub_fixtures"]
REFERENCE = stores.picture(9)
PAINT = EditorInfo("paint", "baseline", "Draws what is asked for.")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Chains of two editors, one of them ended early, one with a reference of its own, one with items and no edits."""
    run = tmp_path_factory.mktemp("runs") / "run"
    stores.keep(run, stores.chain("paint", 1), kinds=("png", "jpg", "webp"))
    stores.keep(run, stores.chain("paint", 2), ends="refused")
    stores.keep(run, stores.chain("jpeg:quality=40", 1), reference=REFERENCE)
    fruits = replace(stores.program("fruit"), cycle=("add a {item}",), items=("pear", "fig"), closes=False)
    stores.keep(run, replace(stores.chain("jpeg:quality=40", 2), program=fruits))
    open_run(run, read_checked(run / "run.json"), {"paint": PAINT})
    return run


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory):
    return stores.built(tmp_path_factory.mktemp("built") / "convergebench", runs)


@pytest.fixture(params=["folder", "Hub", "Hub with its tables copied"])
def reader(request, folder, tmp_path):
    if request.param == "folder":
        yield Reader(folder)
        return
    api = request.getfixturevalue("api")
    publish(api, folder, REPO, "v1.0.0")
    reader = Reader(f"hf://datasets/{REPO}@v1.0.0", api)
    if "copied" in request.param:
        reader.copy_tables(("chains", "sources"))
        assert {path.parent.name for path in reader.folder.rglob("*.parquet")} == {"chains", "sources"}
    yield reader


def test_what_the_store_holds_is_what_the_reader_gives(runs, reader):
    finished = store.find_finished([runs]).done
    chains = reader.chains()
    assert sorted(chain.id for chain in chains) == sorted(finished)
    assert chains == sorted(chains, key=lambda chain: chain.order)
    every = list(reader.all_steps())
    for chain in chains:
        stored = finished[chain.id]
        steps = store.read_steps(stored)
        assert chain.chain.id == chain.id == stored.chain.id
        assert chain.source == stored.chain.source == reader.sources()[chain.source.id]
        assert (chain.status, chain.calls, chain.suite) == (stored.status, len(steps) - 1, "test")
        assert [*chain.chain.asks()] == [*stored.chain.asks()]
        assert reader.steps_of(chain) == steps
        assert [placed.step for placed in every if placed.chain == chain.id] == steps
        pictures = [store.read_picture(stored, step) for step in steps]
        assert [reader.picture(chain.id, step.step) for step in steps] == pictures
        assert [reader.picture_at(placed.place) for placed in every if placed.chain == chain.id] == pictures
        assert reader.reference(chain.id) == store.read_reference(stored)
    assert reader.editors() == {"paint": PAINT, "jpeg:quality=40": EditorInfo("jpeg")}
    assert sum(reader.reference(chain.id) == REFERENCE for chain in chains) == 1


def test_words_are_held_once_and_what_is_absent_is_said(reader):
    plain, held_once = reader.table("steps"), reader.table("steps", dictionaries=["editor", "chain"])
    for name in plain.column_names:
        assert pa.types.is_dictionary(held_once[name].type) == (name in ("editor", "chain")), name
    assert held_once.to_pylist() == plain.to_pylist()
    chain = reader.chains()[0]
    assert reader.picture(chain.id, 99) is None
    assert reader.files("scores") == []
    assert list(reader.rows("scores")) == []
    with pytest.raises(UserError, match="no chain 'nothing' in "):
        reader.picture("nothing", 0)


def test_without_its_table_an_editor_is_an_ordinary_one(folder, tmp_path):
    shutil.copytree(folder / "data/chains", tmp_path / "data/chains")
    small_dataset.list_files(tmp_path)
    assert Reader(tmp_path).editors()["jpeg:quality=40"] == EditorInfo("jpeg")


def test_an_unreadable_file_may_be_skipped(folder, tmp_path):
    shutil.copytree(folder / "data", tmp_path / "data")
    small_dataset.list_files(tmp_path)
    for path in tmp_path.glob("data/steps/*/0000.parquet"):
        path.write_bytes(path.read_bytes()[:-50])
    reader = Reader(tmp_path)
    with pytest.raises(UnreadableFile, match=r"paint/0000\.parquet cannot be read"):
        reader.steps_of(next(chain for chain in reader.chains() if chain.editor == "paint"))
    assert list(reader.all_steps(skip_unreadable=True)) == []


@pytest.mark.parametrize(
    ("config", "column", "read"),
    [
        ("chains", "suite", lambda reader: reader.chains()),
        ("steps", "status", lambda reader: list(reader.all_steps())),
        ("sources", "image", lambda reader: list(reader.rows("sources"))),
    ],
)
def test_null_in_a_required_column_is_refused(folder, tmp_path, config, column, read):
    shutil.copytree(folder / "data", tmp_path / "data")
    file = Reader(tmp_path).files_present(config)[0]
    rows = [row | {column: None} for row in Reader(folder).file_rows(file)]
    write(tmp_path / file, configs()[config], rows)
    small_dataset.list_files(tmp_path)
    with pytest.raises(UnreadableFile, match=f"column '{column}' has a row without a value"):
        read(Reader(tmp_path))
