"""The real clients and a Hub: what was published is what they read, and no token is ever said; and Spaces there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
import stores
from convergebench import metric_modules
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.dataset_builder.publishing.spaces import publish_metrics, shown_dataset
from convergebench.generation.records import UserError
from hub_fixtures import REPO, local, score
from hub_server import Cut, Refusal
from verbs import invoke, say

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

    def program(*words, code=0):
        command = [sys.executable, *words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        output = done.stdout + done.stderr
        assert done.returncode == code, output
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


IMPORT = ("-m", "convergebench", "import", "--layout", "dataset", "--editor", "m", "--out", "run")


@pytest.mark.parametrize("kind", ["files", "parquet"])
def test_pictures_on_the_hub_keep_their_bytes(api, tmp_path, run, kind):
    pictures = {name: stores.picture(len(name), (64, 64), "jpg") for name in ("source", "turn_1")}
    there, prompt = tmp_path / "there", {"turn_1_prompt": "add a cat"}
    if kind == "files":
        for name, data in pictures.items():
            stores.write(there / f"{name}.jpg", data)
        names = {f"{name}_file_name": f"{name}.jpg" for name in pictures}
        (there / "metadata.jsonl").write_text(json.dumps(names | prompt))
    else:
        features = dict.fromkeys(pictures, datasets.Image()) | {"turn_1_prompt": datasets.Value("string")}
        row = {name: {"bytes": data} for name, data in pictures.items()}
        rows = datasets.Dataset.from_list([row | prompt], datasets.Features(features))
        rows.to_parquet(there / "data" / "train-00000-of-00001.parquet")
    api.create_repo("NS/pictures", repo_type="dataset")
    api.upload_folder(repo_id="NS/pictures", repo_type="dataset", folder_path=there)
    run(*IMPORT, "NS/pictures", "--source-column", "source", "--turn", "turn_1")
    kept = {path.read_bytes() for path in (tmp_path / "run").rglob("*.jpg")}
    assert kept == {*pictures.values()}


def test_a_dataset_that_does_not_exist_is_one_sentence(run):
    output = run(*IMPORT, "NS/none", "--turn", "turn_1_image", code=2)
    assert "NS/none cannot be opened (Dataset 'NS/none' doesn't exist on the Hub" in output
    assert "Traceback" not in output


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


# Each metric and the app go to Spaces of their own, complete in themselves

CARD = '---\ntitle: {}\nsdk: gradio\n---\n{} = evaluate.load("convergebench/{}")\n'


@pytest.fixture
def metrics(tmp_path):
    folder = tmp_path / "metric_modules"
    for name in ("psnr", "ssim"):
        stores.write(folder / name / f"{name}.py", f"from .._evaluate.images import pixels\n# {name}\n")
        stores.write(folder / name / "README.md", CARD.format(name, name, name))
        stores.write(folder / name / "__pycache__" / "x.pyc", "")
    stores.write(folder / "_evaluate" / "images.py", "def pixels(): ...\n")
    stores.write(folder / "engine.py", "")
    return folder


def test_every_metric_has_a_space_complete_in_itself(hub, api, metrics):
    planned = publish_metrics(api, metrics, "NS", "v1.0.0", dry_run=True)
    assert planned == {"NS/psnr": (None, 4, 4), "NS/ssim": (None, 4, 4)}
    assert hub.store.repos == {}
    first = publish_metrics(api, metrics, "NS", "v1.0.0")
    assert set(first) == {"NS/psnr", "NS/ssim"}
    there = hub.store.contents("space", "NS/ssim", "v1.0.0")
    assert set(there) == {".manifest.json", "README.md", "app.py", "images.py", "ssim.py"}
    assert there["images.py"] == b"def pixels(): ...\n"
    assert hub.store.repo("space", "NS/ssim").sdk == "gradio"
    line = 'ssim = evaluate.load("{}/ssim")\n'
    assert line.format("NS").encode() in there["README.md"], "its card loads it from its namespace"
    assert line.format("convergebench") in (metrics / "ssim" / "README.md").read_text()
    stores.write(metrics / "psnr" / "psnr.py", "# better\n")
    second = publish_metrics(api, metrics, "NS", "v1.0.1")
    assert second["NS/ssim"][0] == first["NS/ssim"][0]
    assert hub.store.contents("space", "NS/psnr", "v1.0.0")["psnr.py"] != b"# better\n"
    assert hub.store.contents("space", "NS/psnr", "v1.0.1")["psnr.py"] == b"# better\n"


def test_files_of_others_in_a_space_stay(hub, api, metrics):
    publish_metrics(api, metrics / "psnr", "NS", "v1.0.0")
    api.upload_file(path_or_fileobj=b"theirs", path_in_repo="thesis.txt", repo_id="NS/psnr", repo_type="space")
    stores.write(metrics / "psnr" / "psnr.py", "# alone\n")
    [(commit, *_)] = publish_metrics(api, metrics / "psnr", "NS", "v1.0.1").values()
    there = hub.store.contents("space", "NS/psnr", "v1.0.1")
    assert set(there) == {".manifest.json", "README.md", "app.py", "psnr.py", "thesis.txt"}
    assert publish_metrics(api, metrics / "psnr", "NS", "v1.0.1")["NS/psnr"][0] == commit


def test_what_cannot_be_published_is_refused(hub, api, metrics, tmp_path):
    with pytest.raises(UserError, match="give the namespace alone, 'NS'"):
        publish_metrics(api, metrics / "psnr", "NS/other", None)
    with pytest.raises(UserError, match=r"must not have the tag v0\.4\.6"):  # for which evaluate looks first
        publish_metrics(api, metrics, "NS", "v0.4.6")
    assert hub.log == []
    with pytest.raises(UserError, match=r"holds no metric; a metric is a folder NAME with NAME\.py in it"):
        publish_metrics(api, tmp_path / "hub", "NS", None)
    stores.write(metrics / "psnr" / "README.md", "---\ntitle: x\n---\n")
    with pytest.raises(UserError, match="the card for NS/psnr names no sdk"):
        publish_metrics(api, metrics / "psnr", "NS", None)


def make_dataset(api, name, *tags):
    api.create_repo(name, repo_type="dataset", exist_ok=True)
    path = "data/scores/0000.parquet"
    api.upload_file(path_or_fileobj=b"scores", path_in_repo=path, repo_id=name, repo_type="dataset")
    for tag in tags:
        api.create_tag(name, tag=tag, repo_type="dataset")


def test_the_app_goes_up_with_the_rooms_it_imports(hub, api, monkeypatch):
    make_dataset(api, "NS/convergebench")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    say("publish", "space", "--repo", "NS/app", "--tag", "v1.0.0")
    there = hub.store.contents("space", "NS/app", "v1.0.0")
    assert {"README.md", "app.py", "requirements.txt", "convergebench/spaces_app/__init__.py"} < set(there)
    named = json.loads(there.pop("convergebench/spaces_app/space/published.json"))
    assert named["dataset"] == "NS/convergebench"
    house = Path(__file__).parents[2]
    for path, data in there.items():
        if path.startswith("convergebench/") and path.count("/") > 1:
            assert data == (house / path.removeprefix("convergebench/")).read_bytes()
    assert not any("__pycache__" in path for path in there)


def test_a_space_shows_the_newest_version_of_its_dataset(hub, api):
    for wrong in ("mine", "a/b/c"):
        with pytest.raises(UserError, match="must be NAMESPACE/NAME or NAMESPACE/NAME@TAG"):
            shown_dataset(api, "NS2/app", wrong)
    for missing in (None, "NS/other@v1.0.0"):
        with pytest.raises(UserError, match="the Hub has no scored dataset"):
            shown_dataset(api, "NS2/app", missing)
    make_dataset(api, "NS2/convergebench", "v1.9.0", "v1.10.0", "draft")
    make_dataset(api, "NS/other", "v1.0.0")
    assert shown_dataset(api, "NS2/app", None) == ("NS2/convergebench", "v1.10.0")
    assert shown_dataset(api, "NS2/app", "NS/other@v1.0.0") == ("NS/other", "v1.0.0")
