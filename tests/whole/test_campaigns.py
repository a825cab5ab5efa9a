"""A small part of what takes long: `make fuzz`, `make faults`, `make red-team`, and the benchmark of a large store."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from convergebench.metric_modules.honesty import knowledge
from convergebench.spaces_app.studies.honesty.statistics.honesty import CHECKS
from fuzz.answers import DOORS
from red_team.run import Studies, caught, play, red_team_plan, result_rows

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


def test_cheats_are_listed_apart_and_paint_is_not(tmp_path, monkeypatch):
    sources, programs = ("coffee", "rocket", "chelsea", "gravel", "tomatoes"), ("red-ball", "blue-book")
    names = ["under-the-edit", "rings", "paint:wear=0"]
    made = red_team_plan(names, sources, programs, 1, [b"a salt for the tests"])
    monkeypatch.setattr(knowledge, "_network", lambda: None)  # as on a machine without the weights of MI-GAN
    dataset = play(made, tmp_path, ("psnr", "honesty"))
    rows = {row["editor"]: row for row in result_rows(Studies([dataset]).of())}
    assert CHECKS["known_mean"] in rows["under-the-edit"]["apart"]
    assert caught(rows["rings"])
    assert not caught(rows["paint:wear=0.0"])
