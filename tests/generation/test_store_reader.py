"""What the store says is believed only where its files agree."""

import dataclasses
import hashlib
import json
import shutil

import pytest
import stores
from convergebench.generation import store, store_reader
from convergebench.generation.pictures import decode, pixel_hash
from convergebench.generation.records import EditorInfo, UserError, canonical


@pytest.fixture
def run(tmp_path):
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
        (replaced("done.json", "reason", "rea3on"), "has another reason than the steps"),
        (
            replaced("chain.json", '"closes":true', '"closes":false'),
            "done.json has another chain than the chain.json",
        ),
    ],
)
def test_damage_is_one_sentence_that_names_the_file(run, damage, says):
    damage(folder_of(run))
    before = sorted(path for path in run.rglob("*"))
    with pytest.raises(UserError, match=says) as caught:
        read_all(run)
    assert "\n" not in str(caught.value)
    assert sorted(path for path in run.rglob("*")) == before


def test_a_painted_source_is_known_by_its_pixels(tmp_path):
    """Its PNG may come from any encoder."""
    made = stores.chain()
    digest = pixel_hash(decode(stores.source()[1]))
    painted = dataclasses.replace(made, source=dataclasses.replace(made.source, sha256=digest))
    stores.keep(tmp_path / "run", painted)
    (one,) = store_reader.find_finished([tmp_path / "run"]).done.values()
    assert store_reader.read_source(one)[0] == f"{digest}.png"


def test_equal_chains_of_two_runs_are_one_and_others_an_error(run, tmp_path):
    stores.keep(tmp_path / "same", stores.chain())
    (one,) = store_reader.find_finished([run, tmp_path / "same"]).done.values()
    assert one.cost == pytest.approx(0.16), "that of its steps"
    assert one.order == ("jpeg:quality=40", "source-1", "glasses", 1, one.id)
    stores.keep(tmp_path / "other", stores.chain(), salt=7)
    with pytest.raises(UserError, match=r"is in .* and in .* with different content"):
        store_reader.find_finished([run, tmp_path / "other"])


def test_editors_are_what_the_run_says_of_them(run):
    stores.keep(run, stores.chain(editor="oracle"))
    oracle = EditorInfo("oracle", "baseline", "It remembers.")
    store.open_run(run, {"short_side": 16, "suite": "test", "suite_version": "1"}, {"oracle": oracle})
    assert store_reader.find_finished([run]).editors == {"jpeg:quality=40": EditorInfo("jpeg"), "oracle": oracle}
    (run / "editors.json").unlink()
    with pytest.raises(store.Damaged, match=r"editors.json is missing"):
        store_reader.find_finished([run])


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
def test_steps_that_the_chain_did_not_ask_for_are_damage(run, changes, says):
    folder = folder_of(run)
    lines = (folder / "steps.jsonl").read_text().splitlines()
    lines[2] = canonical({**json.loads(lines[2]), **changes})
    data = "".join(line + "\n" for line in lines).encode()
    (folder / "steps.jsonl").write_bytes(data)
    done = json.loads((folder / "done.json").read_text())
    (folder / "done.json").write_text(json.dumps({**done, "sha256": hashlib.sha256(data).hexdigest()}))
    with pytest.raises(UserError, match=says):
        read_all(run)
    (folder / "done.json").unlink()
    with pytest.raises(UserError, match=says), store.ChainWriter.open(run, stores.chain()):
        pass


def test_an_unfinished_chain_with_another_description_stops(run):
    (folder_of(run) / "done.json").unlink()
    with store.ChainWriter.open(run, stores.chain()):
        pass
    replaced("chain.json", '"closes":true', '"closes":false')(folder_of(run))
    says = "chain.json is not the chain that is planned"
    with pytest.raises(UserError, match=says), store.ChainWriter.open(run, stores.chain()):
        pass
