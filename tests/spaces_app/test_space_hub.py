"""The Space over a dataset on the Hub: small tables fetched once, pictures row group by row group, at one revision."""

import os
import subprocess
import sys

import small_dataset
from hub_server import HubServer
from huggingface_hub import CommitOperationAdd, HfApi

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
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_OFFLINE": "0"}
        environment |= {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
        command = [sys.executable, "-c", CODE]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    editors, picture = done.stdout.splitlines()
    assert editors == str([("fading", 0.08), ("identity", None), ("steady", 0.12)])
    assert picture == f"input {len(small_dataset.picture(0))}"
    fetched = {path.parent.name for path in (tmp_path / "home").rglob("*.parquet")}
    assert fetched == {"chains", "scores", "floors", "sources", "editors"}
