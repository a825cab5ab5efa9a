"""The chain store: whole or absent, owned by one process, believed only where its files agree."""

import hashlib
import itertools
import json
import os
import shutil

import pytest
import stores
from convergebench.generation import pictures, store, store_reader
from convergebench.generation.files import Locked
from convergebench.generation.records import Chain, EditorInfo, Program, Source, Step, UserError, canonical
from counting import digest
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
            step = Step(number, number, 1, "Copy it.", "ok", 7)
            writer.append(step, pictures.encode_png(PICTURE), PICTURE.size)
    return run / "chains" / CHAIN.id


def test_a_line_cut_off_by_a_crash_is_dropped_with_its_picture(run):
    folder = fill(run)
    whole = (folder / "steps.jsonl").read_bytes()
    (folder / "steps.jsonl").write_bytes(whole[:-20])
    (folder / "notes.txt").write_text("mine")
    with store.ChainWriter.open(run, CHAIN) as writer:
        assert [step.step for step in writer.steps] == [0, 1]
        with pytest.raises(Locked, match="is being written by another process"):
            store.ChainWriter.open(run, CHAIN).__enter__()
    assert not (folder / "0002.png").exists()
    assert (folder / "notes.txt").read_text() == "mine", "the file of somebody else"
    assert (folder / "steps.jsonl").read_bytes() == whole[: whole[:-20].rfind(b"\n") + 1]


def test_damage_is_named_and_nothing_is_touched(run):
    folder = fill(run)
    whole = (folder / "steps.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    (folder / "steps.jsonl").write_bytes(lines[0] + b'{"step": "what"}\n' + lines[2])
    before = digest(folder)
    with pytest.raises(store.Damaged, match=r"steps\.jsonl, line 2, is not a step .* or delete the lines"):
        store.ChainWriter.open(run, CHAIN).__enter__()
    assert digest(folder) == before
    (folder / "steps.jsonl").write_bytes(whole)
    os.truncate(folder / "0001.png", 20)
    before = digest(folder)
    with pytest.raises(store.Damaged, match=r"0001\.png is missing or cut short; restore it"):
        store.ChainWriter.open(run, CHAIN).__enter__()
    assert digest(folder) == before


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


def test_a_folder_of_something_else_is_not_taken_for_this_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(UserError, match=r"holds 'thesis\.tex' but no run"):
        store.open_run(tmp_path, {"suite": "test"})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    store.open_run(tmp_path / "run", {"suite": "test"})
    for other in ({"suite": "another"}, {"suite": "test", "short_side": 64}):
        with pytest.raises(UserError, match="holds another run"):
            store.open_run(tmp_path / "run", other)


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


@pytest.fixture
def kept(tmp_path):
    stores.keep(tmp_path / "run", stores.chain())
    return tmp_path / "run"


def folder_of(run):
    return run / "chains" / stores.chain().id


def read_all(run):
    """Everything a build reads of the chains."""
    found = store_reader.find_finished([run])
    for one in found.done.values():
        store_reader.read_source(one)
        store_reader.read_reference(one)
        for step in store_reader.read_steps(one):
            store_reader.read_picture(one, step)
    return found


def replaced(name, before, after):
    """A damage that replaces text in a file of the chain's folder."""

    def damage(folder):
        (folder / name).write_text((folder / name).read_text().replace(before, after))

    return damage


def without(name, count, more=b""):
    """A damage that cuts bytes from the end of a file."""

    def damage(folder):
        (folder / name).write_bytes((folder / name).read_bytes()[:-count] + more)

    return damage


def lost_line(folder):
    path = folder / "steps.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def not_a_source(folder):
    for path in (folder.parent.parent / "sources").iterdir():
        path.write_bytes(b"not a picture")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (without("0002.png", 9), "0002.png has .* bytes but its record says .*; restore it"),
        (without("0002.png", 1, b"!"), "0002.png is not the picture its record names"),
        (lambda folder: (folder / "0002.png").unlink(), "0002.png is missing; restore it"),
        (without("steps.jsonl", 20), r"steps.jsonl, line 5, is not a step .*; restore the file"),
        (lost_line, "done.json has another steps than the steps"),
        (replaced("steps.jsonl", '"0003.png"', "null"), "line 4, is not a step .it is 'ok' but names no picture"),
        *(
            (
                replaced("steps.jsonl", '"0001.png"', f'"{name}"'),
                "line 2, is not a step .it names a file that is not",
            )
            for name in ("../../../0001.png", "0002.png", "x" * 5000, "..")
        ),
        (
            replaced("done.json", "complete", "nearly"),
            "has another status than the steps .'nearly', not 'complete'",
        ),
        (lambda folder: (folder / "steps.jsonl").unlink(), "steps.jsonl is missing"),
        (lambda folder: (folder / "chain.json").unlink(), "has no chain.json"),
        (lambda folder: (folder / "chain.json").write_text("[]"), "chain.json holds list instead of an object"),
        (lambda folder: (folder / "chain.json").write_text('{"editor": 1'), "chain.json is not JSON"),
        (lambda folder: folder.rename(folder.with_name("0" * 16)), "chain.json describes chain"),
        (lambda folder: shutil.rmtree(folder.parent.parent / "sources"), "sources lacks the file of source "),
        (not_a_source, "is not a readable picture"),
        (lambda folder: (folder.parent.parent / "run.json").unlink(), "holds no run.json; give the folder"),
        (lambda folder: (folder.parent.parent / "editors.json").unlink(), "editors.json is missing"),
        (replaced("done.json", "reason", "rea3on"), "has another reason than the steps"),
        (
            replaced("chain.json", '"closes":true', '"closes":false'),
            "done.json has another chain than the chain.json",
        ),
    ],
)
def test_damage_is_one_sentence_that_names_the_file(kept, damage, says):
    damage(folder_of(kept))
    before = sorted(path for path in kept.rglob("*"))
    with pytest.raises(UserError, match=says) as caught:
        read_all(kept)
    assert "\n" not in str(caught.value)
    assert sorted(path for path in kept.rglob("*")) == before


def test_equal_chains_of_two_runs_are_one_and_others_an_error(kept, tmp_path):
    stores.keep(tmp_path / "same", stores.chain())
    (one,) = store_reader.find_finished([kept, tmp_path / "same"]).done.values()
    assert one.cost == pytest.approx(0.16), "that of its steps"
    assert one.order == ("jpeg:quality=40", "source-1", "glasses", 1, one.id)
    stores.keep(tmp_path / "other", stores.chain(), salt=7)
    with pytest.raises(UserError, match=r"is in .* and in .* with different content"):
        store_reader.find_finished([kept, tmp_path / "other"])


OTHER = "line 3, is not a step .it is not what the chain asks for"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        *(
            ({name: value}, OTHER)
            for name, value in (("instruction", "add a hat"), ("round", 2), ("position", 1))
        ),
        ({"status": "refused"}, "line 4, is not a step .it comes after the chain's end"),
    ],
)
def test_steps_that_the_chain_did_not_ask_for_are_damage(kept, changes, says):
    folder = folder_of(kept)
    lines = (folder / "steps.jsonl").read_text().splitlines()
    lines[2] = canonical({**json.loads(lines[2]), **changes})
    data = "".join(line + "\n" for line in lines).encode()
    (folder / "steps.jsonl").write_bytes(data)
    done = json.loads((folder / "done.json").read_text())
    (folder / "done.json").write_text(json.dumps({**done, "sha256": hashlib.sha256(data).hexdigest()}))
    with pytest.raises(UserError, match=says):
        read_all(kept)
    (folder / "done.json").unlink()
    with pytest.raises(UserError, match=says), store.ChainWriter.open(kept, stores.chain()):
        pass


def test_an_unfinished_chain_with_another_description_stops(kept):
    (folder_of(kept) / "done.json").unlink()
    with store.ChainWriter.open(kept, stores.chain()):
        pass
    replaced("chain.json", '"closes":true', '"closes":false')(folder_of(kept))
    says = "chain.json is not the chain that is planned"
    with pytest.raises(UserError, match=says), store.ChainWriter.open(kept, stores.chain()):
        pass
