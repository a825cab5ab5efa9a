"""A user's own function as an editor: from Python, from a file, from an installed package; killed and resumed."""

import hashlib
import importlib.metadata
import io
import json
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from convergebench import generation
from convergebench.cli.__main__ import main
from convergebench.generation import editors
from convergebench.generation.records import UserError

MINE = '''
import time
from pathlib import Path

from PIL import Image, ImageEnhance

HERE = Path(__file__).parent


def edit(image, instruction, seed):
    """Brightens a little."""
    with (HERE / "asked").open("a") as asked:
        asked.write(f"{seed}\\n")
    time.sleep(PAUSE)
    return ImageEnhance.Brightness(image).enhance(1.0 + seed % 3 / 50)
'''


def brighter(image, instruction, seed):
    """Adds one to every value."""
    return image.point(lambda value: min(255, value + 1))


def pictures_of(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("chains/*/*.png")
    }


def test_a_function_runs_a_suite_and_the_same_call_again_has_nothing_to_do(tmp_path):
    outcome = generation.generate(brighter, suite="smoke", out=tmp_path / "run", rounds=2)
    assert outcome.clean
    assert set(outcome.ends) == {"complete"}
    again = generation.generate(brighter, suite="smoke", out=str(tmp_path / "run"), rounds=2)
    assert (again.ends, again.already) == ({}, sum(outcome.ends.values()))
    (label,) = json.loads((tmp_path / "run" / "editors.json").read_text())
    assert label.startswith("brighter:version=")
    about = json.loads((tmp_path / "run" / "editors.json").read_text())[label]
    assert about == {"name": "brighter", "role": "editor", "about": "Adds one to every value."}


def test_name_and_version_are_the_chains_identity():
    ids = {
        editors.own_choice(brighter, "", given).label
        for given in ({}, {"version": "1"}, {"version": "2"}, {"version": "1", "name": "mine"})
    }
    assert len(ids) == 4
    assert "mine:version=1" in ids
    assert editors.own_choice(brighter).label == editors.own_choice(brighter).label
    settings = editors.own_choice(brighter, "", {"version": "1", "seed": "fixed"}).settings
    assert settings == {"version": "1", "seed": "fixed"}


def test_an_embedded_editor_by_name_has_the_chains_it_has_on_the_command_line(tmp_path):
    generation.generate("identity", suite="smoke", out=tmp_path / "a", rounds=1)
    CliRunner().invoke(
        main, ["generate", "--suite", "smoke", "--editor", "identity", "--rounds", "1", "--out", f"{tmp_path}/b"]
    )
    assert pictures_of(tmp_path / "a") == pictures_of(tmp_path / "b") != {}


def picture_bytes(image, instruction):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG")
    return buffer.getvalue()


async def later(image, instruction, seed):
    return image


def refuses(image, instruction, seed):
    raise generation.Refused("not this one")


def breaks(image, instruction, seed):
    raise ZeroDivisionError("oh")


ANSWERS = [
    (picture_bytes, "complete", None),
    (later, "complete", None),
    (refuses, "refused", "not this one"),
    (breaks, "failed", "ZeroDivisionError: oh"),
    (lambda image, instruction: None, "no_image", "the function gave None"),
    (lambda image, instruction: 3, "failed", "the function gave int"),
]


@pytest.mark.parametrize(("function", "end", "reason"), ANSWERS)
def test_what_a_function_gives_or_raises_is_a_typed_answer(tmp_path, function, end, reason):
    outcome = generation.generate(function, suite="smoke", out=tmp_path, name="mine", version="1", rounds=1)
    assert set(outcome.ends) == {end}
    if reason:
        told = "".join(path.read_text() for path in tmp_path.glob("chains/*/steps.jsonl"))
        assert reason in told


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("./none.py:edit", "there is no file none.py"),
        ("{folder}/mine.py:other", "has no function 'other'"),
        ("{folder}/mine.py:edit,angle=3", "has no option 'angle'; its options are name, version, seed"),
        ("{folder}/mine.py:edit,name=jpeg", "'jpeg' is the name of an editor that is here already"),
        ("{folder}/mine.py:edit,name=a b", "letters, digits"),
        ("{folder}/broken.py:edit", "cannot be run: ValueError: no weights"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path, spec, words):
    (tmp_path / "mine.py").write_text(MINE.replace("PAUSE", "0"))
    (tmp_path / "broken.py").write_text("raise ValueError('no weights')\n")
    with pytest.raises(UserError, match=words):
        editors.choose(spec.format(folder=tmp_path))


def test_a_file_is_an_editor_of_the_command_line_and_imports_its_neighbours(tmp_path):
    (tmp_path / "beside_mine.py").write_text("SHIFT = 2\n")
    (tmp_path / "mine.py").write_text(
        "import beside_mine\n\ndef edit(image, instruction):\n    return image.rotate(beside_mine.SHIFT)\n"
    )
    words = ["generate", "--suite", "smoke", "--editor", f"{tmp_path}/mine.py:edit,name=turn,version=1"]
    result = CliRunner().invoke(main, [*words, "--rounds", "1", "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert list(json.loads((tmp_path / "run" / "editors.json").read_text())) == ["turn:version=1"]


def test_an_installed_package_brings_an_editor_by_an_entry_point(tmp_path, monkeypatch):
    point = importlib.metadata.EntryPoint("brighter", f"{__name__}:brighter", editors.PLUGINS)
    monkeypatch.setattr(editors, "plugins", lambda: {"brighter": point})
    assert "brighter" in editors.names()
    assert editors.choose("brighter:version=3").label == "brighter:version=3"
    assert editors.describe("brighter")["about"] == "Adds one to every value."
    outcome = generation.generate("brighter:version=3", suite="smoke", out=tmp_path, rounds=1)
    assert set(outcome.ends) == {"complete"}


def test_a_run_that_is_killed_goes_on_where_it_stopped(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace("PAUSE", "0.05"))
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\nfrom convergebench import generation\nimport mine\n"
        "generation.generate(mine.edit, suite='smoke', out=sys.argv[1], rounds=3, workers=1)\n"
    )
    asked = tmp_path / "asked"
    process = subprocess.Popen([sys.executable, script, tmp_path / "killed"], cwd=tmp_path)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not asked.exists() or len(asked.read_text().splitlines()) < 7):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(asked.read_text().splitlines())
    subprocess.run([sys.executable, script, tmp_path / "killed"], cwd=tmp_path, check=True, timeout=120)
    total = len(asked.read_text().splitlines())
    asked.unlink()
    subprocess.run([sys.executable, script, tmp_path / "whole"], cwd=tmp_path, check=True, timeout=120)
    whole = len(asked.read_text().splitlines())
    assert 7 <= before < whole
    assert whole <= total <= whole + 1, "only the step in flight is asked for again"
    assert pictures_of(tmp_path / "killed") == pictures_of(tmp_path / "whole")
    assert len(pictures_of(tmp_path / "whole")) > whole
