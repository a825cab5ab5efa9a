"""The verb `build`: what it says, lays beside the data and leaves out aloud; and every verb on a broken dataset."""

import contextlib
import hashlib
import json
import shutil
from random import Random

import pytest
import scored
import stores
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import configs
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine
from convergebench.metric_modules.scores import SCORES
from convergebench.spaces_app.space import served_dataset
from counting import digest
from fuzz.mutations import flipped
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
    place = dict.fromkeys(("chain", "editor", "source", "program", "status", "sha256"), "gone")
    place |= dict.fromkeys(("run", "step", "round", "position"), 1)
    row = dict.fromkeys(column.name for column in SCORES.columns) | place
    schema.write(dataset / "data" / "scores" / "0000.parquet", SCORES, [row], dataset)
    assert "removed: 1 score row of pictures" in build("runs/demo").stderr
    assert "config_name: scores" not in (dataset / "README.md").read_text()


def test_a_folder_that_is_no_run_is_bad_usage(folder):
    done = build("runs")
    assert done.exit_code == 2
    assert "runs holds no run.json; give the folder that `convergebench generate --out` made" in done.stderr
    assert not (folder / "convergebench").exists()


CONFIGS = ("scores", "floors", "steps", "chains", "sources", "editors")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    folder = scored.built(scored.runs(root / "run"), root / "dataset")
    engine.run(engine.prepare(folder, ["psnr", "ssim"], "cpu", None))
    card.write(folder, configs())
    return root


def ended(*words):
    """The exit code and the last line of a verb; a traceback fails the test."""
    result = invoke(*words)
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    return result.exit_code, result.output


def broken(data, how, chance):
    if how == "flips":
        for _ in range(30):
            data = flipped(data, chance.randrange(len(data)), chance)
        return data
    ways = {"cut": data[: chance.randrange(8, len(data))], "empty": b"", "random": chance.randbytes(500)}
    return (ways | {"alike": b"PAR1" + b"hello" * 50 + b"PAR1"})[how]


def numbers(folder):
    return {config: repr(list(Reader(folder).rows(config))) for config in ("scores", "floors")}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "empty", "random", "alike", "flips"])
@pytest.mark.parametrize("config", CONFIGS)
def test_every_verb_reports_a_broken_dataset_file(made, tmp_path, config, how):
    folder = shutil.copytree(made / "dataset", tmp_path / "dataset")
    path, expected = sorted((folder / "data" / config).rglob("*.parquet"))[0], numbers(made / "dataset")
    path.write_bytes(broken(path.read_bytes(), how, Random(f"{config} {how}")))
    assert ended("verify", folder)[0] == 1
    code, words = ended("report", folder, "--out", tmp_path / "report")
    assert code == 0 or "restore it, or let `convergebench verify --repair` set it aside" in words
    with contextlib.suppress(UserError):
        served_dataset.open_dataset(str(folder))
    again = shutil.copytree(folder, tmp_path / "again")
    code, words = ended("build", made / "run", "--out", again)
    assert code == 0 or "restore it, or let" in words
    assert code or numbers(again) == expected or config in ("scores", "floors")
    code, words = ended("score", folder, "--metrics", "psnr,ssim")
    assert code in (1, 2)
    ended("verify", folder, "--repair")
    assert ended("build", made / "run", "--out", folder)[0] == 0
    assert ended("score", folder, "--metrics", "psnr,ssim")[0] == 0
    assert numbers(folder) == expected
    assert ended("verify", folder) == (0, f"{folder}: nothing is broken\n")


@pytest.mark.parametrize("content", ["{}", '{"status": []}', '{"status": null}'])
def test_a_chain_without_its_end_causes_no_traceback(tmp_path, content):
    words = ["generate", "--suite", "smoke", "--editor", "identity", "--limit", 1, "--out", tmp_path / "run"]
    assert ended(*words)[0] == 0
    [path] = (tmp_path / "run" / "chains").glob("*/done.json")
    path.write_text(content)
    ended(*words)
    assert ended("verify", tmp_path / "run")[0] == 1
