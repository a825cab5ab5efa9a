"""The front door: every verb explains itself, and refusals are one sentence; `list metrics` says what is missing."""

import importlib
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import huggingface_hub
import pytest
from convergebench.cli.__main__ import VerbWithKinds, main
from convergebench.cli.look_up import list_metrics
from convergebench.metric_modules.clip_similarity import measure
from convergebench.metric_modules.specs import scored_specs
from verbs import invoke, say


def commands():
    """The words of every command: `build`, `list editors`, `import --layout table`."""
    for verb in main.list_commands(None):
        command = main.get_command(None, verb)
        if not isinstance(command, VerbWithKinds):
            yield [verb]
            continue
        for kind in command.list_commands(None):
            yield [verb, "--layout", kind] if verb == "import" else [verb, kind]


COMMANDS = list(commands())


@pytest.mark.parametrize("words", [[], *COMMANDS], ids=" ".join)
def test_help_has_an_example_and_fits_80_columns(words):
    result = invoke(*words, "--help")
    assert result.exit_code == 0
    assert not words or f"convergebench {words[0]}" in result.output.split("Usage:")[1].split("\n", 1)[1]
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    listed = lines[lines.index("Commands:") :] if "Commands:" in lines else lines[3:] if not words else []
    assert not any(line.endswith("...") for line in listed)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["generat"], "no command 'generat'; did you mean generate?"),
        (["list", "editor"], "did you mean editors?"),
        (["import", "x", "--layout", "tabel"], "no layout 'tabel'; did you mean table?"),
        (["import", "x"], "no --layout given; the layouts are"),
        (["plan", "--suite", "nope"], "no suite 'nope'; the suites are"),
        (["plan", "--suite", "demo", "--scene-seed", "3"], "demo-seed3"),
        (["generate", "--suite", "smoke", "--shard", "4/4"], "--shard must be I/N"),
    ],
)
def test_bad_usage_exits_with_two_and_one_sentence(words, sentence):
    result = invoke(*words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_a_plan_names_every_chain_and_generate_resumes(tmp_path):
    made = json.loads(say("plan", "--suite", "smoke", "--editor", "identity", "--json"))
    assert len(made["chains"]) == made["editors"][0]["chains"] > 0
    words = ["generate", "--suite", "smoke", "--editor", "jpeg", "--rounds", "1", "--out", tmp_path / "run"]
    assert json.loads(say(*words, "--json"))["ends"]["complete"] > 0
    assert "nothing to do" in say(*words)


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
            result = invoke(*(path if word == "PATH" else word for word in words))
            assert isinstance(result.exception, SystemExit), (words, path[:20], result.exception)
            assert result.exit_code == 2
            assert len(result.output.splitlines()[-1]) > 20
    result = invoke("build", "x" * 300)
    assert "cannot be used: the name is longer than the file system allows; choose a shorter one" in result.output
    assert "x" * 100 not in result.output


def test_a_path_that_is_no_text_can_be_used_and_is_said(tmp_path):
    out = str(tmp_path / os.fsdecode(b"\xff\xfe"))
    say("generate", "--suite", "smoke", "--editor", "identity", "--limit", "1", "--rounds", "1", "--out", out)
    assert Path(out, "run.json").exists()
    say("build", out, "--out", tmp_path / "dataset")
    refused = invoke("build", out, "--out", f"{out}/dataset")  # pyarrow takes no such path
    assert (refused.exit_code, "contains bytes that are not text" in refused.output) == (2, True)


def test_too_little_memory_is_one_sentence(monkeypatch):
    monkeypatch.setattr("convergebench.generation.plan.make_plan", mock.Mock(side_effect=MemoryError))
    result = invoke("plan", "--suite", "smoke", "--editor", "identity")
    assert (result.exit_code, "out of memory" in result.output) == (1, True)


@pytest.fixture
def ctrl_c():
    """As in a terminal: a shell in the background lets its processes ignore Ctrl-C, and they theirs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("becomes", [ANOTHER_ERROR, FORGOTTEN])
def test_ctrl_c_ends_a_command_whatever_a_library_makes_of_it(becomes):
    program = (
        "import signal, time\nfrom unittest import mock\nfrom convergebench import __main__ as start\n"
        f"def importing(prog_name):{becomes}\n"
        "with mock.patch('convergebench.cli.__main__.main', importing):\n    start.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (1, "Aborted!\n")


@pytest.mark.usefixtures("ctrl_c")
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


HOUSE = Path(__file__).parents[2]


def test_metrics_are_listed_by_name_in_the_words_of_cards():
    rows = json.loads(say("list", "metrics", "--json"))
    folders = sorted(path.parent.name for path in HOUSE.glob("metric_modules/*/spec.py"))
    assert sorted({row["folder"] for row in rows}) == folders
    for row in rows:
        if (HOUSE / "metric_modules" / row["folder"] / "README.md").exists():
            assert 20 < len(row["measures"]) <= 60, "the Hub shows 60 characters of a short_description"
    assert {row["name"] for row in rows if row["kind"] != "statistic"} == set(scored_specs())
    [halflife] = [line for line in say("list", "metrics").splitlines() if line.startswith("halflife ")]
    assert "; from numbers; " in halflife


def test_weights_that_are_not_there_are_named_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "lpips            " in (said := say("list", "metrics"))
    assert "needs `convergebench weights lpips`" in said


@pytest.mark.parametrize("there", [True, False])
def test_clip_is_ready_only_with_its_weights(monkeypatch, tmp_path, there):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    weights = tmp_path / "models--openai--clip-vit-large-patch14" / "snapshots" / measure._REVISION
    if there:
        weights.mkdir(parents=True)
        (weights / "model.safetensors").touch()
    asked = measure.CHECKPOINT, "model.safetensors", tmp_path, measure._REVISION
    assert isinstance(huggingface_hub.try_to_load_from_cache(*asked), str) == there  # the Hub's own words
    rows = {row["name"]: row for row in json.loads(say("list", "metrics", "--json"))}
    assert (rows["clip"]["missing"] is None) == there


def test_only_a_package_that_is_needed_and_not_installed_is_named(monkeypatch):
    absent = ("gradio", "torch", "accelerate")
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [name] * (name not in absent))
    for name in ("halflife", "contraction", "psnr", "ssim", "registration", "edit_applied"):
        assert list_metrics._missing_packages(HOUSE / "metric_modules" / name) is None, name
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [name] * (name != "numpy"))
    assert list_metrics._missing_packages(HOUSE / "metric_modules" / "psnr") == "needs pip install numpy"


def test_all_weights_are_fetched_by_one_command(monkeypatch):
    from convergebench.metric_modules.dists import measure as dists

    names = ["brisque", "dists", "face_identity", "lpips", "niqe"]
    for name in names:
        module = importlib.import_module(f"convergebench.metric_modules.{name}.measure")
        monkeypatch.setattr(module, "fetch_weights", lambda say, name=name: {name: {"file": f"{name}.bin"}})
    assert list(json.loads(say("weights", "--all", "--json"))) == names
    for words in (["weights"], ["weights", "lpips", "--all"]):
        assert invoke(*words).exit_code == 2
    monkeypatch.setattr(dists, "fetch_weights", lambda say: (_ for _ in ()).throw(OSError("away")))
    others = invoke("weights", "--all", "--json")
    assert (others.exit_code, others.stderr) == (1, "Error: away\n")
    assert "niqe" in json.loads(others.stdout), "one that cannot be had does not keep the others away"
