"""The front door: every verb explains itself, and refusals are one sentence."""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from unittest import mock

import convergebench
import pytest
import stores
from click.testing import CliRunner
from convergebench.cli.__main__ import Kinds, main
from convergebench.generation.records import UserError


def commands():
    """The words of every command: `build`, `list editors`, `import --layout table`."""
    for verb in main.list_commands(None):
        command = main.get_command(None, verb)
        if not isinstance(command, Kinds):
            yield [verb]
            continue
        for kind in command.list_commands(None):
            yield [verb, "--layout", kind] if verb == "import" else [verb, kind]


COMMANDS = list(commands())


@pytest.mark.parametrize("words", [[], *COMMANDS], ids=" ".join)
def test_help_has_an_example_and_fits_80_columns(words):
    result = CliRunner().invoke(main, [*words, "--help"])
    assert result.exit_code == 0
    assert not words or f"convergebench {words[0]}" in result.output.split("Usage:")[1].split("\n", 1)[1]
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    listed = lines[lines.index("Commands:") :] if "Commands:" in lines else lines[3:] if not words else []
    assert not any(line.endswith("...") for line in listed)


def test_every_function_of_the_package_is_there_and_documented():
    for name in convergebench.__all__:
        assert getattr(convergebench, name).__doc__
    assert convergebench.__version__ == importlib.metadata.version("convergebench")
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        convergebench.scores  # noqa: B018


def test_chains_are_imported_by_a_function(tmp_path):
    for number in (0, 1):
        stores.write(tmp_path / f"{number}.png", stores.picture(number))
    table = tmp_path / "answers.csv"
    table.write_text("chain,round,path\none,0,0.png\none,1,1.png\n")
    imported = convergebench.import_chains(table, "table", "mine", tmp_path / "run", kind="scene")
    assert (len(imported.written), imported.problems) == (1, [])
    assert convergebench.status(tmp_path / "run")["whole"]["done"] == 1
    with pytest.raises(UserError, match="tabel"):
        convergebench.import_chains(table, "tabel", "mine")


def test_plan_and_status_as_functions(tmp_path):
    plan = convergebench.plan("jpeg", "smoke", rounds=1, limit=1)
    assert [chain.editor for chain in plan.chains] == ["jpeg"]
    convergebench.generate("jpeg", "smoke", tmp_path / "run", rounds=1, limit=1, quiet=True)
    assert convergebench.status(tmp_path / "run")["whole"]["done"] == 1
    assert convergebench.verify(tmp_path / "run") == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["generat"], "no command 'generat'; did you mean generate?"),
        (["list", "editor"], "did you mean editors?"),
        (["import", "x", "--layout", "tabel"], "no layout 'tabel'; did you mean table?"),
        (["import", "x"], "no --layout given; the layouts are"),
        (["plan", "--suite", "nope"], "no suite 'nope'; the suites are"),
        (["plan", "--editor", "jpg"], "no editor 'jpg'; it must be one of"),
        (["generate", "--suite", "smoke", "--shard", "4/4"], "--shard must be I/N"),
    ],
)
def test_bad_usage_exits_with_two_and_one_sentence(words, sentence):
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_plan_for_a_machine_names_every_chain():
    result = CliRunner().invoke(main, ["plan", "--suite", "smoke", "--editor", "identity", "--json"])
    made = json.loads(result.output)
    assert len(made["chains"]) == made["editors"][0]["chains"] > 0


def test_generate_resumes_and_says_so(tmp_path):
    words = ["generate", "--suite", "smoke", "--editor", "jpeg", "--rounds", "1", "--out", str(tmp_path / "run")]
    first = CliRunner().invoke(main, [*words, "--json"])
    assert json.loads(first.stdout)["ends"]["complete"] > 0
    assert "nothing to do" in CliRunner().invoke(main, words).output


def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    result = CliRunner().invoke(main, ["generate", "--suite", "smoke", "--editor", "jpeg", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "holds 'notes.txt' but no run" in result.output


def test_paths_that_cannot_be_used_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("file").write_text("x")
    for words in (
        ["build", "PATH", "--out", "out"],
        ["score", "PATH"],
        ["verify", "PATH"],
        ["publish", "metrics", "PATH", "--repo", "a"],
        ["import", "PATH", "--layout", "edit-converge-bench", "--editor", "e", "--out", "out"],
    ):
        for path in ("x" * 300, "loop", "loop/a", "file/a"):
            result = CliRunner().invoke(main, [path if word == "PATH" else word for word in words])
            assert isinstance(result.exception, SystemExit), (words, path[:20], result.exception)
            assert result.exit_code == 2
            assert len(result.output.splitlines()[-1]) > 20
    result = CliRunner().invoke(main, ["build", "x" * 300])
    assert "cannot be used: the name is longer than the file system allows; choose a shorter one" in result.output
    assert "x" * 100 not in result.output


def test_a_path_that_is_no_text_can_be_used_and_is_said(tmp_path):
    out = tmp_path / os.fsdecode(b"\xff\xfe")
    words = [
        *["generate", "--suite", "smoke", "--editor", "identity", "--limit", "1", "--rounds", "1", "--out"],
        str(out),
    ]
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.exception) == (0, None)
    assert (out / "run.json").exists()
    assert CliRunner().invoke(main, ["build", str(out), "--out", str(tmp_path / "dataset")]).exit_code == 0
    refused = CliRunner().invoke(
        main, ["build", str(out), "--out", str(out / "dataset")]
    )  # pyarrow takes no such path
    assert refused.exit_code == 2
    assert "contains bytes that are not text" in refused.output


def test_too_little_memory_is_one_sentence(monkeypatch):
    monkeypatch.setattr("convergebench.generation.plan.make_plan", mock.Mock(side_effect=MemoryError))
    result = CliRunner().invoke(main, ["plan", "--suite", "smoke", "--editor", "identity"])
    assert (result.exit_code, "out of memory" in result.output) == (1, True)


def test_a_file_that_grows_too_large_is_one_sentence(tmp_path):
    program = (
        "import resource, signal, sys; from convergebench.cli.__main__ import Kinds, main;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY)); main(sys.argv[1:])"
    )
    words = [
        *["generate", "--suite", "smoke", "--editor", "identity", "--limit", "1", "--out"],
        str(tmp_path / "run"),
    ]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert "a file would be larger than the file system or `ulimit -f` allows" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def takes_ctrl_c(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next((line for line in lines if line.startswith("SigCgt:")), "SigCgt: 0").split()[1]
    return bool(int(caught, 16) & 1 << signal.SIGINT - 1)


def wait_until(is_so, most=2.0):
    until = time.monotonic() + most
    while not is_so() and time.monotonic() < until:
        time.sleep(0.0005)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says when Python has given Ctrl-C into our hands")
@pytest.mark.parametrize(
    "command", [[Path(sys.executable).with_name("convergebench")], [sys.executable, "-m", "convergebench"]]
)
def test_ctrl_c_in_the_first_second_shows_no_traceback(command):
    chance = Random()
    moments = [0.0, 0.02, *(chance.uniform(0, 0.9) for _ in range(4))]
    for moment in moments:
        words = [*command, "plan", "--suite", "v1", "--editor", "paint"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            wait_until(lambda pid=process.pid: takes_ctrl_c(pid))
            wait_until(lambda pid=process.pid: not takes_ctrl_c(pid))
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[0]
        assert "Traceback" not in said, f"after {moment:.3f} s: {said}"
        assert process.returncode in (0, 1, -signal.SIGINT)


ANOTHER_ERROR = """
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ImportError("numpy._core.multiarray failed to import") from None
"""
FORGOTTEN = """
    class Callback:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    Callback()
    time.sleep(60)
"""


@pytest.mark.parametrize("becomes", [ANOTHER_ERROR, FORGOTTEN])
def test_ctrl_c_ends_a_command_whatever_a_library_makes_of_it(becomes):
    program = (
        "import signal, time\nfrom unittest import mock\nfrom convergebench import __main__ as start\n"
        f"def importing(prog_name):{becomes}\n"
        "with mock.patch('convergebench.cli.__main__.main', importing):\n    start.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (1, "Aborted!\n")


def test_a_process_of_a_pool_takes_ctrl_c_as_python_does(tmp_path):
    """It imports the script of the command; what it does not take would look like a kill to whoever watches it."""
    script = tmp_path / "convergebench"
    script.write_text("""
import multiprocessing, signal
from convergebench.__main__ import main

def show():
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=show)
    child.start()
    child.join()
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
