"""Published numbers stand beside ours under their own name, without false zeros and without silent duplicates."""

import json

import pytest
import stores
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.studies.published.published_scores import import_scores
from convergebench.generation.records import UserError
from convergebench.metric_modules.scores import scores_config
from verbs import say

HEAD = "model,id,n,PSNR,LPIPS\n"
COLUMNS = {"editor": "model", "case": "id", "round": "n", "psnr": "PSNR", "lpips": "LPIPS"}


@pytest.fixture
def folder(tmp_path):
    stores.keep(tmp_path / "run", stores.chain("paint"))
    return stores.built(tmp_path / "out", tmp_path / "run")


@pytest.fixture
def imported(folder, tmp_path):
    """Writes a table of paint's scores and imports it."""

    def made(text, columns=(), **options):
        (tmp_path / "scores.csv").write_text(text)
        return import_scores(tmp_path / "scores.csv", folder, dict(columns), "paint", **options)

    return made


def rows(folder):
    return Reader(folder).table("published").to_pylist()


def returned(folder):
    """The hash of each round's last answer, for the dataset's one chain."""
    steps = Reader(folder).table("steps", ["step", "round", "sha256"]).to_pylist()
    return {row["round"]: row["sha256"] for row in sorted(steps, key=lambda row: row["step"]) if row["step"]}


def test_a_chain_with_the_published_answers_is_attached(folder, imported):
    hashes = returned(folder)
    lines = f"paint,any,1,30.5,{hashes[1]}\npaint,any,2,30,{hashes[2]}\ngpt,other,2,20,{hashes[2]}\n"
    columns = {"editor": "model", "case": "id", "round": "n", "psnr": "PSNR", "sha256": "hash"}
    made = imported(f"model,id,n,PSNR,hash\n{lines}", columns, signature="theirs")
    assert (made["rows"], made["matched"]) == (3, 2)
    first, second, third = rows(folder)
    assert (first["editor"], first["round"], first["psnr"], first["chain"]) == ("gpt", 2, 20.0, None)
    assert second["chain"] == third["chain"] == stores.chain("paint").id
    assert {row["signature"] for row in rows(folder)} == {"theirs"}
    assert "- config_name: published" in (folder / "README.md").read_text()


def test_the_name_of_a_case_attaches_nothing(folder, imported):
    """A second study of the same cases bears the same names."""
    hashes = returned(folder)
    lines = f"source-1_glasses,1,30,{hashes[1]}\nsource-1_glasses,2,9,0\n"
    assert imported(f"case,round,psnr,sha256\n{lines}")["matched"] == 0
    assert imported("case,round,psnr\nsource-1_glasses,1,30\n")["matched"] == 0


def test_the_published_psnr_shows_that_the_answers_are_the_same(folder, imported):
    steps = Reader(folder).table("steps", ["chain", "step", "round", "position"]).to_pylist()
    blank = dict.fromkeys(column.name for column in scores_config().columns)
    scored = [blank | row | {"psnr": 40.0 / row["step"]} for row in steps if row["step"]]
    schema.write(folder / "data" / "scores" / "0000.parquet", scores_config(), scored, folder)
    returns = {row["round"]: row["psnr"] for row in scored if row["position"] == 2}
    for gap, matched in ((0.0, len(returns)), (0.01, 0)):
        lines = [f"any,{round},{psnr + gap:.4f}" for round, psnr in returns.items()]
        assert imported("\n".join(["case,round,psnr", *lines]))["matched"] == matched


def test_a_zero_must_be_declared(folder, imported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = HEAD + "paint,a,1,30,0.0\npaint,a,2,,0.0\n"
    with pytest.raises(UserError, match=r"has zeros for lpips; .* --zero-is-missing lpips or --zero-is-real"):
        imported(text, COLUMNS)
    words = ["scores.csv", "--dataset", "out", "--editor", "paint", "--zero-is-missing", "lpips", "--json"]
    mapped = [f"--column={ours}={theirs}" for ours, theirs in COLUMNS.items()]
    outcome = json.loads(say("import", "--layout", "scores", *words, *mapped))
    assert (outcome["rows"], outcome["matched"], outcome["zeros"]) == (2, 0, 2)
    assert [row["lpips"] for row in rows(folder)] == [None, None]
    declared = {"lpips": "published as 0, declared as not computed"}
    reasons = [json.loads(row["reasons"]) for row in rows(folder)]
    assert reasons == [declared, {**declared, "psnr": "not published"}]
    imported(text, COLUMNS, real_zeros=["lpips"])
    assert [row["lpips"] for row in rows(folder)] == [0.0, 0.0]


def test_repeated_rows_count_once_and_contradictions_are_refused(imported):
    made = imported(HEAD + "paint,b,1,7,0.5\npaint,b,1,7,0.5\n", COLUMNS)
    assert (made["rows"], made["repeated"]) == (1, 1)
    with pytest.raises(
        UserError, match=r"has different rows for editor 'paint', case 'a', run 1, round 1; keep one"
    ):
        imported(HEAD + "paint,a,1,30,0.1\npaint,a,1,20,0.3\n", COLUMNS)


def test_an_imported_table_survives_a_rebuild(folder, imported, tmp_path):
    for psnr in (30, 31):
        imported(f"case,round,psnr,NIQE\na,1,{psnr},4.5\n", {"niqe": "NIQE"})
    stores.built(folder, tmp_path / "run")
    assert [(row["psnr"], row["niqe"]) for row in rows(folder)] == [(31.0, 4.5)]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"psnr": "psnrr"}, r"has no column 'psnrr' for psnr; its columns are model, id, n, PSNR, LPIPS"),
        ({"case": "id", "round": "n", "editor": "model"}, "has no metric; map one, such as --column psnr=PSNR"),
        ({"psnr": "PSNR", "editor": "model", "round": "n"}, "row 1: the row has no case; --column case=THEIRS"),
        ({"psnr": "PSNR", "case": "id", "round": "n"}, "row 1: the row has no editor"),
        ({"psnr": "id", "case": "id", "round": "n", "editor": "model"}, "row 1: psnr must be a number, got 'a'"),
        ({"table": "PSNR", "case": "id", "round": "n", "editor": "model"}, "cannot have the name 'table'"),
    ],
)
def test_a_table_that_cannot_be_understood_is_refused(folder, tmp_path, columns, says):
    (tmp_path / "scores.csv").write_text(HEAD + "paint,a,1,30,0.1\n")
    with pytest.raises(UserError, match=says):
        import_scores(tmp_path / "scores.csv", folder, columns)
    assert not (folder / "data" / "published").exists()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"run": -1}, "run must be a whole number from 0"),
        ({"round": float("inf")}, "row 1: round must be a whole number from 0 to 2147483647"),
        ({"case": "\ud800"}, "case must be text"),
        ("a text", "holds 'a text'; a row must be an object"),
    ],
)
def test_a_row_that_no_table_can_hold_is_refused(folder, tmp_path, row, says):
    whole = {"editor": "paint", "case": "a", "round": 1, "psnr": 30.0}
    (tmp_path / "scores.json").write_text(json.dumps([{**whole, **row} if isinstance(row, dict) else row]))
    with pytest.raises(UserError, match=says):
        import_scores(tmp_path / "scores.json", folder, {})
