"""A user's own function as an editor, from Python or from a file."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from convergebench import generation
from convergebench.generation import editors, pictures, store
from convergebench.generation.own import editor as own_editor
from convergebench.generation.records import UserError
from counting import digest


def brighter(image, instruction, seed):
    """Adds one to every value."""
    return image.point(lambda value: min(255, value + 1))


def test_name_and_version_are_the_chains_identity():
    options = ({}, {"version": "1"}, {"version": "2"}, {"version": "1", "name": "mine"})
    ids = {editors.own_choice(brighter, "", given).label for given in options}
    assert len(ids) == 4
    assert "mine:version=1" in ids
    assert editors.own_choice(brighter).label == editors.own_choice(brighter).label
    settings = editors.own_choice(brighter, "", {"version": "1", "seed": "fixed"}).settings
    assert settings == {"version": "1", "seed": "fixed"}


def refuses(image, instruction, seed):
    raise generation.Refused("not this one")


@pytest.mark.parametrize(
    ("function", "end", "reason"),
    [
        (lambda image, instruction: pictures.encode_png(image), "complete", ""),
        (refuses, "refused", "not this one"),
        (lambda image, instruction: 1 / 0, "failed", "ZeroDivisionError: division by zero"),
        (lambda image, instruction: None, "no_image", "the function returned None"),
        (lambda image, instruction: 3, "failed", "got int"),
    ],
)
def test_what_a_function_gives_or_raises_is_a_typed_answer(tmp_path, function, end, reason):
    outcome = generation.generate(function, suite="smoke", out=tmp_path, name="mine", version="1", rounds=1)
    assert set(outcome.ends) == {end}
    assert reason in "".join(path.read_text() for path in tmp_path.glob("chains/*/steps.jsonl"))


def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path):
    (tmp_path / "mine.py").write_text("def edit(image, instruction, seed):\n    return image\n")
    (tmp_path / "broken.py").write_text("def edit(:\n")
    for spec, words in (
        ("none.py:edit", "none.py does not exist"),
        ("mine.py:other", "has no function 'other'"),
        ("mine.py:edit,angle=3", "own 'angle'; it must be one of name, version, seed"),
        ("mine.py:edit,name=jpeg", "'jpeg' is already the name of an editor"),
        ("mine.py:edit,name=a b", "letters, digits"),
        ("broken.py:edit", "cannot be run: SyntaxError"),
    ):
        with pytest.raises(UserError, match=words):
            editors.choose(f"{tmp_path}/{spec}")


def test_calls_of_an_async_function_overlap_in_one_event_loop(tmp_path, monkeypatch):
    loops, under_way, most, new_loop = set(), 0, 0, asyncio.new_event_loop

    def slow_loop():
        time.sleep(0.2)  # while other first calls come
        return new_loop()

    monkeypatch.setattr(asyncio, "new_event_loop", slow_loop)
    own_editor._started_loop.cache_clear()

    async def edit(image, instruction, seed):
        nonlocal under_way, most
        loops.add(asyncio.get_running_loop())
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.05)
        under_way -= 1
        return image

    outcome = generation.generate(edit, suite="smoke", out=tmp_path, version="1")
    assert set(outcome.ends) == {"complete"}
    assert most > 1
    assert len(loops) == 1


NOTEBOOK = Path(__file__).parents[2] / "docs" / "quickstart.ipynb"
CHANGED = {"generation.generate": "outcome = generation.generate", 'score("mine"': 'score("mine", ["psnr"]'}
SHOWN = """
print("chains", sum(outcome.ends.values()))
print("board", board.rows[0]["editor"], board.page)
"""


@pytest.mark.slow
def test_one_process_and_two_make_equal_chains(tmp_path):
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    program = "\n".join("".join(cell["source"]) for cell in cells) + SHOWN
    for before, after in CHANGED.items():
        program = program.replace(before, after)
    (tmp_path / "net.py").write_text(program)
    options = {"env": {**os.environ, "OMP_NUM_THREADS": "1"}, "text": True, "timeout": 500}
    launch = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
    told = {}
    for name, words in (("one", []), ("two", launch)):
        (tmp_path / name).mkdir()
        options["cwd"] = tmp_path / name
        told[name] = subprocess.check_output([sys.executable, *words, "../net.py"], **options).splitlines()
    chains = {name: [int(line.split()[1]) for line in lines if "chains" in line] for name, lines in told.items()}
    assert len(chains["two"]) == 2
    assert min(chains["two"]) > 0
    assert sum(chains["two"]) == sum(chains["one"])
    stored = [digest(tmp_path / name / "runs" / "mine" / "chains").items() for name in ("one", "two")]
    # The steps say how long each call took, which no two runs share.
    one, two = ({name: hash for name, hash in files if name.endswith((".png", "chain.json"))} for files in stored)
    assert one == two
    assert len(one) > sum(chains["one"])
    assert (tmp_path / "two" / "report" / "index.html").is_file()
    assert sum("board my_editor:version=1" in line for line in told["two"]) == 2, "every process has the board"


SPY = '''
import contextlib, inspect, json, os, sys
from pathlib import Path

FOUND = Path(__file__).parent / "found"


def edit(image, instruction, seed):
    """Looks everywhere."""
    values = [repr(value) for frame in inspect.stack() for value in frame.frame.f_locals.values()]
    values += [f"{key}={value}" for key, value in os.environ.items()] + list(map(str, sys.argv))
    values += [f"SEEN {folder} {names}" for folder, _, names in os.walk(HIDDEN)]
    others = [f"/proc/{pid}" for pid in {1, os.getppid()} - {os.getpid()}]
    files = [f"{other}/{what}" for other in others for what in ("environ", "cmdline", "maps", "mem")]
    for file in files + [f"{HIDDEN}/{name}.json" for name in ("run", "plan", "editors")]:
        with contextlib.suppress(OSError), open(file, "rb") as opened:
            values.append(f"SEEN {file} {opened.read(4096)}")
    FOUND.write_text(json.dumps(values) + "\\n" + str(image.size) + instruction)
    return image
'''


def test_a_spy_in_its_own_process_gets_nothing_of_the_chain(tmp_path, monkeypatch):
    """It walks the stack, reads /proc, the run's folder and the environment."""
    monkeypatch.setenv("CHAIN_SECRET", "the salt")
    run, mine = tmp_path / "run", tmp_path / "mine"
    mine.mkdir()
    (mine / "spy.py").write_text(f"HIDDEN = {str(run)!r}\n" + SPY)
    outcome = generation.generate(f"{mine}/spy.py:edit", suite="smoke", out=run, rounds=1, limit=1)
    assert set(outcome.ends) == {"complete"}
    isolation = set(store.read_checked(run / "run.json")["isolation"].values())
    found = (mine / "found").read_text()
    chains = [path.name for path in (run / "chains").iterdir()]
    assert chains
    assert not [id for id in chains if id in found]
    assert "audit" not in found
    assert "CHAIN_SECRET" not in found
    if isolation == {"process"}:
        pytest.skip("this kernel has no Landlock, and run.json says so")
    assert isolation == {"sandboxed process"}
    assert "SEEN" not in found


def test_a_file_gets_its_neighbours_and_its_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "1234")
    (tmp_path / "beside_mine.py").write_text("import os\nKEY = os.environ.get('MY_KEY')\n")
    (tmp_path / "mine.py").write_text(
        "import beside_mine\n\ndef edit(image, instruction):\n    raise RuntimeError(beside_mine.KEY)\n"
    )
    for words, seen in (("", "None"), (",env=MY_KEY", "1234")):
        run = tmp_path / seen
        generation.generate(f"{tmp_path}/mine.py:edit,name=x{words}", suite="smoke", out=run, rounds=1, limit=1)
        assert f"RuntimeError: {seen}" in "".join(path.read_text() for path in run.glob("chains/*/steps.jsonl"))


def test_a_function_is_described_and_marked_as_not_isolated(tmp_path):
    generation.generate(brighter, suite="smoke", out=str(tmp_path), rounds=1)
    assert set(store.read_checked(tmp_path / "run.json")["isolation"].values()) == {"none"}
    ((label, about),) = store.read_checked(tmp_path / "editors.json").items()
    assert label.startswith("brighter:version=")
    assert {"name": "brighter", "role": "editor", "about": "Adds one to every value."}.items() <= about.items()
