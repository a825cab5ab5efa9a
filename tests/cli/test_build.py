"""The verb `build`: what it says, lays beside the data and leaves out aloud."""

import hashlib
import json

import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from counting import digest
from hub_fixtures import score
from verbs import invoke


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stores.keep(tmp_path / "runs" / "demo", stores.chain("paint"))
    return tmp_path


def build(*arguments):
    return invoke("build", *arguments)


def test_dataset_and_complete_metrics_go_to_the_current_folder(folder):
    done = build("runs/demo")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("convergebench: 1 chain, 5 steps, 1 source in 4 files, ")
    assert Reader(folder / "convergebench").table("steps").num_rows == 5
    programs = (folder / "convergebench").glob("*/*.py")
    laid = {path.parent.name: path.parent for path in programs if path.stem == path.parent.name}
    assert {"halflife", "lpips", "psnr", "ssim"} <= laid.keys()
    for metric in laid.values():
        files = list(metric.iterdir())
        assert {"README.md", "requirements.txt"} <= {path.name for path in files}
        assert not any(path.is_symlink() or path.is_dir() for path in files)


def test_files_that_metrics_no_longer_have_go_and_those_of_others_stay(folder):
    mine = folder / "mine"
    stores.write(mine / "lpips" / "thesis.txt", "years")
    stores.write(mine / "notes.txt", "mine")
    assert build("runs/demo", "--out", "mine").exit_code == 0
    stores.write(mine / "psnr" / "old.py", "")
    about = json.loads((mine / "psnr" / ".manifest.json").read_text())
    about["files"]["old.py"] = {"sha256": hashlib.sha256(b"").hexdigest()}
    (mine / "psnr" / ".manifest.json").write_text(json.dumps(about))
    assert build("runs/demo", "--out", "mine").exit_code == 0
    assert not (mine / "psnr" / "old.py").exists()
    assert (mine / "lpips" / "thesis.txt").read_text() == "years"
    assert (mine / "notes.txt").read_text() == "mine"
    assert (mine / "lpips" / "lpips.py").exists()


@pytest.mark.parametrize("built_before", [False, True])
def test_a_strangers_file_in_our_place_is_refused_and_kept(folder, built_before):
    if built_before:
        build("runs/demo", "--out", "mine")
    for file in ("lpips/lpips.py", "data/steps/paint/9.parquet", "data/scores/mine.parquet", "data/my/1.parquet"):
        path = folder / "mine" / file
        ours = path.read_bytes() if path.exists() else None
        stores.write(path, "theirs")
        before = digest(folder / "mine")
        done = build("runs/demo", "--out", "mine")
        assert done.exit_code == 2
        assert f"mine holds {file}, which" in done.stderr
        assert "nothing was changed: move them" in done.stderr
        assert digest(folder / "mine") == before
        path.unlink() if ours is None else path.write_bytes(ours)


def test_what_is_left_out_is_said_and_counted(folder):
    unfinished = stores.keep(folder / "runs" / "demo", stores.chain("blur"), done=False)
    chain = folder / "runs" / "demo" / "chains" / stores.chain("paint").id
    stores.write(chain / "notes.txt", "mine")
    stores.write(chain / ".DS_Store", "")
    stores.write(chain.parent / "list.txt", "mine")
    done = build("runs/demo", "runs/demo", "--json")
    assert done.exit_code == 0, done.output
    about = json.loads(done.stdout)
    assert (about["chains"], about["unfinished"], len(about["foreign"])) == (1, 1, 2)
    assert f"left out: 1 unfinished chain, such as {unfinished.relative_to(folder)}" in done.stderr
    assert "notes.txt does not belong to a chain" in done.stderr
    assert "list.txt does not belong to a chain" in done.stderr


def test_scores_of_other_pictures_are_taken_out_aloud(folder):
    build("runs/demo")
    dataset = folder / "convergebench"
    score(dataset)
    stores.keep(folder / "runs" / "demo", stores.chain("paint"), salt=5)
    assert "removed: 4 score rows of pictures" in build("runs/demo").stderr
    assert "config_name: scores" not in (dataset / "README.md").read_text()


@pytest.mark.parametrize("content", ["{}", '{"status": []}', '{"status": null}'])
def test_a_chain_without_its_end_causes_no_traceback(tmp_path, content):
    words = ["generate", "--suite", "smoke", "--editor", "identity", "--limit", 1, "--out", tmp_path / "run"]
    assert invoke(*words).exit_code == 0
    [path] = (tmp_path / "run" / "chains").glob("*/done.json")
    path.write_text(content)
    for again in (words, ["verify", tmp_path / "run"]):
        result = invoke(*again)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1
