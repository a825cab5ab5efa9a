"""The dataset that the Space serves: found by Parquet's index, refused in one sentence where it is none."""

import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import UnreadableFile
from convergebench.generation.records import UserError
from convergebench.metric_modules.scores import ScoreRow
from convergebench.spaces_app.analysis import stored_rows
from convergebench.spaces_app.analysis.stored_rows import TableRows
from convergebench.spaces_app.space import served_dataset
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.leaderboard.tab import leaderboard_html
from convergebench.spaces_app.space.served_dataset import ServedDataset, open_dataset


def test_without_steps_the_chains_say_what_a_round_cost(dataset, monkeypatch):
    monkeypatch.setattr("convergebench.spaces_app.space.served_dataset.MANY_STEPS", 0)
    rows = {row["editor"]: row for row in leaderboard(open_dataset(str(dataset.folder))).table.rows}
    assert (rows["fading"]["cost"], rows["identity"]["cost"]) == (pytest.approx(0.08), None)
    assert all(row["seconds"] is None for row in rows.values())
    made = open_dataset(str(dataset.folder))
    assert "Seconds a round" not in leaderboard_html(leaderboard(made), made)


def test_a_refusal_is_no_call_that_a_round_is_made_of(tmp_path, monkeypatch):
    end = {"fading": 1}  # the step that is refused; without any answer nothing is known
    folder = small_dataset.write(
        tmp_path / "no", answer=lambda name, step: b"" if step == end.get(name, 4) else None
    )
    made = open_dataset(str(folder))
    near = {case.chain.id: case.cost for case in made.cases}
    monkeypatch.setattr(served_dataset, "MANY_STEPS", made.score_table.num_rows)
    assert any(case.seconds for case in open_dataset(str(made.folder)).cases)
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


def test_a_dataset_on_the_hub_is_opened_at_its_revision(tmp_path, monkeypatch):
    asked = []
    reader = SimpleNamespace(copy_tables=list)
    monkeypatch.setattr(served_dataset, "Reader", lambda address: asked.append(address) or reader)
    monkeypatch.setattr(served_dataset, "ServedDataset", lambda reader: None)
    monkeypatch.setattr(served_dataset, "PUBLISHED", tmp_path / "published.json")
    served_dataset.PUBLISHED.write_text('{"dataset": "me/published", "revision": "r1"}')
    for given in ((), ("me/own",), ("me/own", "r2")):
        open_dataset(*given)
    monkeypatch.setenv("CONVERGEBENCH_DATASET", "me/env")
    monkeypatch.setenv("CONVERGEBENCH_REVISION", "r3")
    open_dataset()
    names = ("published@r1", "own", "own@r2", "env@r3")
    assert asked == [f"hf://datasets/me/{name}" for name in names]
    hub = SimpleNamespace(reader=SimpleNamespace(root="datasets/me/own@0123456789abcdef", remote=True))
    assert ServedDataset.link.func(hub) == "https://huggingface.co/datasets/me/own/tree/0123456789abcdef"
    assert ServedDataset.version.func(hub) == "0123456789ab"


def test_scores_in_any_order_are_those_of_their_chains(tmp_path):
    made = open_dataset(str(small_dataset.write(tmp_path / "mixed")))
    path = made.folder / "data" / "scores" / "0000.parquet"
    rows = pq.read_table(path)
    small_dataset.rewrite(path, rows.take([*range(1, len(rows)), 0]))
    again = open_dataset(str(made.folder))
    assert {name: again.scores_of(name) for name in made.chain_of} == {
        name: made.scores_of(name) for name in made.chain_of
    }


@pytest.mark.parametrize(("error", "sentence"), [
    (UserError("see /a/b"), "see /a/b"), (OSError(), "a file of this dataset cannot be read (OSError)"),
    (OSError("cannot read /a/b\nat all"), "a file of this dataset cannot be read (cannot read)"),
    (UnreadableFile("/a/b is damaged"), "a file of this dataset cannot be read (is damaged)"),
    (OSError("x" * 201), f"a file of this dataset cannot be read ({'x' * 200})"),
])  # fmt: skip
def test_an_error_is_explained_without_paths(error, sentence):
    assert served_dataset.explain(error) == sentence
