"""Published numbers stand beside ours under their own name, without false zeros and without silent duplicates."""

import json

import pytest
import stores
from click.testing import CliRunner
from convergebench.cli.import_scores import import_scores as command
from convergebench.dataset_builder.building import build as building
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.importing.published_scores import import_scores
from convergebench.generation import store_reader
from convergebench.generation.records import UserError

HEAD = "model,id,n,PSNR,LPIPS\n"


@pytest.fixture
def folder(tmp_path):
    stores.keep(tmp_path / "run", stores.chain("paint"))
    building.build(store_reader.find_finished([tmp_path / "run"]), tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def table(tmp_path):
    """Writes a table and imports it under the names above."""

    def make(text, folder, **options):
        path = tmp_path / "scores.csv"
        path.write_text(HEAD + text)
        columns = {"editor": "model", "case": "id", "round": "n", "psnr": "PSNR", "lpips": "LPIPS"}
        return import_scores(path, folder, columns, **options)

    return make


def rows(folder):
    return Reader(folder).table("published").to_pylist()


def test_columns_are_mapped_and_known_chains_found(folder, table):
    made = table("paint,source-1_glasses,1,30.5,0.1\ngpt,other,2,20,0.2\n", folder, signature="theirs")
    assert (made.rows, made.matched) == (2, 1)
    first, second = rows(folder)
    assert (first["editor"], first["round"], first["psnr"], first["chain"]) == ("gpt", 2, 20.0, None)
    assert second["chain"] == stores.chain("paint").id
    assert {row["signature"] for row in rows(folder)} == {"theirs"}
    assert "- config_name: published" in (folder / "README.md").read_text()


def test_a_zero_must_be_declared_and_is_then_null_with_its_reason(folder, table):
    text = "paint,a,1,30,0.0\npaint,a,2,29,0.0\n"
    with pytest.raises(
        UserError, match=r"has zeros for lpips; say whether .* --zero-is-missing lpips or --zero-is-real"
    ):
        table(text, folder)
    assert table(text, folder, zeros=["lpips"]).zeros == 2
    assert [row["lpips"] for row in rows(folder)] == [None, None]
    assert json.loads(rows(folder)[0]["reasons"]) == {"lpips": "published as 0, declared as not computed"}
    table(text, folder, real_zeros=["lpips"])
    assert [row["lpips"] for row in rows(folder)] == [0.0, 0.0]


def test_an_empty_cell_is_null_with_its_reason(folder, table):
    table("paint,a,1,30,\n", folder)
    assert rows(folder)[0]["lpips"] is None
    assert json.loads(rows(folder)[0]["reasons"]) == {"lpips": "not published"}


def test_duplicates_are_refused_or_settled_by_the_rule_that_was_chosen(folder, table):
    text = "paint,a,1,30,0.1\npaint,a,1,20,0.3\npaint,b,1,7,0.5\npaint,b,1,7,0.5\n"
    with pytest.raises(
        UserError, match=r"has 2 different rows for editor 'paint', case 'a', run 1, round 1; choose a rule"
    ):
        table(text, folder)
    for rule, value in (("first", 30), ("last", 20), ("mean", 25)):
        made = table(text, folder, duplicates=rule)
        assert (made.rows, made.settled) == (2, 2)
        assert rows(folder)[0]["psnr"] == value


def test_the_same_table_imported_twice_replaces_itself(folder, table):
    table("paint,a,1,30,0.1\n", folder)
    table("paint,a,1,31,0.1\n", folder)
    assert [row["psnr"] for row in rows(folder)] == [31.0]


def test_another_metric_keeps_its_name(folder, tmp_path):
    (tmp_path / "s.jsonl").write_text('{"case": "a", "round": 1, "NIQE": 4.5}\n')
    import_scores(tmp_path / "s.jsonl", folder, {"niqe": "NIQE"}, editor="gpt")
    assert rows(folder)[0]["niqe"] == 4.5


def test_a_rebuild_leaves_published_numbers_alone(folder, table, tmp_path):
    table("paint,a,1,30,0.1\n", folder)
    building.build(store_reader.find_finished([tmp_path / "run"]), folder)
    assert len(rows(folder)) == 1


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"psnr": "psnrr"}, r"has no column 'psnrr' for psnr; its columns are model, id, n, PSNR, LPIPS"),
        ({"case": "id", "round": "n", "editor": "model"}, "has no metric; map one, such as --column psnr=PSNR"),
        ({"psnr": "PSNR", "round": "n"}, "has no column for case; map it"),
        ({"psnr": "PSNR", "case": "id", "round": "n"}, "names no editor; give --editor or a column for it"),
        ({"psnr": "id", "case": "id", "round": "n", "editor": "model"}, "row 1, has 'a' for psnr; it must be a number"),
        ({"table": "PSNR", "case": "id", "round": "n", "editor": "model"}, "the name 'table' is not a metric's"),
    ],
)
def test_a_table_that_cannot_be_understood_is_one_sentence(folder, tmp_path, columns, says):
    (tmp_path / "scores.csv").write_text(HEAD + "paint,a,1,30,0.1\n")
    with pytest.raises(UserError, match=says):
        import_scores(tmp_path / "scores.csv", folder, columns)
    assert not (folder / "data" / "published").exists()


def test_the_command_tells_what_it_did(folder, tmp_path):
    (tmp_path / "scores.csv").write_text(HEAD + "paint,a,1,30,0\n")
    names = ["editor=model", "case=id", "round=n", "psnr=PSNR", "lpips=LPIPS"]
    options = [part for name in names for part in ("--column", name)]
    done = CliRunner().invoke(
        command,
        [str(tmp_path / "scores.csv"), "--dataset", str(folder), *options, "--zero-is-missing", "lpips", "--json"],
    )
    assert done.exit_code == 0, done.output
    about = json.loads(done.stdout)
    assert (about["rows"], about["matched"], about["zeros"]) == (1, 0, 1)
