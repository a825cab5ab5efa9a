"""Whoever runs the parts, and wherever they die, the dataset and its scores are the same to the byte."""

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import cluster
import pytest
import scored
from convergebench import generation, metric_modules
from convergebench.cli._shared import _parse_arguments
from convergebench.generation.cluster import _raised_if_killed, launch_of
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine, results

ASKED = ["psnr", "ssim", "lpips", "registration", "edit_applied"]
CHAINS = 13


@pytest.fixture(scope="module", autouse=True)
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    scored.lpips_weights(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    return scored.built(scored.runs(folder / "run"), folder / "dataset")


@pytest.fixture(scope="module")
def alone(clean, tmp_path_factory):
    """What one process makes of it with these metrics: `alone(*ASKED)`."""

    @functools.cache
    def scores(*asked):
        folder = shutil.copytree(clean, tmp_path_factory.mktemp("alone") / "dataset")
        metric_modules.score(folder, asked, device="cpu", quiet=True)
        return content(folder)

    return scores


@pytest.fixture
def dataset(clean, tmp_path):
    return shutil.copytree(clean, tmp_path / "dataset")


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("data/*/**/*.parquet"))}


def test_parts_in_any_order_are_used_by_the_plain_command(dataset, alone):
    asked = ["psnr", "ssim"]
    for part in ("2/3", "0/3", "1/3"):
        assert metric_modules.score(dataset, asked, device="cpu", shard=part, quiet=True).chains
    assert metric_modules.score(dataset, asked, device="cpu", quiet=True).images == 0
    assert content(dataset) == alone(*asked)
    assert not (dataset / results.FOLDER).exists()


def test_a_part_that_died_resumes(dataset, alone, monkeypatch):
    whole, seen = engine.add_line, []

    def dying(shard, line):
        whole(shard, line)
        seen.extend([line["chain"]] if "chain" in line else [])
        if len(seen) == 3:
            shard.write(b'{"chain": "torn at this by')
            raise KeyboardInterrupt

    asked = ["psnr", "ssim"]
    monkeypatch.setattr(engine, "add_line", dying)
    with pytest.raises(KeyboardInterrupt):
        metric_modules.score(dataset, asked, device="cpu", shard="0/2", quiet=True)
    monkeypatch.setattr(engine, "add_line", whole)
    again = metric_modules.score(dataset, asked, device="cpu", shard="0/2", quiet=True)
    assert again.chains + 3 + metric_modules.score(dataset, asked, device="cpu", quiet=True).chains == CHAINS
    assert again.chains
    assert content(dataset) == alone(*asked)


def test_a_held_parts_shards_are_left_alone(dataset):
    folder = dataset / results.FOLDER
    with (
        engine._part_held(folder, "0001"),
        pytest.raises(UserError, match="is being scored by task 0001; wait for it"),
    ):
        metric_modules.score(dataset, ["psnr"], device="cpu", quiet=True)


@pytest.mark.parametrize(
    ("executor", "tasks", "arguments", "words"),
    [
        ("local", 2, {"partition": "cpu"}, "no --executor-arg for local 'partition'; it must be one of "),
        ("slurm", 2, {}, "slurm needs --executor-arg partition=VALUE"),
        ("slurm", None, {"partition": "cpu"}, "--executor slurm needs --tasks"),
    ],
)
def test_what_an_executor_lacks_is_one_sentence(tmp_path, executor, tasks, arguments, words):
    with pytest.raises(UserError, match=words):
        launch_of(executor, tasks, None, arguments, tmp_path, "score")


def test_an_argument_is_json_where_it_can_be():
    words = ["partition=cpu", "cpus_per_task=4", "time=04:00:00", 'sbatch_args={"account": "me"}']
    named = {"partition": "cpu", "cpus_per_task": 4, "time": "04:00:00", "sbatch_args": {"account": "me"}}
    assert _parse_arguments(None, None, words) == named


def test_a_replaced_pool_worker_counts_as_killed(monkeypatch):
    import multiprocess

    workers = [SimpleNamespace(pid=pid, name=f"ForkServerPoolWorker-{pid}", exitcode=None) for pid in range(3)]
    workers[0].exitcode = 255  # what is read where the pool's own thread was the first to ask
    monkeypatch.setattr(multiprocess, "active_children", lambda: workers)
    with _raised_if_killed(3):
        time.sleep(0.5)
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a script
    try:
        with (
            pytest.raises(UserError, match="the process of a task was killed; give the same"),
            _raised_if_killed(2),
        ):
            time.sleep(10)
    finally:
        signal.signal(signal.SIGINT, heard)


ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def scoring(dataset, *options):
    words = ["score", str(dataset), "--metrics", ",".join(ASKED), "--device", "cpu"]
    return [sys.executable, "-m", "convergebench.cli", *words, *options]


def whole_lines(folder):
    """The finished lines of all shards."""
    return {path.name: path.read_text().rpartition("\n")[0] for path in folder.rglob(".scoring/*.jsonl")}


def assert_continued(earlier, later):
    """Later shards begin with what was in them earlier, and have each chain once."""
    assert [name for name, text in earlier.items() if not later[name].startswith(text)] == []
    chains = [
        json.loads(line)["chain"] for text in later.values() for line in text.splitlines() if '"chain"' in line
    ]
    assert len(chains) == len(set(chains))


def with_slurm(folder, watched, kills):
    """The environment of a command for which tasks of Slurm are killed after so many chains."""
    programs = cluster.slurm(folder / "programs")
    (programs / "watch").write_text(str(watched))
    (programs / "kills").write_text(kills)
    return os.environ | ONE_THREAD | {"PATH": f"{programs}:{os.environ['PATH']}"}


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "slurm"])
def test_eight_killed_tasks_make_the_files_of_one_process(executor, dataset, alone, tmp_path):
    command, earlier = scoring(dataset, "--executor", executor, "--tasks", "8"), {}
    env = with_slurm(tmp_path, dataset, "2 1")
    if executor == "slurm":
        command += ["--executor-arg", "partition=cpu", "--executor-arg", "tasks_per_job=2"]
        subprocess.run(command, env=env, check=True)
        assert not (dataset / "data" / "scores").exists()
        assert sum(text.count('"chain"') for text in whole_lines(dataset).values()) < CHAINS
    for chains in sorted(random.Random(7).sample(range(1, CHAINS - 1), 3)) if executor == "local" else ():
        with (tmp_path / "log").open("a") as log:
            assert cluster.ended_or_killed(command, env, log, dataset, chains)
        later = whole_lines(dataset)
        assert_continued(earlier, later)
        earlier = later
    subprocess.run(command, env=env, check=True)
    assert content(dataset) == alone(*ASKED)
    assert not (tmp_path / ".tasks").exists() or executor == "slurm"


def children(process, *more):
    listed = subprocess.run(["pgrep", "-P", str(process), *more], capture_output=True, text=True)
    return [int(number) for number in listed.stdout.split()]


@pytest.mark.slow
def test_a_killed_task_does_not_hang_the_others(dataset, alone, tmp_path):
    command, env = scoring(dataset, "--executor", "local", "--tasks", "8"), os.environ | ONE_THREAD
    with (tmp_path / "log").open("w") as log:
        # As in the background of a script, where Ctrl-C is not heard.
        deaf = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, **deaf)
        while not cluster.chains_scored(dataset):
            assert process.poll() is None, (tmp_path / "log").read_text()
        [server] = children(process.pid, "-f", "forkserver")
        tasks = children(server)
        os.kill(tasks[-1], signal.SIGKILL)
        assert process.wait(120) == 2
    assert (
        "the process of a task was killed; give the same command again to go on" in (tmp_path / "log").read_text()
    )
    subprocess.run(command, env=env, check=True)
    assert content(dataset) == alone(*ASKED)


DEMO = {"editor": ["jpeg", "paint"], "suite": "demo", "limit": 10, "rounds": 3, "quiet": True}


def generating(folder, *options):
    words = ["--suite", "demo", "--limit", "10", "--rounds", "3", "--editor", "jpeg", "--editor", "paint"]
    return [sys.executable, "-m", "convergebench.cli", "generate", *words, "--out", str(folder), *options]


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "slurm"])
def test_a_killed_run_makes_the_files_of_one_process(executor, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    generation.generate(**DEMO, out=one)
    command = generating(many, "--executor", executor, "--tasks", "4", "--executor-arg", "partition=cpu")
    env = with_slurm(tmp_path, many, "6 3")
    if executor == "local":
        command, kill = command[:-2], 5
        with (tmp_path / "log").open("w") as log:
            assert cluster.ended_or_killed(command, env, log, many, kill, cluster.chains_generated)
    else:
        subprocess.run(command, env=env, check=True)
    done = {path: path.stat().st_mtime_ns for path in many.glob("chains/*/done.json")}
    subprocess.run(command, env=env, check=True)
    assert 0 < len(done) < len(list(one.glob("chains/*")))
    assert {path: path.stat().st_mtime_ns for path in done} == done
    datasets = [scored.built(run, tmp_path / f"dataset of {run.name}") for run in (one, many)]
    assert content(datasets[0]) == content(datasets[1]) != {}
