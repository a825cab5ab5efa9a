"""A clone as git makes it on Windows: where links are texts, installing from it puts the files in their place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
AS_ON_WINDOWS = ["-c", "core.symlinks=false", "-c", "core.autocrlf=true"]
MEASURED = """
import evaluate, numpy
pictures = [numpy.zeros((32, 32, 3), "uint8")]
print(evaluate.load("metric_modules/ssim").compute(predictions=pictures, references=pictures)["ssim"])
"""


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(folder, *more):
    who = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
    run("git", "add", "-A", cwd=folder)
    run("git", *who, "commit", "-q", "-m", "a change", *more, cwd=folder)


@pytest.fixture
def clone(tmp_path):
    """A small checkout with two links, cloned as on Windows."""
    house = tmp_path / "house"
    for path, text in (("generation/tool.py", "VALUE = 1\n"), ("metric_modules/a/measure.py", "MEASURED = 2\n")):
        (house / path).parent.mkdir(parents=True)
        (house / path).write_text(text)
    (house / ".gitattributes").write_bytes((HOUSE / ".gitattributes").read_bytes())
    (house / "metric_modules/a/tool.py").symlink_to("../../generation/tool.py")
    (house / "metric_modules/b").mkdir()
    (house / "metric_modules/b/a_measure.py").symlink_to("../a/measure.py")
    (house / "fill_links.py").write_bytes((HOUSE / "fill_links.py").read_bytes())
    run("git", "init", "-q", cwd=house)
    commit(house)
    run("git", "clone", "-q", *AS_ON_WINDOWS, house, tmp_path / "clone")
    return tmp_path / "clone"


def test_the_files_stand_in_the_place_of_the_texts_and_follow_their_originals(clone):
    one, other = clone / "metric_modules/a/tool.py", clone / "metric_modules/b/a_measure.py"
    assert one.read_bytes() == b"../../generation/tool.py"
    assert run(sys.executable, "-S", "fill_links.py", cwd=clone) == "2 links filled with the files that they name\n"
    assert (one.read_bytes(), other.read_bytes()) == (b"VALUE = 1\n", b"MEASURED = 2\n")
    assert run("git", "status", "--porcelain", cwd=clone) == ""  # they are no change of a link into a file
    (clone / "generation/tool.py").write_bytes(b"VALUE = 3\n")
    run(sys.executable, "fill_links.py", cwd=clone)
    assert one.read_bytes() == b"VALUE = 3\n"
    commit(clone)
    assert run("git", "ls-files", "-s", cwd=clone).count("120000") == 2


def filled(house):
    """What is filled when something is installed from a checkout, in a process of its own, as pip does it."""
    code = "import sys, pathlib, fill_links; print(*fill_links.fill(pathlib.Path(sys.argv[1])), sep='\\n')"
    named = run(sys.executable, "-c", code, house, cwd=HOUSE).split()
    return [Path(name).relative_to(house).as_posix() for name in named]


def test_links_that_are_links_and_texts_that_lead_elsewhere_are_left_alone(clone):
    outside, nowhere = clone / "metric_modules/a/outside.py", clone / "metric_modules/a/nowhere.py"
    outside.write_text("../../../house/generation/tool.py")
    nowhere.write_text("../nothing.py")
    assert filled(clone) == ["metric_modules/a/tool.py", "metric_modules/b/a_measure.py"]
    assert (outside.read_text(), nowhere.read_text()) == ("../../../house/generation/tool.py", "../nothing.py")
    linked = clone.parent / "house"
    assert filled(linked) == []
    assert (linked / "metric_modules/a/tool.py").is_symlink()


@pytest.mark.slow
def test_a_clone_on_windows_works_after_it_was_installed(tmp_path):
    if not (HOUSE / ".git").exists():
        pytest.skip("this is no clone")
    clone, installed, work = tmp_path / "clone", tmp_path / "installed", tmp_path / "work"
    work.mkdir()
    run("git", "clone", "-q", *AS_ON_WINDOWS, HOUSE, clone)
    assert (clone / "metric_modules/ssim/pictures.py").read_bytes() == b"../../generation/pictures.py"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*pip, "--target", installed, clone)
    assert not [path for path in clone.rglob("*.py") if b"\r\n" in path.read_bytes()]
    environment = os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    assert run(sys.executable, "-c", MEASURED, cwd=clone, env=environment).splitlines()[-1] == "1.0"
    environment |= {"PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    where = run(
        sys.executable, "-c", "import convergebench.cli; print(convergebench.cli.__file__)", cwd=work, env=environment
    )
    assert Path(where.strip()).is_relative_to(installed)
    assert "Look at:" in run(
        sys.executable, "-m", "convergebench", "demo", "--suite", "smoke", cwd=work, env=environment
    )
    run(sys.executable, clone / "fill_links.py")
    changed = run("git", "status", "--porcelain", "--untracked-files=no", cwd=clone)
    assert changed == ""
