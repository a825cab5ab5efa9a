"""The dataset that the Space serves: found by Parquet's index, refused in one sentence where it is none."""

import subprocess
import sys

import pyarrow as pa
import pytest
import small_dataset
from convergebench.metric_modules.scores import ScoreRow
from convergebench.spaces_app.analysis import stored_rows
from convergebench.spaces_app.analysis.stored_rows import TableRows
from convergebench.spaces_app.space import served_dataset
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.leaderboard.tab import leaderboard_html
from convergebench.spaces_app.space.served_dataset import open_dataset


def test_without_steps_the_chains_say_what_a_round_cost(dataset, monkeypatch):
    monkeypatch.setattr("convergebench.spaces_app.space.served_dataset.MANY_STEPS", 0)
    rows = {row["editor"]: row for row in leaderboard(open_dataset(str(dataset.folder))).table.rows}
    assert (rows["fading"]["cost"], rows["identity"]["cost"]) == (pytest.approx(0.08), None)
    assert all(row["seconds"] is None for row in rows.values())
    made = open_dataset(str(dataset.folder))
    assert "Seconds a round" not in leaderboard_html(leaderboard(made), made)


def test_a_refusal_is_no_call_that_a_round_is_made_of(tmp_path, monkeypatch):
    made = open_dataset(
        str(small_dataset.write(tmp_path / "no", answer=lambda _, step: b"" if step == 4 else None))
    )
    near = {case.chain.id: case.cost for case in made.cases}
    monkeypatch.setattr(served_dataset, "MANY_STEPS", 0)
    far = {case.chain.id: case.cost for case in open_dataset(str(made.folder)).cases}
    assert any(near.values())
    assert far == pytest.approx(near)


def test_a_table_in_memory_gives_its_rows(monkeypatch):
    chains = pa.array(["a", "a", "b", "c", "c"]).dictionary_encode()
    table = pa.table({"chain": chains, "step": [1, 2, 3, 4, 5], "mark": [True, None, False, None, True]})
    rows = table.to_pylist()
    monkeypatch.setattr(stored_rows, "_ROWS_AT_ONCE", 2)
    stored = TableRows(table, ScoreRow)

    def values(given):
        return [{name: row.value(name) for name in table.column_names} for row in given]

    assert values(stored) == rows
    grouped = {chain: values(chain_rows) for chain, chain_rows in stored.by_chain(table.column_names)}
    assert grouped == {"a": rows[:2], "b": rows[2:3], "c": rows[3:]}
    chosen = {chain: values(chain_rows) for chain, chain_rows in stored.of_chains({"a", "c"}).items()}
    assert chosen == {"a": rows[:2], "c": rows[3:]}
    assert stored.counts == {"a": 2, "b": 1, "c": 2}
    assert list(TableRows(table.slice(0, 0), ScoreRow)) == []


def test_the_server_starts_without_what_its_first_page_does_not_need():
    """OpenCV takes 16 MB, pyplot 20."""
    code = (
        "import sys\nfrom convergebench.spaces_app import app\nfrom convergebench.spaces_app.space import server\n"
        "sys.exit(str({'cv2', 'matplotlib.pyplot', 'torch'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"
