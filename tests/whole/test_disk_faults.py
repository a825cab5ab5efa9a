"""Every command that writes, on a disk that is full or reports an error: a sentence, nothing unfinished, and again."""

import contextlib
import errno
import os
import resource
import signal
from random import Random
from unittest import mock

import pytest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import files
from fuzz.targets import store
from fuzz.workshop import Workshop, invoke
from verbs import say

WORDS = {
    "generate": ("generate", "--suite", "smoke", "--editor", "identity", "--limit", "1", "--out", "{out}"),
    "run": ("run", "--suite", "smoke", "--editor", "jpeg", "--limit", "1", "--metrics", "psnr", "--out", "{out}"),
    "build": ("build", "{run}", "--out", "{out}"),
    "build again": ("build", "{small-run}", "--out", "{dataset}"),
    "score": ("score", "{built}", "--metrics", "psnr"),
    "report": ("report", "{dataset}", "--out", "{out}"),
    "judge": ("judge", "{additions}", "--judge", "paint", "--question", "additions_there"),
    "list labels": ("list", "labels", "--dataset", "{dataset}", "--out", "{out}"),
    "submit": ("submit", "{whole}", "--metrics", "psnr,ssim,edit_applied,honesty", "--out", "{out}"),
    "challenge": ("challenge", "new", "mine", "--suite", "smoke", "--out", "{out}"),
    "import table": ("import", "{rows}/table.csv", "--layout", "table", "--out", "{out}"),
    "import scores": ("import", "{published}", "--layout", "scores", "--dataset", "{dataset}"),
    "results": ("publish", "results", "{report}/leaderboard.json", "--dataset", "{dataset}", "--repo", "a/b",
                "--organization", "mine"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    shop = Workshop(tmp_path_factory.mktemp("shop") / "work")
    few = ("--no-audit", "--rounds", "2", "--out")
    say("generate", "--suite", "smoke", "--editor", "identity", *few, shop.root / "whole")
    additions = ("--suite", "additions", "--editor", "paint", "--limit", "1")
    say("generate", *additions, *few, shop.root / "added")
    say("build", shop.root / "added", "--out", shop.root / "additions")
    return shop


def error_of_the_disk():
    return mock.patch.object(files.os, "fsync", side_effect=OSError(errno.EIO, os.strerror(errno.EIO)))


@contextlib.contextmanager
def no_space(most=30):
    """No file may grow beyond so many bytes, for Arrow too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("fault", [error_of_the_disk, no_space], ids=["EIO", "full"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("build", "generate") else pytest.mark.slow) for name in WORDS],
)
def test_a_disk_fault_is_one_sentence_and_a_retry_succeeds(shop, name, fault, monkeypatch):
    monkeypatch.chdir(shop.scratch)  # where results are written
    places = {path.stem: shop.copy(path, path.name) if path.is_dir() else path
              for path in shop.root.iterdir() if path.name not in ("scratch", "doors", "cache")}  # fmt: skip
    try:
        words = [word.format(out=shop.scratch / "new", **places) for word in WORDS[name]]
        with fault():
            code, said = invoke(*words)
        assert (code in (1, 2), "Errno" in said) == (True, False), said
        assert any(cause in said for cause in files.CAUSES.values()), said
        assert not [*shop.scratch.rglob("*.part")]
        code, said = invoke(*words)
        assert code == 0, said
        for data in shop.scratch.glob("*/data"):
            Reader(data.parent).refuse_unfinished()
    finally:
        shop.clean()


def test_an_altered_run_is_never_built_as_if_it_were_whole(shop):
    found = set()
    for number in range(12):
        found.add(store(shop, Random(number)))
        shop.clean()
    assert found - {"the same"} == {"named"}
