"""Fixtures for tests that publish: a Hub of their own, a client, and small scored datasets."""

import shutil

import huggingface_hub
import pytest
import stores
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import configs
from convergebench.dataset_builder.publishing.publish import _published_files
from convergebench.metric_modules.scores import SCORES
from hub_server import HubServer
from huggingface_hub import HfApi

REPO = "NS/convergebench"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    huggingface_hub.utils.disable_progress_bars()
    with HubServer(tmp_path / "hub") as server:
        yield server


@pytest.fixture
def api(hub):
    return HfApi(endpoint=hub.url, token=hub.token)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A scored dataset of two editors, and the same with a third."""
    folder = tmp_path_factory.mktemp("made")
    for editor in ("paint", "jpeg:quality=40"):
        stores.keep(folder / "run", stores.chain(editor), kinds=("png", "jpg"), size=(96, 64))
    score(stores.built(folder / "first" / "convergebench", folder / "run"))
    shutil.copytree(folder / "first", folder / "second")
    stores.keep(folder / "more", stores.chain("blur"), size=(96, 64))
    stores.built(folder / "second" / "convergebench", folder / "run", folder / "more")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made / "first" / "convergebench", tmp_path / "convergebench")


def score(folder):
    nothing = {column.name: None for column in SCORES.columns}
    steps = Reader(folder).table("steps").to_pylist()
    rows = [
        nothing | {k: step[k] for k in nothing if k in step} | {"psnr": 30.0} for step in steps if step["step"]
    ]
    schema.write(folder / "data/scores/0000.parquet", SCORES, rows, folder)
    card.write(folder, configs())
    return folder


def local(folder):
    return {path: file.read_bytes() for path, file in sorted(_published_files(folder).items())}
