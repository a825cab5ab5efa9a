"""A small part of what takes long: `make fuzz`, `make faults`, and the benchmark of a large store."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.answers import DOORS

TESTS = Path(__file__).parents[1]


def run(script, *words):
    done = subprocess.run([sys.executable, TESTS / script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", DOORS)
def test_a_door_takes_what_is_right(name, tmp_path, monkeypatch):
    """A door that refuses everything would find nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    door = DOORS[name](tmp_path / "door")
    assert {door.enter(seed) for seed in door.seeds} == {"taken"}


@pytest.mark.slow
def test_no_mutation_is_silent_crashes_or_hangs():
    assert run("fuzz/run.py", "--mutations", "300", "--seed", "7").endswith("0 findings\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="disks are made full in a mount namespace of Linux")
def test_no_fault_loses_an_answer_or_passes_the_limit():
    if subprocess.run(["unshare", "--mount", "--map-root-user", "true"], check=False).returncode:
        pytest.skip("no mount namespace may be made here")
    assert run("faults/run.py", "--faults", "40", "--seed", "11").endswith("0 findings\n")


@pytest.mark.slow
def test_status_and_report_of_a_large_run_are_fast_and_small():
    output = run("benchmarks/big_store.py", "4000")
    lines = re.findall(r" 4,000 chains, +80,000 steps: (\w+) .* ([\d.]+) s of the processor, +(\d+) MB", output)
    figures = {stage: (float(seconds), int(megabytes)) for stage, seconds, megabytes in lines}
    assert figures["status"][0] < 3
    assert figures["report"][0] < 60
    assert figures["report"][1] < 2000
