"""The real clients and a Hub: what was published is what they read, and no token is ever said."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stores
from convergebench import metric_modules
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.dataset_builder.publishing.spaces import publish_metrics
from hub_fixtures import REPO, local, score
from hub_server import Cut, Refusal
from verbs import invoke

pytest_plugins = ["hub_fixtures"]


CLIENTS = """
import datasets, evaluate

old = datasets.load_dataset("NS/convergebench", "scores", split="test", revision="v1.0.0")
assert set(old["psnr"]) == {30.0} and set(old["editor"]) == {"paint", "jpeg:quality=40"}, old
assert datasets.load_dataset("NS/convergebench", split="test", revision="v1.1.0").num_rows == 15
assert datasets.load_dataset("NS/convergebench", split="test", revision="v1.0.0").num_rows == 10
kept = [[0.9, 0.7, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1]]
assert evaluate.load("NS/halflife").compute(predictions=kept)["half_life"] == 3
picture = datasets.load_dataset("NS/convergebench", split="test", revision="v1.0.0")[0]["image"]
assert evaluate.load("NS/psnr").compute(predictions=[picture], references=[picture])["psnr"] == 100.0
"""


@pytest.fixture
def run(hub, tmp_path):
    """Runs a program that knows the Hub by its environment alone; the token must not be in what it says."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    hub_here = {"HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HUB_DISABLE_XET": "1"}
    environment = inherited | hub_here | {"HF_HOME": str(tmp_path / "home")}

    def program(*words):
        command = [sys.executable, *words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        assert hub.token not in output
        return output

    return program


def test_the_real_clients_read_what_was_published(hub, api, made, folder, tmp_path, run):
    """datasets, evaluate and the hf command."""
    output = run("-m", "convergebench", "publish", "dataset", str(folder), "--repo", REPO, "--tag", "v1.0.0")
    assert "v1.0.0 (the first version)" in output
    assert "steps: 0 -> 10 rows" in output
    publish(api, made / "second" / "convergebench", REPO, "v1.1.0")
    for name in ("halflife", "psnr"):
        publish_metrics(api, Path(metric_modules.__file__).parent / name, "NS", "v1.0.0")
    run("-c", CLIENTS)
    download = ("-m", "huggingface_hub.cli.hf", "download", REPO, "--repo-type", "dataset")
    run(*download, "--revision", "v1.0.0", "--local-dir", str(tmp_path / "copy"))
    shutil.rmtree(tmp_path / "copy" / ".cache")
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "copy").as_posix(): path.read_bytes() for path in files} == local(folder)
    for path, data in hub.store.contents("dataset", REPO, "main").items():
        assert hub.token.encode() not in data, path


FIRST_ROWS = """
import os, urllib.error, urllib.request
import datasets
from convergebench.dataset_builder.dataset.reader import Reader

def mark(name):
    try:
        urllib.request.urlopen(os.environ["HF_ENDPOINT"] + "/mark/" + name)
    except urllib.error.HTTPError:
        pass

reader = Reader("hf://datasets/NS/convergebench@v1.0.0")
row = next(reader.rows("steps"))
assert row["step"] == 0 and len(row["image"]["bytes"]) > 2_000_000
mark("row")
assert len(reader.picture_at([*reader.places()][-1])) > 2_000_000
mark("picture")
assert Reader("hf://datasets/NS/convergebench@v1.0.0").table("scores")["psnr"][0].as_py() == 30.0
mark("scores")
assert datasets.load_dataset("NS/convergebench", "scores", split="test", revision="v1.0.0")["psnr"][0] == 30.0
mark("loaded")
rows = datasets.load_dataset("NS/convergebench", split="test", revision="v1.0.0", streaming=True)
assert next(iter(rows))["image"].size == (820, 820)
mark("streamed")
os._exit(0)  # pyarrow still reads ahead, and a thread of its that calls Python may hang the interpreter's orderly end
"""


def test_the_first_row_one_picture_and_the_scores_cost_little(hub, api, tmp_path, run):
    """Of 21 pictures of 2 MB each."""
    stores.keep(tmp_path / "large", stores.chain(rounds=10), size=(820, 820))
    publish(api, score(stores.built(tmp_path / "convergebench", tmp_path / "large")), REPO, "v1.0.0")
    with hub.counting() as log:
        run("-c", FIRST_ROWS)
    sent, passed = {}, 0
    for exchange in log:
        passed += exchange.sent
        if exchange.path.startswith("/mark/"):
            sent[exchange.path.removeprefix("/mark/")], passed = passed, 0
    assert 2_000_000 < sent["row"] < 10_000_000
    assert 2_000_000 < sent["picture"] < 10_000_000
    assert 2_000_000 < sent["streamed"] < 60_000_000
    assert max(sent["scores"], sent["loaded"]) < 1_000_000


@pytest.mark.parametrize("arguments", [("publish",), ("publish", "--json"), ("publish", "--dry-run")])
def test_the_token_is_never_said_whatever_goes_wrong(hub, folder, monkeypatch, arguments):
    """Not in the output, not in an error, not on its way to where large files lie."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    faults = [Refusal(500, f"broken, says {hub.token}"), Cut(), Refusal(403, hub.token), None]
    for fault in faults:
        hub.fault = lambda exchange, fault=fault: fault if exchange.method in ("POST", "PUT") else None
        command = ["publish", "dataset", str(folder), "--repo", REPO, "--tag", "v1.0.0", *arguments[1:]]
        done = invoke(*command)
        assert hub.token not in done.output + str(done.exception)
        assert (done.exit_code == 0) == (fault is None or "--dry-run" in arguments), done.output
    (folder / "README.md").write_text((folder / "README.md").read_text().replace("## Cite", hub.token))
    done = invoke(*command)
    assert done.exit_code == 2
    assert "README.md holds what looks like an access token" in done.output
    assert hub.token not in done.output
    content = [exchange for exchange in hub.log if exchange.path.startswith(("/content/", "/lfs/"))]
    assert not any(
        "Authorization" in exchange.headers for exchange in content if exchange.method in ("GET", "PUT")
    )


def test_a_run_is_pushed_as_a_version_only_if_it_changed(hub, tmp_path, monkeypatch):
    """What a CI does with --push, and where it is not found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    address = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setenv("HF_TOKEN", hub.token_of("anna"))

    options = ["--editor", "jpeg", "--suite", "smoke", "--limit", "1", "--no-audit", "--metrics", "psnr"]
    words = ["run", *options, "--rounds", "1", "--push", "anna/bench"]
    for _ in range(2):
        done = invoke(*words)
        assert done.exit_code == 0, done.output
        assert "published: anna/bench v1.0.0" in done.output
    assert [*hub.store.repo("dataset", "anna/bench").tags] == ["v1.0.0"]
    assert len(hub.store.repo("dataset", "anna/bench").history("main")) == 2
    hub.fault = lambda exchange: Refusal(404, "Not here.") if "/refs" in exchange.path else None
    missing = invoke(*words)
    assert missing.exit_code == 2
    assert "check the name" in missing.stderr.splitlines()[0]
    assert "again" not in missing.stderr
