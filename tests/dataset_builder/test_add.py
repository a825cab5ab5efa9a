"""An editor joins a published version from its own run alone."""

import datasets
import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.publishing.add import add
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.generation.records import UserError
from hub_fixtures import REPO, score
from huggingface_hub import HfApi

pytest_plugins = ["hub_fixtures"]


@pytest.fixture
def joining(tmp_path):
    """The scored dataset of a run of another editor."""
    stores.keep(tmp_path / "joining", stores.chain("blur"), size=(96, 64))
    return score(stores.built(tmp_path / "mine" / "convergebench", tmp_path / "joining"))


def test_an_editor_is_added_without_downloading_pictures(hub, api, folder, joining, tmp_path):
    publish(api, folder, REPO, "v1.0.0")
    before = hub.store.contents("dataset", REPO, "v1.0.0")
    with hub.counting() as log:
        outcome = add(api, joining, REPO)
    assert outcome["tag"] == "v1.1.0"
    assert outcome["pull_request"] is None
    there = hub.store.contents("dataset", REPO, "v1.1.0")
    before.pop("README.md")
    assert {path: there[path] for path in before} == before
    assert there["data/steps/blur/0000.parquet"] == (joining / "data/steps/blur/0000.parquet").read_bytes()
    steps = [exchange for exchange in log if exchange.method == "GET" and "data/steps/" in exchange.path]
    assert all("range" in str(exchange.headers).lower() for exchange in steps), "no shard is fetched whole"
    for path, data in there.items():
        stores.write(tmp_path / "copy" / "convergebench" / path, data)
    copy = Reader(tmp_path / "copy" / "convergebench")
    copy.refuse_unfinished()
    assert set(copy.editors()) == {"paint", "jpeg:quality=40", "blur"}
    assert len(copy.chains()) == 3
    words = {"split": "test", "cache_dir": str(tmp_path / "cached")}
    loaded = datasets.load_dataset(str(tmp_path / "copy" / "convergebench"), "scores", **words)
    assert len(loaded) == copy.table("scores").num_rows == 12
    with pytest.raises(UserError, match="blur is published already"):
        add(api, joining, REPO)


def test_an_editor_of_somebody_else_is_a_pull_request_that_loads(hub, api, folder, joining, tmp_path):
    publish(api, folder, REPO, "v1.0.0")
    ben = HfApi(endpoint=hub.url, token=hub.token_of("ben"))
    outcome = add(ben, joining, REPO)
    assert outcome["pull_request"].endswith("/discussions/1")
    assert set(hub.store.repo("dataset", REPO).tags) == {"v1.0.0"}
    assert Reader(f"hf://datasets/{REPO}@main", api).editors().keys() == {"jpeg:quality=40", "paint"}
    proposed = Reader(f"hf://datasets/{REPO}@refs/pr/1", api)
    proposed.refuse_unfinished()
    assert proposed.editors().keys() == {"blur", "jpeg:quality=40", "paint"}
    add(HfApi(endpoint=hub.url, token=hub.token_of("NS")), joining, REPO)
    assert set(hub.store.repo("dataset", REPO).tags) == {"v1.0.0", "v1.1.0"}, "its owner needs no pull request"


def test_a_dataset_without_a_version_is_refused(api, joining):
    with pytest.raises(UserError, match="no published version yet"):
        add(api, joining, REPO)
