"""The Space over a dataset on the Hub: small tables fetched once, pictures row group by row group, at one revision."""

import json
import os
import subprocess
import sys

import small_dataset
from click.testing import CliRunner
from convergebench.cli.__main__ import main
from hub_server import HubServer
from huggingface_hub import CommitOperationAdd, HfApi
from space_server import serving

CODE = """
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.served_dataset import open_dataset
made = open_dataset("NS/small", "v1.0.0")
print(sorted((row["editor"], row["cost"] and round(row["cost"], 6)) for row in leaderboard(made).table.rows))
chain = next(chain for chain in made.reader.chains() if chain.editor == "steady")
print(made.reader.steps_of(chain)[0].status, len(made.reader.picture(chain.id, 0)))
"""


def test_a_hub_dataset_is_read_without_fetching_its_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    folder = small_dataset.write(tmp_path / "small")
    with HubServer(tmp_path / "hub") as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo("NS/small", repo_type="dataset")
        files = [path for path in folder.rglob("*") if path.is_file()]
        adds = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in files]
        api.create_commit("NS/small", adds, commit_message="first", repo_type="dataset")
        api.create_tag("NS/small", tag="v1.0.0", repo_type="dataset")
        gone = [each for each in adds if "steps" in each.path_in_repo]
        api.delete_files("NS/small", [each.path_in_repo for each in gone], repo_type="dataset")
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(tmp_path / "home")}
        environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr
    editors, picture = done.stdout.splitlines()
    assert editors == str([("fading", 0.08), ("identity", None), ("steady", 0.12)])
    assert picture == f"input {len(small_dataset.picture(0))}"
    fetched = {path.parent.name for path in (tmp_path / "home").rglob("*.parquet")}
    assert fetched == {"chains", "scores", "floors", "sources", "editors"}


def test_a_space_of_another_namespace_shows_its_dataset(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    folder = small_dataset.write(tmp_path / "small")
    with HubServer(tmp_path / "hub") as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", hub.token)
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo("NS2/convergebench", repo_type="dataset")
        api.upload_folder(repo_id="NS2/convergebench", folder_path=folder, repo_type="dataset")
        api.create_tag("NS2/convergebench", tag="v1.0.0", repo_type="dataset")
        done = CliRunner().invoke(main, ["publish", "space", "--repo", "NS2/front", "--tag", "v1.0.0"])
        assert done.exit_code == 0, done.output
        assert "NS2/front shows NS2/convergebench at v1.0.0" in done.output
        for path, data in hub.store.contents("space", "NS2/front", "v1.0.0").items():
            (tmp_path / "space" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "space" / path).write_bytes(data)
        card = (tmp_path / "space" / "README.md").read_text()
        assert "convergebench/convergebench" not in card.replace("NS2/convergebench/convergebench", "")
        assert 'Client("NS2/front")' in card
        assert "  - NS2/convergebench\n" in card
        environment = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(tmp_path / "home")}
        environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0", "CONVERGEBENCH_DATASET": ""}
        environment["PYTHONPATH"] = str(tmp_path / "space")  # before this checkout, which is installed as editable
        command = [sys.executable, str(tmp_path / "space" / "app.py")]
        with serving("", tmp_path / "cache", command, environment) as server:
            status, board = server.ask("leaderboard", "", "all", "all", "convergence", 0.5, [])
            assert status == 200
            assert {"steady", "fading"} <= {row["editor"] for row in board["rows"]}
        named = json.loads((tmp_path / "space/convergebench/spaces_app/space/published.json").read_text())
        assert named == {"dataset": "NS2/convergebench", "revision": "v1.0.0"}
