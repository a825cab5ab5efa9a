"""One dataset through its one reader, from a folder and the Hub; its files are what `datasets` itself would write."""

import json
import shutil
from dataclasses import replace

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dataset
import stores
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import FLOORS, STEPS, StepRow, configs
from convergebench.dataset_builder.dataset.schema import TableDigest
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.generation import store_reader as store
from convergebench.generation.records import EditorInfo, UserError
from convergebench.generation.store import open_run, read_checked
from convergebench.metric_modules.scores import SCORES
from hub_fixtures import REPO
from verbs import invoke

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
        assert (chain.status, chain.suite) == (stored.status, "test")
        assert chain.calls == len(steps) - 1
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
    schema.write(tmp_path / file, configs()[config], rows)
    small_dataset.list_files(tmp_path)
    with pytest.raises(UnreadableFile, match=f"column '{column}' has a row without a value"):
        read(Reader(tmp_path))


# The schema, and files laid out for streaming

EVERY = configs() | {"scores": SCORES, "floors": FLOORS}
FEATURES = {"image": datasets.Image()}


def features(columns):
    return datasets.Features({c.name: FEATURES.get(c.type) or datasets.Value(c.type) for c in columns})


def row(number, data):
    plain = {c.name: {"string": "", "int32": 0}[c.type] if c.required else None for c in STEPS.columns}
    return {**plain, "step": number, "image": data and {"bytes": data, "path": f"{number:04d}.png"}}


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY)
def test_a_config_has_the_features_schema_and_a_command(config):
    assert invoke(*config.made_by.split(), "--help").exit_code == 0
    wanted = features(config.columns)
    assert schema.arrow(config.columns).equals(wanted.arrow_schema, check_metadata=True)
    types = [column.type for column in config.columns]
    assert "image" not in types[1:]
    assert len({column.name for column in config.columns}) == len(types)
    assert all(column.meaning for column in config.columns)


def test_row_groups_hold_eight_megabytes_or_one_larger_picture(tmp_path):
    sizes = [3_000_000, 3_000_000, 3_000_000, 9_000_000, 1_000_000, 7_000_000, 1]
    rows = [row(number, bytes(size)) for number, size in enumerate(sizes)]
    count, entry = schema.write(tmp_path / "a.parquet", STEPS, [*rows, row(len(sizes), None)])
    footer = pq.read_metadata(tmp_path / "a.parquet")
    assert [footer.row_group(group).num_rows for group in range(footer.num_row_groups)] == [2, 1, 1, 2, 2]
    assert count == len(rows) + 1
    assert entry["sha256"] == schema.hash_file(tmp_path / "a.parquet")


def test_files_are_written_as_datasets_writes_them(tmp_path):
    data = stores.picture(1, (200, 200))
    schema.write(tmp_path / "ours.parquet", STEPS, [row(0, data)])
    values = [row(0, data)]
    datasets.Dataset.from_list(values, features(STEPS.columns)).to_parquet(tmp_path / "theirs.parquet")
    ours, theirs = (pq.read_metadata(tmp_path / f"{name}.parquet") for name in ("ours", "theirs"))
    for key in (b"huggingface", b"content_defined_chunking"):
        assert json.loads(ours.metadata[key]) == json.loads(theirs.metadata[key])
    for number in range(ours.num_columns):
        mine, yours = (footer.row_group(0).column(number) for footer in (ours, theirs))
        assert mine.path_in_schema == yours.path_in_schema
        assert mine.compression == yours.compression
        assert {*mine.encodings} == {*yours.encodings}
        assert mine.has_offset_index
        assert mine.has_offset_index == yours.has_offset_index
    assert ours.row_group(0).column(0).compression == "UNCOMPRESSED"


def test_a_picture_is_read_from_its_row_group_alone(tmp_path, monkeypatch):
    pictures = [stores.picture(seed, (40, 40)) for seed in range(4)] + [None]
    monkeypatch.setattr(schema, "_ROW_GROUP", len(pictures[0]) + len(pictures[1]))
    rows = [row(number, data) for number, data in enumerate(pictures)]
    schema.write(tmp_path / "data" / "steps" / "x" / "0000.parquet", STEPS, rows, tmp_path)
    reader = Reader(tmp_path)
    table = reader.table("steps")
    assert "image" not in table.column_names
    assert table["step"].to_pylist() == [0, 1, 2, 3, 4]
    places = [*reader.places()]
    assert [(place.group, place.row) for place in places] == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    assert [reader.picture_at(place) for place in places] == pictures
    assert [step["image"] and step["image"]["bytes"] for step in reader.rows("steps")] == pictures
    with pytest.raises(UnreadableFile, match=r"has no config 'scores': .* `convergebench score` makes it"):
        reader.table("scores")


def test_an_unfinished_file_is_not_there_and_an_empty_one_is(tmp_path):
    def broken():
        yield row(0, b"x")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        schema.write(tmp_path / "a.parquet", STEPS, broken())
    assert list(tmp_path.iterdir()) == []
    schema.write(tmp_path / "data" / "scores" / "0000.parquet", SCORES, [], tmp_path)
    table = Reader(tmp_path).table("scores")
    assert table.num_rows == 0
    assert table.column_names == [column.name for column in SCORES.columns]


def test_a_misspelt_or_unread_column_fails(tmp_path):
    schema.write(tmp_path / "data" / "steps" / "x" / "0000.parquet", STEPS, [row(3, None)], tmp_path)
    [step] = Reader(tmp_path).rows_of(StepRow, ["step", "status"])
    assert (step.step, step.status) == (3, "")
    for name in ("sha256", "stepp"):
        with pytest.raises(AttributeError, match=name):
            getattr(step, name)
    with pytest.raises(KeyError, match="no column 'stepp' in steps"):
        Reader(tmp_path).rows_of(StepRow, ["stepp"])


VALUES = {
    "string": pa.array(["a", None, "", "bä", "c" * 40, None], pa.string()),
    "int32": pa.array([1, None, 0, -5, 7, 7], pa.int32()),
    "int64": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
    "float64": pa.array([0.5, None, float("nan"), -0.0, 1e300, 2.0], pa.float64()),
    "bool": pa.array([True, None, False, True, True, None], pa.bool_()),
}


def digest(*parts):
    table_digest = TableDigest()
    for part in parts:
        table_digest.update(pa.table({"x": part}))
    return table_digest.hexdigests()["x"]


@pytest.mark.parametrize("name", VALUES)
def test_a_digest_is_that_of_the_values_alone(name):
    values = VALUES[name]
    whole = digest(values)
    assert digest(values.slice(0, 1), values.slice(1, 4), values.slice(5)) == whole
    assert digest(values.slice(0, 0), values) == whole
    assert digest(pa.array(values.to_pylist(), values.type)) == whole
    if name == "string":
        assert digest(values.dictionary_encode()) == whole
    swapped = [*values.to_pylist()[:2], *reversed(values.to_pylist()[2:])]
    others = [pa.array(swapped, values.type)]
    others += [values.slice(0, 5), pa.array([None, *values.to_pylist()[1:]], values.type)]
    assert whole not in {digest(other) for other in others}
