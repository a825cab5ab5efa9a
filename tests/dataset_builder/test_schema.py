"""The schema is what `datasets` itself would write, and the files are laid out for streaming."""

import json

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stores
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.dataset.rows import FLOORS, STEPS, StepRow, configs
from convergebench.dataset_builder.dataset.schema import TableDigest
from convergebench.metric_modules.scores import SCORES
from verbs import invoke

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
    assert (count, entry["sha256"]) == (8, schema.hash_file(tmp_path / "a.parquet"))


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
        assert (mine.compression, set(mine.encodings)) == (yours.compression, set(yours.encodings))
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
    assert (table.num_rows, table.column_names) == (0, [column.name for column in SCORES.columns])


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
