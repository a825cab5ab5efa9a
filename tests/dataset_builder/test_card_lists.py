"""The card lists every file with a digest of its values: what is missing, unlisted or stale is a sentence."""

import shutil
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dataset
from convergebench.dataset_builder.dataset import manifest
from convergebench.dataset_builder.dataset.reader import Reader, UnreadableFile
from convergebench.dataset_builder.publishing.verify import verify_dataset
from convergebench.generation.records import UserError
from convergebench.spaces_app.reporting.write import open_scored, read_analysis
from convergebench.spaces_app.space.served_dataset import COPIED_TABLES, ServedDataset, open_dataset
from convergebench.spaces_app.statistics import compute_tables
from fuzz.mutations import flipped
from hub_fixtures import REPO
from huggingface_hub import CommitOperationAdd

pytest_plugins = ["hub_fixtures"]
FILE = "data/{}/0000.parquet"
SCORES = FILE.format("scores")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("small") / "convergebench")


@pytest.fixture
def folder(small, tmp_path):
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


def flip(path):
    data = path.read_bytes()
    path.write_bytes(flipped(data, len(data) // 2, Random(1)))


DAMAGE = {
    "chains without two rows": without("chains", lambda row: row > 1),
    "scores without a row": without("scores", lambda row: row != 5),
    "floors without a row": without("floors", bool),
    "sources without a row": without("sources", bool),
    "no floors": gone("floors"),
    "no editors": gone("editors"),
    "a second file of scores": lambda folder: shutil.copy(folder / SCORES, folder / "data/scores/0001.parquet"),
    "a table more": lambda folder: shutil.copytree(folder / "data/scores", folder / "data/published"),
    "a flipped bit": lambda folder: flip(folder / SCORES),
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
def test_what_is_not_as_listed_is_never_a_number(folder, damage, api):
    """In a folder as over the Hub."""
    assert board(open_scored(folder))
    damage(folder)
    with pytest.raises(UnreadableFile, match=r"\.parquet (is |was |cannot be read: )"):
        board(open_scored(folder))
    with pytest.raises(UnreadableFile):
        open_dataset(str(folder))
    assert verify_dataset(folder)
    api.create_repo(REPO, repo_type="dataset")
    files = [path for path in folder.rglob("*") if path.is_file()]
    adds = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in files]
    api.create_commit(REPO, adds, commit_message="first", repo_type="dataset")
    for read in (checked_board, served):
        with pytest.raises(UnreadableFile):
            read(Reader(f"hf://datasets/{REPO}", api))


def test_a_card_may_list_what_is_no_table(folder):
    before = board(open_scored(folder))
    manifest.expect(folder, {"notes.parquet": {}, "data/loose.parquet": {}, "data//loose.parquet": {}})
    assert board(open_scored(folder)) == before
    assert {"notes.parquet", "data/loose.parquet"} <= {finding.path for finding in verify_dataset(folder)}


@pytest.mark.parametrize(
    "read", [lambda folder: board(open_scored(folder)), lambda folder: open_dataset(str(folder))]
)
def test_scores_without_their_chain_are_refused(folder, read):
    without("chains", lambda row: row > 1)(folder)
    small_dataset.list_files(folder)
    with pytest.raises(UserError, match=r"data/scores has rows of chain \w+, which data/chains does not have"):
        read(folder)


def test_millions_of_empty_rows_are_refused_before_they_are_read(folder):
    path = folder / FILE.format("scores")
    table = pa.table({"chain": pa.nulls(3_000_000, pa.string()), "step": pa.nulls(3_000_000, pa.int32())})
    pq.write_table(table, path, row_group_size=3_000_000)
    small_dataset.list_files(folder)
    most = pa.default_memory_pool().bytes_allocated()
    for read in (open_scored(folder).table, open_scored(folder).places, Reader(folder).rows):
        with pytest.raises(UnreadableFile, match="3,000,000 rows"):
            list(read("scores"))
    assert pa.default_memory_pool().bytes_allocated() <= most
