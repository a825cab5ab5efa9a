"""`convergebench verify` names broken files and what depends on them; --repair sets them aside to be rebuilt."""

import contextlib
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scored
import small_dataset
import stores
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.publishing.verify import verify_dataset
from convergebench.generation import ledger
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine
from convergebench.spaces_app.reporting.write import open_scored, read_analysis
from convergebench.spaces_app.space.served_dataset import COPIED_TABLES, ServedDataset, open_dataset
from convergebench.spaces_app.statistics import compute_tables
from hub_fixtures import REPO
from huggingface_hub import CommitOperationAdd
from verbs import invoke


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    dataset = scored.built(scored.runs(folder / "run"), folder / "dataset")
    engine.run(engine.prepare(dataset, ["psnr"], "cpu", None))
    card.write(dataset, engine.MADE)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "made")


def verify(*words):
    return invoke("verify", *words)


def broken_files(folder):
    done = verify(folder, "--json")
    findings = [row["path"] for row in json.loads(done.stdout)["findings"]]
    assert done.exit_code == bool(findings)
    return findings


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


def test_an_undamaged_run_and_dataset_verify(folder, tmp_path):
    for name in ("run", "dataset"):
        assert broken_files(folder / name) == []
    (tmp_path / "neither").mkdir()
    assert verify(tmp_path / "neither").exit_code == 2


CONFIGS = ("steps", "chains", "sources", "scores", "floors", "editors")


@pytest.mark.parametrize("config", CONFIGS)
def test_a_flipped_bit_and_a_missing_table_are_named(folder, config):
    path = sorted((folder / "dataset" / "data" / config).rglob("*.parquet"))[0]
    size = path.stat().st_size
    for place in (2, size // 2, size - 30):
        flip(path, place)
        assert str(path.relative_to(folder / "dataset")) in broken_files(folder / "dataset")
        flip(path, place)
    path.unlink()
    assert str(path.relative_to(folder / "dataset")) in broken_files(folder / "dataset")
    report = invoke("report", folder / "dataset", "--out", folder / "report")
    assert report.exit_code == 2
    assert f"{path.name} is missing; restore it, or let" in report.output


def one_sentence(*words):
    """The exit code of a verb, which either works all the same or says what to do."""
    result = invoke(*words)
    assert result.exit_code == 0 or "restore it, or let" in result.output, (words, result.output)
    return result.exit_code


@pytest.mark.parametrize(
    "config", [pytest.param(name, marks=[pytest.mark.slow] * (name != "scores")) for name in CONFIGS]
)
def test_a_broken_file_is_one_sentence_and_can_be_rebuilt(folder, tmp_path, config):
    dataset, run = folder / "dataset", folder / "run"
    path = sorted((dataset / "data" / config).rglob("*.parquet"))[0]
    name, whole = path.relative_to(dataset), path.read_bytes()
    for number, data in enumerate((b"", b"PAR1" + b"hello" * 50 + b"PAR1", whole[:-100])):
        path.write_bytes(data)
        one_sentence("report", dataset, "--out", tmp_path / "report")
        one_sentence("build", run, "--out", shutil.copytree(dataset, tmp_path / f"again{number}"))
        with contextlib.suppress(UserError):
            open_dataset(str(dataset))
    copy = shutil.copytree(dataset, tmp_path / "scored")
    assert invoke("score", copy, "--metrics", "psnr").exit_code in (1, 2)
    result = verify(dataset, "--repair", "--json")
    assert json.loads(result.stdout)["set_aside"] == [name.as_posix()]
    assert (dataset / ".set-aside" / "1" / name).read_bytes() == whole[:-100]
    assert one_sentence("build", run, "--out", dataset) == 0
    assert one_sentence("score", dataset, "--metrics", "psnr") == 0
    assert path.read_bytes() == whole
    assert verify(dataset).output == f"{dataset}: nothing is broken\n"


def test_a_changed_picture_of_a_run_is_named_and_set_aside(folder):
    picture = sorted((folder / "run" / "chains").glob("*/0002.*"))[0]
    flip(picture, 200)
    assert broken_files(folder / "run") == [f"chains/{picture.parent.name}"]
    assert verify(folder / "run", "--repair").exit_code == 1
    assert not picture.parent.exists()
    assert verify(folder / "run").exit_code == 0


def test_what_was_answered_instead_of_a_picture_is_checked_too(folder):
    chain = sorted((folder / "run" / "chains").iterdir())[0]
    *lines, last = (chain / "steps.jsonl").read_text().splitlines()
    last = json.dumps({**json.loads(last), "status": "no_image", "reason": "not a picture"})
    (chain / "steps.jsonl").write_text("\n".join([*lines, last]) + "\n")
    stores.finish(chain, len(lines), "no_image")
    assert verify(folder / "run").exit_code == 0
    flip(chain / json.loads(last)["file"], 20)
    assert broken_files(folder / "run") == [f"chains/{chain.name}"]


@pytest.mark.parametrize("what", ["picture", "line", "lines", "chain", "ledger", "source"])
def test_damage_in_an_unfinished_run_is_named(folder, what):
    run = folder / "run"
    chain = sorted((run / "chains").iterdir())[0]
    (chain / "done.json").unlink()
    ledger.Budget(run=run, opening=0.12)
    users_file = run / "sources" / "notes.txt"
    users_file.write_text("theirs")
    assert verify(run).exit_code == 0
    path, lines = chain / "steps.jsonl", (chain / "steps.jsonl").read_bytes().splitlines(keepends=True)
    if what == "picture":
        flip(sorted(chain.glob("0002.*"))[0], 100)
    elif what == "chain":
        (chain / "chain.json").unlink()
    elif what == "line":
        path.write_bytes(b"".join([*lines[:1], lines[2], *lines[2:]]))
    elif what == "lines":  # a crash leaves one answer without its line, not two
        path.write_bytes(b"".join(lines[:-1]))
        assert verify(run).exit_code == 0
        path.write_bytes(b"".join(lines[:-2]))
    elif what == "ledger":
        flip(run / "ledger" / "calls.jsonl", 20)
    else:
        flip(sorted((run / "sources").glob("*.png"))[0], 60)
    result = verify(run, "--repair")
    assert result.exit_code == 1
    stays = what == "ledger"  # a ledger is never set aside: it is about money
    assert (run / ".set-aside").exists() != stays
    assert verify(run).exit_code == (1 if stays else 0)
    assert users_file.read_text() == "theirs"


@pytest.mark.parametrize("other", ["floors", "scores"])
def test_a_table_in_anothers_place_is_never_read(folder, tmp_path, other):
    dataset, place = folder / "dataset", folder / "dataset" / "data" / "scores" / "0000.parquet"
    made = dataset
    if other == "scores":  # the same numbers and those of one more editor
        theirs = scored.runs(tmp_path / "theirs")
        scored.keep(theirs, scored.chain("more", 2), [scored.encoded(scored.picture(2, scored.SIZES[2]))] * 6)
        made = scored.built(theirs, tmp_path / "made")
        engine.run(engine.prepare(made, ["psnr"], "cpu", None))
    shutil.copy(made / "data" / other / "0000.parquet", place)
    with pytest.raises(UnreadableFile, match="it is another file than the one that was written in its place"):
        next(Reader(dataset).rows("scores"))
    assert verify(dataset).exit_code == 1
    result = invoke("score", dataset, "--metrics", "psnr")
    assert result.exit_code == 2
    assert "scores/0000.parquet cannot be read" in result.output


def with_null_psnr(table):
    return table.set_column(table.column_names.index("psnr"), "psnr", pa.nulls(len(table), pa.float64()))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda table: table.drop_columns(["psnr"]), "another file|its columns are not those that were written"),
        (lambda table: table.replace_schema_metadata(None), "it has no digests of its columns"),
        (with_null_psnr, "its column 'psnr' are not those that were written"),
    ],
)
def test_a_table_that_another_program_wrote_is_never_read(folder, change, says):
    place = folder / "dataset" / "data" / "scores" / "0000.parquet"
    metadata = pq.read_metadata(place).metadata
    pq.write_table(change(pq.read_table(place).replace_schema_metadata(metadata)), place)
    for reader in (Reader(folder / "dataset"), Reader(shutil.copytree(folder / "dataset", folder / "unlisted"))):
        small_dataset.list_files(folder / "unlisted")
        with pytest.raises(UnreadableFile, match=says):
            reader.table("scores")


@pytest.mark.parametrize(
    "text", ["{", '{"files": {"\\ud800": {}}}', '{"files": {"a": {"sha256": "\\ud800"}}}', "columns"]
)
def test_a_malformed_manifest_does_not_crash(folder, text):
    dataset = folder / "dataset"
    path = dataset / manifest.CARD
    if text == "columns":
        files = manifest.read(dataset)[0]
        text = json.dumps({"files": {name: {**entry, "columns": "x"} for name, entry in files.items()}})
    path.write_bytes(manifest.in_card(path.read_bytes(), text.encode() + b"\n"))
    result = invoke("score", dataset, "--metrics", "psnr")
    assert result.exit_code in (0, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 1, "#check": "0123456789abcdef"}'])
def test_a_run_with_a_broken_or_no_description_stays_a_run(folder, text):
    (folder / "run" / "run.json").write_text(text)
    result = verify(folder / "run", "--repair")
    assert (result.exit_code, "broken: run.json: " in result.output) == (1, True)
    assert (folder / "run" / "run.json").read_text() == text
    (folder / "run" / "run.json").unlink()
    assert "broken: run.json: " in verify(folder / "run").output
    words = ["generate", "--suite", "smoke", "--editor", "identity", "--out", folder / "run"]
    assert "holds chains and no run.json; restore it" in invoke(*words).output


def test_a_changed_metric_folder_is_set_aside_and_copied(folder):
    dataset, run = folder / "dataset", folder / "run"
    assert invoke("build", run, "--out", dataset).exit_code == 0
    users_file = dataset / "psnr" / "thesis.txt"
    users_file.write_text("theirs")
    (dataset / "psnr" / "psnr.py").write_text("cut")
    again = invoke("build", run, "--out", dataset)
    assert again.exit_code == 2
    assert "psnr/psnr.py, which `convergebench build` did not write" in again.output
    assert verify(dataset, "--repair").exit_code == 1
    assert (dataset / ".set-aside" / "1" / "psnr" / "psnr.py").read_text() == "cut"
    assert invoke("build", run, "--out", dataset).exit_code == 0
    assert verify(dataset).exit_code == 0
    assert (dataset / "psnr" / "psnr.py").read_text() != "cut"
    (dataset / "ssim" / ".manifest.json").write_text("{")
    assert broken_files(dataset) == ["ssim/.manifest.json"]
    assert verify(dataset, "--repair").exit_code == 1
    assert invoke("build", run, "--out", dataset).exit_code == 0
    assert verify(dataset).exit_code == 0
    assert users_file.read_text() == "theirs"


# The card lists every file with a digest of its values: what is missing, unlisted or stale is a sentence

pytest_plugins = ["hub_fixtures"]
FILE = "data/{}/0000.parquet"
SCORES = FILE.format("scores")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("small") / "convergebench")


@pytest.fixture
def listed(small, tmp_path):
    return shutil.copytree(small, tmp_path / "convergebench")


def without(config, keep):
    """Rows taken out of a table, with digests of the values that are left."""

    def damage(folder):
        path = folder / FILE.format(config)
        table = pq.read_table(path)
        small_dataset.rewrite(path, table.take([row for row in range(table.num_rows) if keep(row)]), listed=False)

    return damage


def gone(config):
    return lambda folder: (folder / FILE.format(config)).unlink()


DAMAGE = {
    "chains without two rows": without("chains", lambda row: row > 1),
    "scores without a row": without("scores", lambda row: row != 5),
    "floors without a row": without("floors", bool),
    "sources without a row": without("sources", bool),
    "no floors": gone("floors"),
    "no editors": gone("editors"),
    "a second file of scores": lambda folder: shutil.copy(folder / SCORES, folder / "data/scores/0001.parquet"),
    "a table more": lambda folder: shutil.copytree(folder / "data/scores", folder / "data/published"),
    "a flipped bit": lambda folder: flip(folder / SCORES, (folder / SCORES).stat().st_size // 2),
    "no card": lambda folder: (folder / manifest.CARD).unlink(),
    "a build that stopped": lambda folder: manifest.expect(folder, {FILE.format("chains"): {}}),
}


def board(reader):
    return compute_tables(read_analysis(reader))["leaderboard"].rows


def checked_board(reader):
    reader.refuse_unfinished()
    return board(reader)


def served(reader):
    """As the Space does."""
    reader.copy_tables(COPIED_TABLES)
    return compute_tables(ServedDataset(reader))


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_not_as_listed_is_never_a_number(listed, damage, api):
    """In a folder as over the Hub."""
    assert board(open_scored(listed))
    damage(listed)
    with pytest.raises(UnreadableFile, match=r"\.parquet (is |was |cannot be read: )"):
        board(open_scored(listed))
    with pytest.raises(UnreadableFile):
        open_dataset(str(listed))
    assert verify_dataset(listed)
    api.create_repo(REPO, repo_type="dataset")
    files = [path for path in listed.rglob("*") if path.is_file()]
    adds = [CommitOperationAdd(path.relative_to(listed).as_posix(), path) for path in files]
    api.create_commit(REPO, adds, commit_message="first", repo_type="dataset")
    for read in (checked_board, served):
        with pytest.raises(UnreadableFile):
            read(Reader(f"hf://datasets/{REPO}", api))


def test_a_new_reader_sees_what_was_published_since(listed, api):
    api.create_repo(REPO, repo_type="dataset")
    for count, file in enumerate((FILE.format("chains"), FILE.format("sources")), 1):
        add = CommitOperationAdd(file, listed / file)
        api.create_commit(REPO, [add], commit_message="more", repo_type="dataset")
        assert len(Reader(f"hf://datasets/{REPO}", api).data_files()) == count


def test_a_card_may_list_what_is_no_table(listed):
    before = board(open_scored(listed))
    manifest.expect(listed, {"notes.parquet": {}, "data/loose.parquet": {}, "data//loose.parquet": {}})
    assert board(open_scored(listed)) == before
    assert {"notes.parquet", "data/loose.parquet"} <= {finding.path for finding in verify_dataset(listed)}


def test_scores_without_their_chain_are_refused(listed):
    without("chains", lambda row: row > 1)(listed)
    small_dataset.list_files(listed)
    for read, place in ((board, open_scored(listed)), (open_dataset, str(listed))):
        with pytest.raises(
            UserError, match=r"data/scores has rows of chain \w+, which data/chains does not have"
        ):
            read(place)


def test_millions_of_empty_rows_are_refused_before_they_are_read(listed):
    path = listed / FILE.format("scores")
    table = pa.table({"chain": pa.nulls(3_000_000, pa.string()), "step": pa.nulls(3_000_000, pa.int32())})
    pq.write_table(table, path, row_group_size=3_000_000)
    small_dataset.list_files(listed)
    most = pa.default_memory_pool().bytes_allocated()
    for read in (open_scored(listed).table, open_scored(listed).places, Reader(listed).rows):
        with pytest.raises(UnreadableFile, match="3,000,000 rows"):
            list(read("scores"))
    assert pa.default_memory_pool().bytes_allocated() <= most
