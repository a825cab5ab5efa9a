"""`convergebench report` from a dataset's files to a folder of its own; what `convergebench space` cannot serve."""

import errno
import json
import re
import shutil
import socket
from unittest import mock

import pytest
import small_dataset
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.rows import FLOORS, configs
from convergebench.metric_modules.scores import SCORES
from counting import digest
from simulated import dataset
from verbs import invoke

# What the made-up rows leave out, for columns that may not be null.
DEFAULTS = {
    "chains": {"items": "[]", "small": False, "shows": "", "source_sha256": ""},
    "steps": {"instruction": "", "details": "{}"},
}


def lay(folder, **tables):
    """A dataset's Parquet with whole rows, as far as the report reads it."""
    for name, rows in tables.items():
        config = (configs() | {"scores": SCORES, "floors": FLOORS})[name]
        zero = {"string": "", "int32": 0, "bool": False}
        nothing = {column.name: zero[column.type] if column.required else None for column in config.columns}
        nothing |= DEFAULTS.get(name, {})
        schema.write(folder / "data" / name / "0000.parquet", config, [nothing | row for row in rows])
    small_dataset.list_files(folder)


def steps_of(scores):
    names, paid = ("chain", "step", "round", "position", "status"), {"latency": 2.0, "cost": 0.04}
    return [{name: row[name] for name in names} | paid for row in scores]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    scores, chains, floors = dataset({"one": 1.5, "two": 1.0}, sources=13, programs=1, rounds=10)
    lay(folder, scores=scores, chains=chains, floors=floors, steps=steps_of(scores))
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A dataset of nothing but two published curves: every file that a report has, and only two figures."""
    folder = tmp_path_factory.mktemp("small")
    _, chains, _ = dataset({"one": 1.0}, sources=2, programs=1, rounds=3)
    lay(folder, chains=chains, published=[*published("a", 1.0), *published("b", 0.9)])
    return folder


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """The report of `folder`, made once, and what was printed."""
    out = tmp_path_factory.mktemp("whole")
    return out, run(folder, "--out", out)


def run(*words):
    return invoke("report", *words)


def test_a_report_is_written_and_the_headline_printed(whole):
    out, result = whole
    assert result.exit_code == 0, result.output
    assert "\n\nConvergence\n" in result.output
    says = r"\n(\d+) chains generated = (\d+) kept \+ (\d+) lost \+ (\d+) missing\n"
    generated, *ends = map(int, re.search(says, result.output).groups())
    assert generated == sum(ends) == 26
    assert f"open {out / 'index.html'}" in result.output
    tables = json.loads((out / "tables.json").read_text())
    for name in ("leaderboard", "curves", "pairs", "causes"):
        assert tables[name]["rows"]
        assert (out / f"{name}.csv").stat().st_size > 50
    assert all(table["rows"] for table in tables.values())
    assert {path.stem for path in out.glob("*.csv")} == tables.keys()
    assert "toprule" in (out / "tables.tex").read_text()
    assert (out / "figures" / "curves.svg").read_text().startswith("<svg")
    assert (out / "figures" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figures" / "price.svg").exists()
    [row] = [row for row in json.loads((out / "leaderboard.json").read_text())["rows"] if row["editor"] == "one"]
    assert (row["cost"], row["seconds"]) == (pytest.approx(0.08), pytest.approx(4.0))


def test_what_cannot_be_reported_is_one_sentence(small, tmp_path):
    unscored = tmp_path / "unscored"
    lay(unscored, chains=dataset({"one": 1.0}, sources=2, programs=1, rounds=3)[1])
    (tmp_path / "taken").write_text("a file")
    for words, sentence in (
        ((small, "--threshold", "1.5"), "--threshold must be above 0 and at most 1, got 1.5"),
        ((tmp_path,), "`convergebench build` makes one"),
        ((unscored,), "`convergebench score"),
        ((small, "--out", tmp_path / "taken"), f"cannot write to {tmp_path / 'taken'}"),
    ):
        result = run(*words)
        assert (result.exit_code, sentence in result.output) == (2, True), result.output


def published(case, start):
    row = dict.fromkeys(("chain", "position")) | {"editor": "theirs", "case": case, "image": case, "run": 1}
    return [row | {"table": "theirs.csv", "round": round, "ssim": start - 0.06 * round} for round in (1, 2, 3)]


def test_a_report_replaces_its_own_files_and_keeps_others(small, whole, tmp_path):
    out = shutil.copytree(whole[0], tmp_path / "out")
    assert run(small, "--out", tmp_path / "alone").exit_code == 0
    page = (tmp_path / "alone" / "index.html").read_text()
    assert all(words in page for words in ("Published scores", "Published numbers follow their authors"))
    assert (tmp_path / "alone" / "figures" / "published-1.svg").exists()
    (out / "figures" / "mine.svg").write_text("mine")
    assert run(small, "--out", out).exit_code == 0
    (out / "figures" / "mine.svg").unlink()
    assert digest(out) == digest(tmp_path / "alone")


@pytest.mark.parametrize("name", ["index.html", "tables.json", "figures"])
def test_a_foreign_file_in_the_way_is_refused_by_name(small, tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("theirs")
    result = run(small, "--out", out)
    assert result.exit_code == 2
    assert name == "figures" or f"{out} holds {name}, which `convergebench report` did not write" in result.output
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [(name, "theirs")]


def test_a_report_that_fails_on_its_way_leaves_the_one_before(small, whole, tmp_path, monkeypatch):
    out = shutil.copytree(whole[0], tmp_path / "out")
    before = digest(out)
    monkeypatch.setattr("convergebench.spaces_app.reporting.write.render_page", lambda *about: 1 / 0)
    assert isinstance(run(small, "--out", out).exception, ZeroDivisionError)
    assert digest(out) == before
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("convergebench.spaces_app.reporting.write.render_page", mock.Mock(side_effect=full))
    assert "the disk is full; free some space" in run(small, "--out", out).output
    assert digest(out) == before


def test_the_page_names_editors_without_scores(folder, tmp_path):
    scores, chains, floors = dataset({"one": 1.0, "later": 2.0}, sources=2, programs=1, rounds=3)
    later = {chain["chain"] for chain in chains if chain["editor"] == "later"}
    scores = [row for row in scores if row["chain"] not in later]
    lay(tmp_path / "two", scores=scores, chains=chains, floors=floors)
    assert run(tmp_path / "two", "--out", tmp_path / "out").exit_code == 0
    text = (tmp_path / "out" / "index.html").read_text()
    assert "Not on this page, because their chains have no scores: later; " in text


def refused(*words):
    done = invoke("space", *words)
    assert done.exit_code == 2, done.output
    return done.output


def test_what_is_no_scored_dataset_is_refused(tmp_path):
    assert "give a folder that exists here or a Hub repo" in refused(tmp_path / "nowhere")
    assert "`convergebench build` makes one" in refused(tmp_path)
    made = small_dataset.write(tmp_path / "made")
    shutil.rmtree(made / "data" / "scores")
    assert "`convergebench score" in refused(made)


def test_a_port_that_is_taken_is_named(tmp_path):
    pytest.importorskip("gradio", reason="gradio is not installed: pip install 'convergebench[space]'")
    made = small_dataset.write(tmp_path / "made")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen on port {port}" in refused(made, "--port", port)
