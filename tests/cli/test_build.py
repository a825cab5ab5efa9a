"""The verb `build`: what it says, what it lays beside the data, and what it leaves out aloud."""

import hashlib
import json

import pytest
import stores
from convergebench.dataset_builder.dataset.reader import Reader
from counting import digest
from verbs import invoke


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stores.keep(tmp_path / "runs" / "demo", stores.chain("paint"))
    return tmp_path


def build(*arguments):
    return invoke("build", *arguments)


def test_the_dataset_goes_to_the_current_folder_with_complete_metrics_beside_it(folder):
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


def test_a_metric_file_that_is_gone_is_gone_there_too(folder):
    build("runs/demo")
    psnr = folder / "convergebench" / "psnr"
    stores.write(psnr / "old.py", "")
    about = json.loads((psnr / ".manifest.json").read_text())
    about["files"]["old.py"] = {"sha256": hashlib.sha256(b"").hexdigest()}
    (psnr / ".manifest.json").write_text(json.dumps(about))
    build("runs/demo")
    assert not (psnr / "old.py").exists()


def test_files_of_others_among_the_metrics_stay(folder):
    stores.write(folder / "mine" / "lpips" / "thesis.txt", "years")
    stores.write(folder / "mine" / "notes.txt", "mine")
    for _ in range(2):
        assert build("runs/demo", "--out", "mine").exit_code == 0
    assert (folder / "mine" / "lpips" / "thesis.txt").read_text() == "years"
    assert (folder / "mine" / "notes.txt").read_text() == "mine"
    assert (folder / "mine" / "lpips" / "lpips.py").exists()


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


def test_a_folder_that_is_no_run_is_bad_usage(folder):
    done = build("runs")
    assert done.exit_code == 2
    assert "runs holds no run.json; give the folder that `convergebench generate --out` made" in done.stderr
    assert not (folder / "convergebench").exists()
