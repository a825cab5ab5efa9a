"""`convergebench report` from a dataset's files to a folder of its own; what `convergebench space` cannot serve."""

import errno
import json
import re
import shutil
import socket
from unittest import mock

import pyarrow.parquet as pq
import pytest
import small_dataset
from convergebench.dataset_builder.studies.published.published_scores import import_scores
from counting import digest
from verbs import invoke


def unscored(folder, **options):
    """A small dataset, as it is before `convergebench score`."""
    small_dataset.write(folder, **options)
    shutil.rmtree(folder / "data" / "scores")
    return small_dataset.list_files(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    sources = [f"picture-{number}" for number in range(13)]
    editors = {"one": 0.16, "two": 0.02}

    def judge(row, *place):
        return row | {"clip": row["ssim"], "retained_clip": row["ssim"], "reasons": "{}"}

    folder = tmp_path_factory.mktemp("dataset")
    return small_dataset.write(folder, editors, sources, ("hat",), 10, judge=judge)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A dataset of nothing but two published curves: every file that a report has, and only two figures."""
    folder, table = tmp_path_factory.mktemp("small"), tmp_path_factory.mktemp("table") / "theirs.csv"
    unscored(folder, editors={"one": 0.02}, rounds=3)
    curves = {"a": 1.0, "b": 0.9}
    lines = [f"{case},{round},{curves[case] - 0.06 * round}" for case in curves for round in (1, 2, 3)]
    table.write_text("\n".join(["case,round,ssim", *lines]))
    import_scores(table, folder, {}, "theirs")
    return folder


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """The report of `folder`, made once, and what was printed."""
    out = tmp_path_factory.mktemp("whole")
    return out, run(folder, "--out", out)


def run(*words):
    return invoke("report", *words)


def refused(*words):
    done = invoke(*words)
    assert done.exit_code == 2, done.output
    return done.output


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
    assert (row["cost"], row["seconds"]) == (pytest.approx(0.08), pytest.approx(2 * 1.16))


def test_what_cannot_be_reported_or_served_is_one_sentence(small, tmp_path):
    (tmp_path / "taken").write_text("a file")
    before = unscored(tmp_path / "unscored")
    for words, sentence in (
        (("report", small, "--threshold", "1.5"), "--threshold must be above 0 and at most 1, got 1.5"),
        (("report", small, "--out", tmp_path / "taken"), f"cannot write to {tmp_path / 'taken'}"),
        (("space", tmp_path / "nowhere"), "give a folder that exists here or a Hub repo"),
        *(((verb, tmp_path), "`convergebench build` makes one") for verb in ("report", "space")),
        *(((verb, before), "`convergebench score") for verb in ("report", "space")),
    ):
        assert sentence in refused(*words)


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


def test_the_page_names_editors_without_scores(tmp_path):
    later = small_dataset.write(tmp_path / "later", {"one": 0.1, "later": 0.1})
    scores = later / "data" / "scores" / "0000.parquet"
    small_dataset.rewrite(scores, pq.read_table(scores, filters=[("editor", "=", "one")]))
    assert run(later, "--out", tmp_path / "out").exit_code == 0
    text = (tmp_path / "out" / "index.html").read_text()
    assert "Not on this page, because their chains have no scores: later; " in text


def test_a_port_that_is_taken_is_named(tmp_path):
    pytest.importorskip("gradio", reason="gradio is not installed: pip install 'convergebench[space]'")
    made = small_dataset.write(tmp_path / "made")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen on port {port}" in refused("space", made, "--port", port)
