"""A column's digest is that of its values, whatever way they arrive in."""

import pyarrow as pa
import pytest
from convergebench.dataset_builder.dataset.schema import TableDigest

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
def test_parts_and_dictionaries_have_the_digest_of_the_whole(name):
    values = VALUES[name]
    whole = digest(values)
    assert digest(values.slice(0, 1), values.slice(1, 4), values.slice(5)) == whole
    assert digest(values.slice(0, 0), values) == whole
    assert digest(pa.array(values.to_pylist(), values.type)) == whole
    if name == "string":
        assert digest(values.dictionary_encode()) == whole


@pytest.mark.parametrize("name", VALUES)
def test_any_other_value_order_or_gap_has_another_digest(name):
    values = VALUES[name]
    swapped = [*values.to_pylist()[:2], *reversed(values.to_pylist()[2:])]
    others = [pa.array(swapped, values.type)]
    others += [values.slice(0, 5), pa.array([None, *values.to_pylist()[1:]], values.type)]
    assert digest(values) not in {digest(other) for other in others}
