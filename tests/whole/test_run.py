"""`convergebench run` takes an editor to its numbers: it resumes, repeats from bench.toml, and fails early."""

import doctest
import importlib.metadata
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import convergebench as cb
import pytest
from convergebench import bench
from convergebench.cli.__main__ import main
from convergebench.generation import editors
from convergebench.generation.own import editor as own_editor
from convergebench.generation.records import UserError
from counting import digest, finished
from PIL import Image
from verbs import invoke, say

MINE = """
from pathlib import Path
from PIL import ImageEnhance

def edit(image, instruction, seed):
    with (Path(__file__).parent / "asked").open("a") as asked:
        asked.write(f"{instruction} {seed}\\n")
    return ImageEnhance.Brightness(image).enhance(1.01)

def unary(image):
    return image

def raises(image, instruction, seed):
    raise ValueError("no weights")

def nothing(image, instruction, seed):
    return None

def flaky(image, instruction, seed):
    asked = Path(__file__).parent / "asked"
    calls = asked.read_text().count("!") if asked.exists() else 0
    asked.write_text("!" * (calls + 1))
    if calls % 2:
        raise ValueError("every second call")
    return image
"""
SMALL = ["--suite", "smoke", "--rounds", "1", "--limit", "2", "--no-audit", "--metrics", "psnr"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return invoke("run", *words)


def test_one_command_gives_numbers_and_its_file_repeats_them(here):
    first = run("--editor", "./mine.py:edit", *SMALL, "--json")
    assert first.exit_code == 0, first.output
    assert (here / json.loads(first.stdout)["page"]).exists()
    asked = (here / "asked").read_text()
    assert len(asked.splitlines()) == 1 + 4, "a trial call, and two steps for each of two chains"
    again = run("--config", "bench/smoke/bench.toml", "--json", "--fail-under", "1.5")
    assert (here / "asked").read_text() == asked
    assert json.loads(again.stdout)["rows"] == json.loads(first.stdout)["rows"]
    assert again.exit_code == 1
    assert "kept 1.00 rounds; --fail-under asks for 1.5" in again.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "reason", "code"),
    [
        (["--editor", "./mine.py:unary"], "(image, instruction, seed)", 1),
        (["--editor", "./mine.py:raises"], "ValueError: no weights", 1),
        (["--editor", "./mine.py:nothing"], "the function returned None", 1),
        (["--editor", "jpeg", "--metrics", "lpips"], "the metric lpips cannot be computed here", 2),
        (["--editor", "jpeg", "--metrics", "edit_applied,pnsr"], "no metric 'pnsr'", 2),
        (["--editor", "jpeg", "--fail-on-error", "5"], "a share from 0 to 1", 2),
        (["--editor", "jpeg", "--push", "a/b/c"], "give NAMESPACE/NAME", 2),
        (["--config", "none.toml"], "none.toml cannot be read", 2),
    ],
)
def test_bad_arguments_are_reported_before_anything_is_stored(here, monkeypatch, words, reason, code):
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "empty"))  # no weights of LPIPS
    result = run("--suite", "smoke", *words)
    assert result.exit_code == code
    assert reason in result.stderr.splitlines()[0]
    assert not (here / "bench").exists()


def test_a_wrong_line_of_the_config_is_refused(here):
    for line, words in (("round = 3", "no field round"), ('rounds = "3"', "for rounds")):
        (here / "bench.toml").write_text(f'editor = "jpeg"\n{line}\n')
        result = run("--config", "bench.toml")
        assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_run_without_answers_exits_with_the_first_reason(here):
    for _ in range(2):  # the second time, every chain has already failed
        result = invoke("generate", "--editor", "./mine.py:raises", *SMALL[:-2], "--out", "run")
        assert result.exit_code == 1
        assert "ValueError: no weights" in result.stderr.splitlines()[0]
    half = run("--editor", "./mine.py:flaky", *SMALL, "--fail-on-error", "0.5")
    assert half.exit_code == 1
    assert "100% of its chains ended without an answer" in half.stderr


def test_equal_reasons_are_given_once_with_an_install_command(tmp_path, monkeypatch):
    reason = "it needs torch, which pip install 'convergebench[score]' brings"
    installed = SimpleNamespace(read_text=lambda name: json.dumps({"url": f"file://{tmp_path}/a%20b.whl"}))
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [installed])
    finished = bench.Finished(tmp_path, tmp_path, "", {"lpips": reason, "clip": "no weights", "damage": reason})
    lines = str(finished).splitlines()[-2:]
    assert lines[0].startswith("not computed: lpips and damage, because it needs torch, which ")
    assert f"{sys.executable} -m pip install '{tmp_path}/a b.whl[score]' brings" in lines[0]
    assert lines[1] == "not computed: clip, because no weights"


def test_a_typed_functions_id_depends_only_on_its_code():
    scope, source = {}, "def edit(image, instruction):\n    return image if instruction in {'a', 'b'} else None"
    exec(source, scope)  # noqa: S102
    exec("def other(image, instruction):\n    return None", scope)  # noqa: S102
    first, other = (own_editor.version_of(scope[name]) for name in ("edit", "other"))
    assert first != other
    code = "import sys; exec(sys.argv[1])\nfrom convergebench.generation.own import editor as own_editor\n"
    code += "print(own_editor.version_of(edit))"
    for seed in "12":
        words = [sys.executable, "-c", code, source]
        printed = subprocess.check_output(words, text=True, env={"PYTHONHASHSEED": seed, "PATH": ""})
        assert printed.strip() == first
    assert editors.own_choice(scope["edit"]).label == f"edit:version={first}"


def test_measure_compares_files_and_folders(tmp_path):
    for name, side, value in (("a/one", 32, 100), ("b/one", 32, 110), ("small", 16, 110)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (side, side), (value, value, value)).save(tmp_path / f"{name}.png")
    [pair] = cb.measure(tmp_path / "a", tmp_path / "b", ["psnr"])
    [resized] = cb.measure(tmp_path / "a" / "one.png", tmp_path / "small.png", ["psnr"])
    assert (pair["name"], pair["rmse"], pair["resized"]) == ("one.png", 10.0, False)
    assert (resized["rmse"], resized["resized"]) == (10.0, True)
    (tmp_path / "small.png").rename(tmp_path / "a" / "two.png")
    with pytest.raises(UserError, match="two is in only one of"):
        cb.measure(tmp_path / "a", tmp_path / "b")
    with pytest.raises(UserError, match="judges the rounds of a chain"):
        cb.measure(tmp_path / "b", tmp_path / "b", ["edit_applied"])


def test_every_command_is_a_function():
    assert all(getattr(cb, name).__doc__ for name in cb.__all__)
    assert cb.__version__ == importlib.metadata.version("convergebench")
    assert say("--version").endswith(f"version {cb.__version__}\n")
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        cb.scores  # noqa: B018
    with pytest.raises(UserError, match="metric with weights"):
        cb.weights("psnr")
    with pytest.raises(TypeError):
        cb.list_suites(colour="red")
    for verb in main.list_commands(None):
        assert any(name == verb or name.startswith(f"{verb}_") for name in dir(cb)), verb


@pytest.mark.parametrize("name", ["plan", "measure", "run"])
def test_an_example_in_a_docstring_runs(name, tmp_path):
    picture = tmp_path / "picture.png"
    Image.linear_gradient("L").convert("RGB").save(picture)
    module = importlib.import_module(getattr(cb, name).__module__)
    names = {**vars(module), "folder": tmp_path / "out", "picture": picture}
    [test] = doctest.DocTestFinder(recurse=False).find(getattr(cb, name), name, globs=names)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_curves_go_to_a_tracker_one_run_for_each_editor(tmp_path, monkeypatch):
    row = {"group": "trips", "slice": "all", "metric": "kept", "mean": 0.5, "mean_low": 0.25, "mean_high": None}
    rows = [{**row, "editor": name, "round": number} for name in ("a", "b") for number in (1, 2)]
    board = [{"editor": "a", "rounds_kept": 1.5, "rank": None}]
    tables = {"curves": {"rows": [*rows, {**rows[0], "slice": "face"}]}, "leaderboard": {"rows": board}}
    (tmp_path / "tables.json").write_text(json.dumps(tables))
    tracker = mock.MagicMock()
    tracker.init.return_value = tracker
    monkeypatch.setitem(sys.modules, "trackio", tracker)
    assert cb.track(tmp_path, "trackio", "mine") == ["a", "b"]
    values = {"trips/kept": 0.5, "trips/kept_low": 0.25}
    config = {"editor": "a", "rounds_kept": 1.5}
    first = [mock.call.init(project="mine", name="a", config=config), mock.call.log(values, step=1)]
    assert tracker.method_calls[:4] == [*first, mock.call.log(values, step=2), mock.call.finish()]
    assert len(tracker.method_calls) == 8
    with pytest.raises(UserError, match="no tracker 'mlflow'"):
        cb.track(tmp_path, "mlflow")
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(UserError, match=r"^trackio is not installed: pip install trackio$"):
        cb.track(tmp_path, "trackio")


@pytest.mark.slow
def test_a_run_killed_five_times_asks_nothing_twice(here):
    pause = "    __import__('time').sleep(0.2)\n    return ImageEnhance"
    (here / "mine.py").write_text(MINE.replace("    return ImageEnhance", pause))
    words = [sys.executable, "-m", "convergebench", "run", "--editor", "./mine.py:edit", *SMALL, "--json"]
    folder, log = here / "killed", here / "asked"

    def asked():
        return [int(line.rpartition(" ")[2]) for line in log.read_text().splitlines()] if log.exists() else []

    def run_whole(out):
        done = subprocess.run([*words, "--rounds", "3", "--out", out], stdout=subprocess.PIPE, check=True)
        files = {
            name: value for name, value in digest(here / out / "runs/smoke").items() if name.endswith(".png")
        }
        return [row | {"seconds": None} for row in json.loads(done.stdout)["rows"]], files

    whole = run_whole("whole")
    assert len(asked()) == 1 + 2 * 6, "a trial call, and two steps in each of three rounds of two chains"
    log.unlink()
    built, stored, repeated = folder / "convergebench", set(), []
    for is_reached in (
        lambda: len(asked()) > 4,
        lambda: len(asked()) > 8,
        (built / ".building").exists,
        (built / ".scoring/0000-of-0001.jsonl").exists,
        (folder / "report").exists,
    ):
        before = len(asked())
        process = subprocess.Popen([*words, "--rounds", "3", "--out", "killed"], stdout=subprocess.DEVNULL)
        while not is_reached():
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        assert process.wait() != 0, "killed before its end"
        repeated += stored & {*asked()[before:]}
        stored = finished(folder / "runs/smoke")
        assert stored
    before = len(asked())
    assert run_whole("killed") == whole
    assert repeated == []
    assert len(asked()) == before, "all answers were there"


# The notebook: ten lines lead from a user's function to the report

NOTEBOOK = Path(__file__).parents[2] / "docs" / "quickstart.ipynb"


def test_ten_lines_benchmark_a_function_and_show_it(tmp_path, monkeypatch):
    """The notebook's cells, run in order, without the metrics that need network weights."""
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    codes, names = ["".join(cell["source"]) for cell in cells], {}
    assert len([line for code in codes for line in code.splitlines() if line.strip()]) <= 10
    monkeypatch.chdir(tmp_path)
    for code in codes:
        exec(code.replace('score("mine")', 'score("mine", ["psnr", "ssim", "edit_applied"])'), names)  # noqa: S102 - our own code
    board = names["board"]
    assert "my_editor" in (tmp_path / board.page).read_text()
    rows = {row["editor"]: row for row in board.rows}
    assert rows["oracle"]["rounds_kept"] == 2
    assert rows["my_editor:version=1"]["rounds_kept"] == 0
    assert rows["my_editor:version=1"]["cause"].startswith("not changed")
    assert list(board.frame["editor"]) == [row["editor"] for row in board.rows]
    assert board.frame.set_index("editor").loc["oracle", "rounds_kept"] == 2
    shown = board._repr_html_()
    assert "<table>" in shown
    assert str(board).endswith(f"open {board.page}")


@pytest.mark.slow
def test_the_notebook_shows_bars_and_tables(tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    cells = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute().cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = [output.data.get("text/html", "") for output in outputs if "data" in output]
    bars = "".join(output.text for output in outputs if output.get("name") == "stderr")
    for title in ("generate", "build", "score"):
        assert f"{title}: 100%|" in bars
    assert any("<table" in html and "index.html" in html for html in shown)
    assert any("dataframe" in html for html in shown)
