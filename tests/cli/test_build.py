"""The verb `build`: what it says, what it lays beside the data, and what it leaves out aloud."""

import hashlib
import json

import pytest
import stores
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.metric_modules.scores import SCORES
from verbs import invoke


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stores.keep(tmp_path / "runs" / "demo", stores.chain("paint"))
    return tmp_path


def build(*arguments):
    return invoke("build", *arguments)


def test_the_dataset_goes_to_the_current_folder_under_its_name(folder):
    done = build("runs/demo")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("convergebench: 1 chain, 5 steps, 1 source in 4 files, ")
    assert Reader(folder / "convergebench").table("steps").num_rows == 5


def test_every_metric_is_laid_beside_the_data_complete_in_itself(folder):
    build("runs/demo")
    laid = sorted(
        path.parent.name for path in (folder / "convergebench").glob("*/*.py") if path.stem == path.parent.name
    )
    assert {"halflife", "lpips", "psnr", "ssim"} <= set(laid)
    for name in laid:
        files = list((folder / "convergebench" / name).iterdir())
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
@pytest.mark.parametrize(
    "file",
    ["lpips/lpips.py", "data/steps/paint/9.parquet", "data/scores/mine.parquet", "data/my/1.parquet"],
)
def test_a_strangers_file_in_our_place_is_refused_and_kept(folder, file, built_before):
    if built_before:
        build("runs/demo", "--out", "mine")
    stores.write(folder / "mine" / file, "theirs")
    before = {path: path.read_bytes() for path in (folder / "mine").rglob("*") if path.is_file()}
    done = build("runs/demo", "--out", "mine")
    assert done.exit_code == 2
    assert f"mine holds {file}, which" in done.stderr
    assert "nothing was changed: move them" in done.stderr
    assert {path: path.read_bytes() for path in (folder / "mine").rglob("*") if path.is_file()} == before


def test_what_is_left_out_is_said_and_counted(folder):
    unfinished = stores.keep(folder / "runs" / "demo", stores.chain("blur"), done=False)
    chain = folder / "runs" / "demo" / "chains" / stores.chain("paint").id
    stores.write(chain / "notes.txt", "mine")
    done = build("runs/demo", "runs/demo", "--json")
    assert done.exit_code == 0, done.output
    about = json.loads(done.stdout)
    assert (about["chains"], about["unfinished"], len(about["foreign"])) == (1, 1, 1)
    assert f"left out: 1 unfinished chain, such as {unfinished.relative_to(folder)}" in done.stderr
    assert "notes.txt does not belong to a chain" in done.stderr


def test_scores_of_other_pictures_are_taken_out_aloud(folder):
    build("runs/demo")
    place = {"chain": "gone", "editor": "e", "source": "s", "program": "p"}
    place |= dict.fromkeys(("run", "step", "round", "position"), 1)
    row = dict.fromkeys(column.name for column in SCORES.columns) | place | {"status": "ok", "sha256": "0"}
    dataset = folder / "convergebench"
    schema.write(dataset / "data" / "scores" / "0000.parquet", SCORES, [row], dataset)
    done = build("runs/demo")
    assert "removed: 1 score row of pictures" in done.stderr
    assert "config_name: scores" not in (folder / "convergebench" / "README.md").read_text()


def test_a_folder_that_is_no_run_is_bad_usage(folder):
    done = build("runs")
    assert done.exit_code == 2
    assert "runs holds no run.json; give the folder that `convergebench generate --out` made" in done.stderr
    assert not (folder / "convergebench").exists()
