"""Each metric and the app go to Spaces of their own, complete in themselves."""

import json
from pathlib import Path

import pytest
import stores
from convergebench.dataset_builder.publishing.spaces import publish_metrics, shown_dataset
from convergebench.generation.records import UserError
from verbs import say

pytest_plugins = ["hub_fixtures"]

CARD = "---\ntitle: {}\nsdk: gradio\n---\n"


@pytest.fixture
def metrics(tmp_path):
    folder = tmp_path / "metric_modules"
    for name in ("psnr", "ssim"):
        stores.write(folder / name / f"{name}.py", f"from .._evaluate.images import pixels\n# {name}\n")
        stores.write(folder / name / "README.md", CARD.format(name))
        stores.write(folder / name / "__pycache__" / "x.pyc", "")
    stores.write(folder / "_evaluate" / "images.py", "def pixels(): ...\n")
    stores.write(folder / "engine.py", "")
    return folder


def test_every_metric_has_a_space_complete_in_itself(hub, api, metrics):
    first = publish_metrics(api, metrics, "NS", "v1.0.0")
    assert set(first) == {"NS/psnr", "NS/ssim"}
    there = hub.store.contents("space", "NS/ssim", "v1.0.0")
    assert set(there) == {".manifest.json", "README.md", "app.py", "images.py", "ssim.py"}
    assert there["images.py"] == b"def pixels(): ...\n"
    assert hub.store.repo("space", "NS/ssim").sdk == "gradio"
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


def test_a_dry_run_tells_and_changes_nothing(hub, api, metrics):
    published = publish_metrics(api, metrics, "NS", "v1.0.0", dry_run=True)
    assert published == {"NS/psnr": (None, 4, 4), "NS/ssim": (None, 4, 4)}
    assert hub.store.repos == {}


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


def test_a_metrics_card_loads_it_from_its_namespace(hub, api, metrics):
    line = 'psnr = evaluate.load("{}/psnr")\n'
    stores.write(metrics / "psnr" / "README.md", CARD.format("psnr") + line.format("convergebench"))
    publish_metrics(api, metrics, "NS2", None)
    assert line.format("NS2").encode() in hub.store.contents("space", "NS2/psnr", "main")["README.md"]
    assert line.format("convergebench") in (metrics / "psnr" / "README.md").read_text()


@pytest.mark.parametrize("named", ["mine", "a/b/c"])
def test_a_dataset_is_named_by_its_repository(api, named):
    with pytest.raises(UserError, match="must be NAMESPACE/NAME or NAMESPACE/NAME@TAG"):
        shown_dataset(api, "NS2/app", named)


def test_a_space_shows_the_newest_version_of_its_dataset(hub, api):
    for missing in (None, "NS/other@v1.0.0"):
        with pytest.raises(UserError, match="the Hub has no scored dataset"):
            shown_dataset(api, "NS2/app", missing)
    make_dataset(api, "NS2/convergebench", "v1.9.0", "v1.10.0", "draft")
    make_dataset(api, "NS/other", "v1.0.0")
    assert shown_dataset(api, "NS2/app", None) == ("NS2/convergebench", "v1.10.0")
    assert shown_dataset(api, "NS2/app", "NS/other@v1.0.0") == ("NS/other", "v1.0.0")
