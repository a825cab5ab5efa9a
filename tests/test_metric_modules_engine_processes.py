"""However many processes share the work, and wherever one of them dies, the files are the same to the byte."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import scored
from convergebench.metric_modules._engine import engine, job, shards

ASKED = ["psnr", "ssim", "lpips", "registration", "edit_applied"]
LAUNCH = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    scored.lpips_weights(folder)
    return folder


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    return scored.built(scored.runs(folder / "run"), folder / "dataset")


@pytest.fixture(scope="module")
def alone(clean, cache, tmp_path_factory):
    """What one process makes of it."""
    folder = shutil.copytree(clean, tmp_path_factory.mktemp("alone") / "dataset")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        engine.run(job.prepare(folder, ASKED, "cpu", None))
    return content(folder)


@pytest.fixture
def dataset(clean, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return shutil.copytree(clean, tmp_path / "dataset")


def content(folder):
    return [(folder / "data" / config / "0000.parquet").read_bytes() for config in ("scores", "floors")]


def together(folder, size):
    """Ranks as threads of this process: the same code between them, without the start of a process each."""
    meeting = threading.Barrier(size)

    def rank(number):
        return engine.run(job.prepare(folder, ASKED, "cpu", None), number, size, meeting.wait)

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(rank, range(size)))


@pytest.mark.parametrize("size", [2, 4])
def test_ranks_share_all_chains_and_the_files_are_those_of_one(dataset, alone, size):
    outcomes = together(dataset, size)
    assert content(dataset) == alone
    assert sum(outcome.images for outcome in outcomes) == scored.PICTURES
    assert all(outcome.images for outcome in outcomes)
    assert [outcome.rows > 0 for outcome in outcomes] == [True] + [False] * (size - 1)
    assert not (dataset / shards.FOLDER).exists()


def test_shares_are_consecutive_complete_and_of_about_equal_cost():
    costs = [5, 1, 1, 7, 2, 2, 9, 1, 4, 4]
    for size in (1, 2, 3, 4, 20):
        dealt = [job.share(costs, rank, size) for rank in range(size)]
        assert [place for own in dealt for place in own] == list(range(len(costs)))
        assert max(sum(costs[place] for place in own) for own in dealt) <= sum(costs) / size + max(costs)


def test_work_that_was_finished_is_not_done_again_by_any_number_of_processes(dataset, alone, monkeypatch):
    class Died(RuntimeError):
        pass

    whole, seen = shards.Shard.add, []

    def dying(self, line):
        whole(self, line)
        seen.extend([line["chain"]] if "chain" in line else [])
        if len(seen) == 5:
            self.file.write(b'{"chain": "torn at this by')
            raise Died

    monkeypatch.setattr(shards.Shard, "add", dying)
    with pytest.raises(Died):
        engine.run(job.prepare(dataset, ASKED, "cpu", None))
    monkeypatch.setattr(shards.Shard, "add", whole)
    outcomes = together(dataset, 2)
    assert sum(outcome.chains for outcome in outcomes) == 13 - 5
    assert content(dataset) == alone


def test_a_dataset_that_is_being_scored_is_left_to_its_owner(dataset):
    (dataset / shards.FOLDER).mkdir()
    shard = shards.Shard(dataset / shards.FOLDER, 3)
    try:
        with pytest.raises(engine.Unusable, match="is being scored by another process; wait for it"):
            engine.run(job.prepare(dataset, ["psnr"], "cpu", None))
    finally:
        shard.close()
    assert engine.run(job.prepare(dataset, ["psnr"], "cpu", None)).images == scored.PICTURES


def test_a_process_without_a_sign_of_life_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SILENCE", 0.3)
    mine = shards.Shard(tmp_path, 0)
    shards.Shard(tmp_path, 1).close()
    with pytest.raises(shards.Silent, match="process 1 of 2 shows no sign of life; the same command again goes on"):
        shards.wait(tmp_path, 2, lambda: False, {0, 1}, mine)
    with pytest.raises(shards.Silent, match="ended without their share; do all have the same weights and dtype"):
        shards.wait(tmp_path, 2, lambda: False, {0}, mine)
    mine.close()


def launched(folder, *words, env=None):
    command = [*LAUNCH, *words, "-m", "convergebench.metric_modules", str(folder), "--metrics", ",".join(ASKED)]
    environment = {**os.environ, **(env or {})}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return str(any_port.getsockname()[1])


def ranks_seen(folder, process):
    """The shards that appear while a launch runs: one for each rank that really ran."""
    seen = set()
    while process.poll() is None:
        seen |= {path.name for path in (folder / shards.FOLDER).glob("*.jsonl")}
        time.sleep(0.01)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_launched_processes_make_the_files_of_one(dataset, alone, size):
    process = launched(dataset, "--num_processes", str(size), "--main_process_port", free_port())
    assert ranks_seen(dataset, process) == {f"{rank:04d}.jsonl" for rank in range(size)}
    assert process.returncode == 0, process.stderr.read()
    assert content(dataset) == alone


@pytest.mark.slow
def test_two_machines_make_the_files_of_one(dataset, alone):
    port = free_port()
    both = [
        "--num_processes",
        "2",
        "--num_machines",
        "2",
        "--main_process_ip",
        "127.0.0.1",
        "--main_process_port",
        port,
    ]
    machines = [launched(dataset, *both, "--machine_rank", str(number)) for number in (0, 1)]
    assert ranks_seen(dataset, machines[0]) == {"0000.jsonl", "0001.jsonl"}
    assert [machine.wait(60) for machine in machines] == [0, 0], machines[1].stderr.read()
    assert content(dataset) == alone


@pytest.mark.slow
def test_a_rank_that_is_killed_costs_only_what_it_had_not_finished(dataset, alone):
    process = launched(dataset, "--num_processes", "2", "--main_process_port", free_port())
    folder, done = dataset / shards.FOLDER, 0
    while not done:
        assert process.poll() is None, process.stderr.read()
        lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
        done = sum('"chain"' in line for line in lines)
    victims = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    os.kill(int(victims[-1]), signal.SIGKILL)
    assert process.wait(60) != 0
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines() if '"chain"' in line]
    again = engine.run(job.prepare(dataset, ASKED, "cpu", None))
    assert again.chains == 13 - len({json.loads(line)["chain"] for line in lines})
    assert again.chains < 13
    assert content(dataset) == alone
