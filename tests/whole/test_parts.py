"""Whoever runs the parts, and wherever they die, the dataset and its scores are the same to the byte."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
import scored
from click.testing import CliRunner
from convergebench import dataset_builder, generation, metric_modules
from convergebench.cli.__main__ import main
from convergebench.dataset_builder.building import build as building
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine, results

ASKED = ["psnr", "ssim", "lpips", "registration", "edit_applied"]
CHAINS = 13


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    scored.lpips_weights(folder)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return scored.runs(tmp_path_factory.mktemp("clean") / "run")


@pytest.fixture(scope="module")
def clean(run):
    dataset_builder.build(run, run.parent / "dataset", quiet=True)
    return run.parent / "dataset"


@pytest.fixture(scope="module")
def alone(clean, cache, tmp_path_factory):
    """What one process makes of it with these metrics: `alone(ASKED)`."""
    made = {}

    def scores(asked):
        if tuple(asked) not in made:
            folder = shutil.copytree(clean, tmp_path_factory.mktemp("alone") / "dataset")
            metric_modules.score(folder, asked, device="cpu", quiet=True)
            made[tuple(asked)] = content(folder)
        return made[tuple(asked)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield scores


@pytest.fixture
def dataset(clean, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return shutil.copytree(clean, tmp_path / "dataset")


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("data/*/**/*.parquet"))}


def test_parts_in_any_order_are_used_by_the_plain_command(dataset, alone):
    asked = ["psnr", "ssim"]
    for part in ("2/3", "0/3", "1/3"):
        assert metric_modules.score(dataset, asked, device="cpu", shard=part, quiet=True).chains
    assert metric_modules.score(dataset, asked, device="cpu", quiet=True).images == 0
    assert content(dataset) == alone(asked)
    assert not (dataset / results.FOLDER).exists()


def test_a_part_that_died_resumes(dataset, alone, monkeypatch):
    whole, seen = results.Shard.add, []

    def dying(self, line):
        whole(self, line)
        seen.extend([line["chain"]] if "chain" in line else [])
        if len(seen) == 3:
            self.file.write(b'{"chain": "torn at this by')
            raise KeyboardInterrupt

    asked = ["psnr", "ssim"]
    monkeypatch.setattr(results.Shard, "add", dying)
    with pytest.raises(KeyboardInterrupt):
        metric_modules.score(dataset, asked, device="cpu", shard="0/2", quiet=True)
    monkeypatch.setattr(results.Shard, "add", whole)
    again = metric_modules.score(dataset, asked, device="cpu", shard="0/2", quiet=True)
    assert again.chains + 3 + metric_modules.score(dataset, asked, device="cpu", quiet=True).chains == CHAINS
    assert again.chains
    assert content(dataset) == alone(asked)


def test_a_part_is_the_same_whatever_other_parts_have_finished(dataset):
    asked = ["psnr"]
    before = engine.prepare(dataset, asked, "cpu", None)
    key = before.key(3)
    engine.run_part(before, 1, 3)
    after = engine.prepare(dataset, asked, "cpu", None)
    assert after.key(3) == key != after.key(2)
    assert [chain.chain.id for chain in after.unfinished[0]] == [chain.chain.id for chain in before.unfinished[0]]


def test_a_held_parts_shards_are_left_alone(dataset):
    folder = dataset / results.FOLDER
    with engine.part_held(folder, "0001"), pytest.raises(UserError, match="is being scored by task 0001; wait for it"):
        metric_modules.score(dataset, ["psnr"], device="cpu", quiet=True)


def status_of(folder):
    result = CliRunner().invoke(main, ["status", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output


def test_status_of_a_dataset_being_built_or_scored(run, dataset, tmp_path):
    metric_modules.score(dataset, ["psnr"], device="cpu", shard="1/3", quiet=True)
    finished = chains_scored(dataset)
    while_scored = status_of(dataset)
    assert f"{CHAINS} chains; scores of 0 of 59 answers" in while_scored
    assert f"being scored: {finished} chains finished" in while_scored
    assert "1 of 3 parts finished something in the last ten minutes, the last of them 0:00:0" in while_scored
    metric_modules.score(dataset, ["psnr"], device="cpu", quiet=True)
    assert status_of(dataset).count("\n") == 1
    (tmp_path / "half" / building.DRAFT).mkdir(parents=True)
    assert "being built: " in status_of(tmp_path / "half")
    result = CliRunner().invoke(main, ["status", str(tmp_path)])
    assert "holds neither a run nor a dataset" in result.output
    assert result.exit_code == 2


def chains_scored(folder):
    return sum(path.read_bytes().count(b'"chain"') for path in folder.rglob(".scoring/*.jsonl"))


def things_made(folder):
    return len(list(folder.glob("chains/*/done.json")))


def verb(*words, log):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "convergebench.cli", *map(str, words)]
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def in_parts_with_kills(folder, count, log, *words):
    """Run two of four parts at a time, kill the first of each pair when something is finished, and run all again."""
    with log.open("a") as output:
        for pair in ((0, 1), (2, 3)):
            before = count(folder)
            processes = [verb(*words, "--shard", f"{part}/4", log=output) for part in pair]
            while count(folder) <= before and processes[0].poll() is None:
                time.sleep(0.005)
            processes[0].kill()
            assert [process.wait(120) for process in processes][1] == 0, log.read_text()
        for part in range(4):
            assert verb(*words, "--shard", f"{part}/4", log=output).wait(120) == 0, log.read_text()


@pytest.mark.slow
def test_killed_parts_make_the_scores_of_one_process(dataset, alone, tmp_path):
    words = ["score", dataset, "--metrics", ",".join(ASKED), "--device", "cpu"]
    in_parts_with_kills(dataset, chains_scored, tmp_path / "log", *words)
    lines = [line for path in dataset.rglob(".scoring/*.jsonl") for line in path.read_text().splitlines()]
    names = [json.loads(line)["chain"] for line in lines if '"chain"' in line]
    assert len(names) == len(set(names)) == CHAINS
    assert metric_modules.score(dataset, ASKED, device="cpu", quiet=True).images == 0
    assert content(dataset) == alone(ASKED)


@pytest.mark.slow
def test_killed_parts_make_the_run_of_one_process(tmp_path):
    words = {"editor": ["jpeg", "paint"], "suite": "demo", "limit": 14, "rounds": 3}
    generation.generate(**words, out=tmp_path / "one", quiet=True)
    four = tmp_path / "four"
    options = ["--editor", "jpeg", "--editor", "paint", "--suite", "demo", "--limit", 14, "--rounds", 3, "--out", four]
    in_parts_with_kills(four, things_made, tmp_path / "log", "generate", *options)
    done = {path: path.stat().st_mtime_ns for path in four.glob("chains/*/done.json")}
    assert generation.generate(**words, out=four, quiet=True).ends == {}
    assert {path: path.stat().st_mtime_ns for path in done} == done
    for name in ("one", "four"):
        dataset_builder.build(tmp_path / name, tmp_path / f"{name}-set" / "convergebench", quiet=True)
    assert content(tmp_path / "one-set" / "convergebench") == content(tmp_path / "four-set" / "convergebench") != {}
