"""Any number of processes writes the same files to the byte, even if one of them is killed."""

import shutil
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import scored
from convergebench.generation.files import locked
from convergebench.generation.records import UserError
from convergebench.metric_modules._engine import engine, results

ASKED = ["psnr", "ssim", "lpips", "registration", "edit_applied"]
LAUNCH = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"]


@pytest.fixture(autouse=True, scope="module")
def small_networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    scored.lpips_weights(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def alone(clean, tmp_path_factory):
    """The scores that a single process writes."""
    folder = shutil.copytree(clean, tmp_path_factory.mktemp("alone") / "dataset")
    scored.score(folder, ASKED)
    return scored.content(folder)


def together(folder, size, asked_of_others=ASKED):
    """Run the ranks as threads of this process, which runs the same code but starts no processes."""
    meeting = threading.Barrier(size, timeout=120)

    def rank(number):
        asked = asked_of_others if number else ASKED
        return engine.run(engine.prepare(folder, asked, "cpu", None), number, size, meeting.wait)

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(rank, range(size)))


def test_several_ranks_write_the_files_of_one_process(dataset, alone):
    outcomes = together(dataset, 4)
    assert scored.content(dataset) == alone
    assert sum(outcome.images for outcome in outcomes) == scored.PICTURES
    assert all(outcome.images for outcome in outcomes)
    assert [outcome.rows > 0 for outcome in outcomes] == [True, False, False, False]
    assert not (dataset / results.FOLDER).exists()


def test_shares_are_consecutive_complete_and_of_about_equal_cost():
    costs = [5, 1, 1, 7, 2, 2, 9, 1, 4, 4]
    for size in (1, 2, 3, 4, 20):
        dealt = [engine._share(costs, rank, size) for rank in range(size)]
        assert [place for share in dealt for place in share] == list(range(len(costs)))
        assert max(sum(costs[place] for place in share) for share in dealt) <= sum(costs) / size + max(costs)


def test_finished_work_is_not_repeated_by_other_processes(dataset, alone, monkeypatch):
    class KilledError(RuntimeError):
        pass

    add_line, seen = engine.add_line, []

    def add_five_lines(shard, line):
        add_line(shard, line)
        seen.extend([line["chain"]] if "chain" in line else [])
        if len(seen) == 5:
            shard.write(b'{"chain": "torn at this by')
            raise KilledError

    monkeypatch.setattr(engine, "add_line", add_five_lines)
    with pytest.raises(KilledError):
        scored.score(dataset, ASKED)
    monkeypatch.setattr(engine, "add_line", add_line)
    outcomes = together(dataset, 2)
    assert sum(outcome.chains for outcome in outcomes) == 13 - 5
    assert scored.content(dataset) == alone


def test_a_dataset_being_scored_is_not_scored_twice(dataset):
    with (
        locked(dataset / results.FOLDER),
        pytest.raises(UserError, match="is being scored by another process; wait"),
    ):
        scored.score(dataset, ["psnr"])
    assert scored.score(dataset, ["psnr"]).images == scored.PICTURES


def test_ranks_with_different_metrics_write_nothing(dataset):
    with pytest.raises(UserError, match="did not compute their share"):
        together(dataset, 2, ["psnr"])
    assert not (dataset / "data" / "scores").exists()


def launched(folder, *words):
    command = [*LAUNCH, *words, "-m", "convergebench.metric_modules", str(folder), "--metrics", ",".join(ASKED)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ranks_seen(folder, process):
    """The files of the ranks that appear during a launch: one for each rank that ran."""
    seen = set()
    while process.poll() is None:
        seen |= {path.name for path in (folder / results.FOLDER).glob("*.jsonl")}
        time.sleep(0.01)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("machines", [1, 2])
def test_launched_processes_write_the_files_of_one_process(dataset, alone, machines):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    words = ["--num_processes", "4", "--num_machines", str(machines), "--main_process_ip", "127.0.0.1"]
    words += ["--main_process_port", port, "--machine_rank"]
    launches = [launched(dataset, *words, str(number)) for number in range(machines)]
    assert ranks_seen(dataset, launches[0]) >= {f"{rank:04d}-of-0004.jsonl" for rank in range(4)}
    assert [launch.wait(60) for launch in launches] == [0] * machines, launches[-1].stderr.read()
    assert scored.content(dataset) == alone
