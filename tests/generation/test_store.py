"""The chain store: whole or absent, owned by one process, and plain about what is wrong."""

import errno
import itertools
import json
import multiprocessing
import os

import pytest
from convergebench.generation import pictures, store
from convergebench.generation.files import Locked
from convergebench.generation.records import Chain, EditorInfo, Program, Source, Step, UserError
from PIL import Image

SOURCE = Source("dot", "0" * 64, 8, 8, "object", "synthetic", "CC0-1.0", "painted")
PROGRAM = Program("copy", ("Copy it.",), "replicate", True, "exact")
CHAIN = Chain(SOURCE, PROGRAM, "identity", {"seed": "per-step", "short_side": 8}, 1, 3)
PICTURE = Image.new("RGB", (8, 8), "teal")


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    store.open_run(folder, {"suite": "test"})
    return folder


def fill(run, steps=2):
    with store.ChainWriter.open(run, CHAIN) as writer:
        writer.begin(PICTURE)
        for number in range(1, steps + 1):
            writer.append(
                Step(number, number, 1, "Copy it.", "ok", 7), pictures.encode_png(PICTURE), PICTURE.size
            )
    return run / "chains" / CHAIN.id


def test_a_line_cut_off_by_a_crash_is_dropped_with_its_picture(run):
    folder = fill(run)
    whole = (folder / "steps.jsonl").read_bytes()
    (folder / "steps.jsonl").write_bytes(whole[:-20])
    (folder / "notes.txt").write_text("mine")
    with store.ChainWriter.open(run, CHAIN) as writer:
        assert [step.step for step in writer.steps] == [0, 1]
    assert not (folder / "0002.png").exists()
    assert (folder / "notes.txt").read_text() == "mine", "the file of somebody else"
    assert (folder / "steps.jsonl").read_bytes() == whole[: whole[:-20].rfind(b"\n") + 1]


def corrupt_a_line(folder):
    lines = (folder / "steps.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "steps.jsonl").write_bytes(lines[0] + b'{"step": "what"}\n' + lines[2])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (corrupt_a_line, r"steps\.jsonl, line 2, is not a step .* or delete the lines"),
        (lambda folder: os.truncate(folder / "0001.png", 20), r"0001\.png is missing or cut short; restore it"),
    ],
)
def test_damage_is_named_and_nothing_is_touched(run, damage, says):
    folder = fill(run)
    damage(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(store.Damaged, match=says):
        store.ChainWriter.open(run, CHAIN).__enter__()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_picture_changed_in_place_is_not_edited_further(run):
    folder = fill(run)
    data = bytearray((folder / "0002.png").read_bytes())
    data[-5] ^= 1
    (folder / "0002.png").write_bytes(data)
    with (
        store.ChainWriter.open(run, CHAIN) as writer,
        pytest.raises(store.Damaged, match="is not the picture its record names"),
    ):
        writer.picture(-1)


def test_a_folder_with_other_things_in_it_is_not_taken_for_a_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(UserError, match=r"holds 'thesis\.tex' but no run"):
        store.open_run(tmp_path, {"suite": "test"})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_killed_while_its_folder_was_made_is_begun_again(tmp_path, monkeypatch):
    def die(*args):
        raise KeyboardInterrupt

    for moment in ("pathlib.Path.replace", "pathlib.Path.open"):
        folder = tmp_path / moment
        with monkeypatch.context() as patch:
            patch.setattr(moment, die)
            with pytest.raises(KeyboardInterrupt):
                store.open_run(folder, {"suite": "test"})
        store.open_run(folder, {"suite": "test"})
        assert sorted(path.name for path in folder.iterdir()) == ["chains", "editors.json", "run.json", "sources"]


def test_a_run_of_another_suite_is_refused(run):
    for other in ({"suite": "another"}, {"suite": "test", "short_side": 64}):
        with pytest.raises(UserError, match="holds another run"):
            store.open_run(run, other)


def test_a_chain_is_owned_by_one_living_process(run):
    context = multiprocessing.get_context("fork")
    ready = context.Event()

    def hold():
        with store.ChainWriter.open(run, CHAIN):
            ready.set()
            multiprocessing.Event().wait()

    owner = context.Process(target=hold)
    owner.start()
    assert ready.wait(60)
    with pytest.raises(Locked, match="is being written by another process"):
        store.ChainWriter.open(run, CHAIN).__enter__()
    owner.kill()
    owner.join()
    with store.ChainWriter.open(run, CHAIN) as writer:
        assert writer.steps == []


def test_a_full_disk_is_one_sentence_and_the_run_goes_on_later(run, monkeypatch):
    fill(run, steps=1)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    def step_onto_the_full_disk(patch):
        with store.ChainWriter.open(run, CHAIN) as writer:
            patch.setattr(os, "fsync", full)
            writer.append(Step(2, 2, 1, "Copy it.", "ok", 7), pictures.encode_png(PICTURE), PICTURE.size)

    with monkeypatch.context() as patch, pytest.raises(UserError, match="disk is full; free some space and give"):
        step_onto_the_full_disk(patch)
    with store.ChainWriter.open(run, CHAIN) as writer:
        assert len(writer.steps) in (2, 3)
        assert writer.picture(-1).size == (8, 8)


def test_a_draft_becomes_a_finished_chain_once(run):
    for new in (True, False):
        with store.ChainWriter.draft(run) as writer:
            writer.append(Step(0, 0, 0, "", "input"), pictures.encode_png(PICTURE), PICTURE.size)
            assert writer.finish_draft(CHAIN) is new
    with store.ChainWriter.draft(run) as writer:
        writer.append(Step(0, 0, 0, "", "input"), pictures.encode_png(PICTURE), PICTURE.size)
    assert [path.name for path in (run / "chains").iterdir()] == [CHAIN.id]
    assert store.is_done(run, CHAIN.id)


def test_a_changed_digit_of_run_json_is_damage(tmp_path):
    about = {"suite": "smoke", "suite_version": "1", "short_side": 64}
    store.open_run(tmp_path / "run", about)
    path = tmp_path / "run" / "run.json"
    whole, bare = path.read_text(), {"format": 1, **about}
    assert store.read_checked(path) == bare
    for changed in (whole.replace('"1"', '"7"'), whole.replace("#check", "#chEck"), json.dumps(bare)):
        path.write_text(changed)
        with pytest.raises(store.Damaged, match=r"run.json is damaged; restore it"):
            store.open_run(tmp_path / "run", about)


def test_a_valid_file_in_anothers_place_is_damage(run):
    store.open_run(run, {"suite": "test"}, {"identity": EditorInfo("identity")}, [CHAIN])
    whole = {name: (run / name).read_bytes() for name in ("run.json", "plan.json", "editors.json")}
    for name, other in itertools.permutations(whole, 2):
        (run / name).write_bytes(whole[other])
        with pytest.raises(store.Damaged, match=f"{name} is damaged"):
            store.read_checked(run / name)
        (run / name).write_bytes(whole[name])
        assert store.read_checked(run / name)


def test_a_damaged_plan_is_refused_and_stays(run):
    store.open_run(run, {"suite": "test"}, {}, [CHAIN])
    path = run / "plan.json"
    whole = path.read_bytes()
    for text in ("{", "[]", '{"hosts": [], "chains": {}}', ""):
        path.write_text(text)
        with pytest.raises(store.Damaged, match="is damaged; restore it, or remove it and give"):
            store.open_run(run, {"suite": "test"}, {}, [CHAIN])
        assert path.read_text() == text
    path.unlink()
    store.open_run(run, {"suite": "test"}, {}, [CHAIN])
    assert path.read_bytes() == whole
    path.write_bytes(b"[" * 100_000)
    with pytest.raises(store.Damaged, match="is not JSON"):
        store.read_json(path)
