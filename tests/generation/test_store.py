"""The chain store: whole or absent, owned by one process, believed only where its files agree."""

import hashlib
import json
import shutil

import pytest
import stores
from convergebench.generation import store, store_reader
from convergebench.generation.files import Locked
from convergebench.generation.records import EditorInfo, UserError, canonical
from counting import digest

RUN = {"short_side": 16, "suite": "test", "suite_version": "1"}  # as stores.keep says it


@pytest.fixture
def run(tmp_path):
    """A run of one finished chain of five steps."""
    stores.keep(tmp_path / "run", stores.chain())
    return tmp_path / "run"


def folder_of(run):
    return run / "chains" / stores.chain().id


def unfinished(run):
    (folder_of(run) / "done.json").unlink()
    return folder_of(run)


def opened(run):
    return store.ChainWriter.open(run, stores.chain())


def test_a_line_cut_off_by_a_crash_is_dropped_with_its_picture(run):
    folder = unfinished(run)
    whole = (folder / "steps.jsonl").read_bytes()
    (folder / "steps.jsonl").write_bytes(whole[:-20])
    (folder / "notes.txt").write_text("mine")
    with opened(run) as writer:
        assert [step.step for step in writer.steps] == [0, 1, 2, 3]
        with pytest.raises(Locked, match="is being written by another process"):
            opened(run).__enter__()
    assert not (folder / "0004.png").exists()
    assert (folder / "notes.txt").read_text() == "mine", "the file of somebody else"
    assert (folder / "steps.jsonl").read_bytes() == whole[: whole[:-20].rfind(b"\n") + 1]


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


def test_a_changed_file_of_a_run_and_one_in_anothers_place_are_damage(run):
    store.open_run(run, RUN, {"identity": EditorInfo("identity")}, [stores.chain()])
    whole = {name: (run / name).read_text() for name in ("run.json", "plan.json", "editors.json")}
    for name, text in whole.items():
        bare = store.read_checked(run / name)
        others = [other for other in whole.values() if other != text]
        others += [text.replace("o", "0", 1), text.replace("#check", "#chEck"), json.dumps(bare), "{", "[]", ""]
        advice = "restore it, or remove it and give" if name == "plan.json" else "restore it"
        for changed in others:
            (run / name).write_text(changed)
            with pytest.raises(store.Damaged, match=f"{name} .*; {advice}"):
                store.open_run(run, RUN, {}, [stores.chain()])
            assert (run / name).read_text() == changed
        (run / name).write_text(text)
    assert store.read_checked(run / "run.json") == {"format": 1, **RUN}
    (run / "plan.json").unlink()
    store.open_run(run, RUN, {}, [stores.chain()])
    assert (run / "plan.json").read_text() == whole["plan.json"]
    (run / "plan.json").write_bytes(b"[" * 100_000)
    with pytest.raises(store.Damaged, match="is not JSON"):
        store.read_json(run / "plan.json")


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


def missing(name, of="."):
    """A damage that removes a file of the chain's folder or of its run."""
    return lambda folder: (folder / of / name).unlink()


def asked(**changes):
    """Another second step, for which done.json was written."""

    def damage(folder):
        lines = (folder / "steps.jsonl").read_text().splitlines()
        lines[2] = canonical({**json.loads(lines[2]), **changes})
        data = "".join(line + "\n" for line in lines).encode()
        (folder / "steps.jsonl").write_bytes(data)
        done = json.loads((folder / "done.json").read_text())
        (folder / "done.json").write_text(json.dumps({**done, "sha256": hashlib.sha256(data).hexdigest()}))

    return damage


def lost_line(folder):
    path = folder / "steps.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def not_a_source(folder):
    for path in (folder.parent.parent / "sources").iterdir():
        path.write_bytes(b"not a picture")


CUT_SHORT = r"0002\.png is missing or cut short; restore it"
OTHER_NAME = "line 2, is not a step .it names a file that is not"
OTHER = "line 3, is not a step .it is not what the chain asks for"
BEYOND = "line 4, is not a step .it comes after the chain's end"


@pytest.mark.parametrize(
    ("damage", "says", "resumed"),
    [
        (without("0002.png", 9), "0002.png has .* bytes but its record says .*; restore it", CUT_SHORT),
        (without("0002.png", 1, b"!"), *["0002.png is not the picture its record names"] * 2),
        (missing("0002.png"), "0002.png is missing; restore it", CUT_SHORT),
        (without("steps.jsonl", 20), r"steps.jsonl, line 5, is not a step .*; restore the file", ""),
        (replaced("steps.jsonl", '"step":1', '"step":"what"'), *["line 2, .* or delete the lines"] * 2),
        (lost_line, "done.json has another steps than the steps", ""),
        (replaced("steps.jsonl", '"0003.png"', "null"), *["line 4, .*'ok' but names no picture"] * 2),
        *(
            (replaced("steps.jsonl", '"0001.png"', f'"{name}"'), OTHER_NAME, OTHER_NAME)
            for name in ("../../../0001.png", "0002.png", "x" * 5000, "..")
        ),
        (replaced("done.json", "complete", "nearly"), "another status .* .'nearly', not 'complete'", ""),
        (missing("steps.jsonl"), "steps.jsonl is missing", "ends after step -1, but 0001.png exists"),
        (missing("chain.json"), "has no chain.json", ""),
        (lambda folder: (folder / "chain.json").write_text("[]"), *["chain.json holds list instead"] * 2),
        (lambda folder: (folder / "chain.json").write_text('{"e": 1'), *["chain.json is not JSON"] * 2),
        (lambda folder: folder.rename(folder.with_name("0" * 16)), "chain.json describes chain", ""),
        (lambda folder: shutil.rmtree(folder.parent.parent / "sources"), "lacks the file of source ", ""),
        (not_a_source, "is not a readable picture", ""),
        (missing("run.json", "../.."), "holds no run.json; give the folder", ""),
        (missing("editors.json", "../.."), "editors.json is missing", ""),
        (replaced("done.json", "reason", "rea3on"), "has another reason than the steps", ""),
        (
            replaced("chain.json", '"closes":true', '"closes":false'),
            "done.json has another chain than the chain.json",
            "chain.json is not the chain that is planned",
        ),
        (asked(instruction="add a hat"), OTHER, OTHER),
        (asked(round=2), OTHER, OTHER),
        (asked(position=1), OTHER, OTHER),
        (asked(status="refused"), BEYOND, BEYOND),
    ],
)
def test_damage_is_one_sentence_that_names_the_file(run, damage, says, resumed):
    """Neither who reads a finished chain nor who goes on with an unfinished one touches it."""
    damage(folder_of(run))
    before = digest(run)
    with pytest.raises(UserError, match=says) as caught:
        read_all(run)
    assert "\n" not in str(caught.value)
    assert digest(run) == before
    if resumed:
        before = digest(unfinished(run))
        with pytest.raises(store.Damaged, match=resumed), opened(run) as writer:
            writer.picture(2)
        assert digest(folder_of(run)) == before


def test_equal_chains_of_two_runs_are_one_and_others_an_error(run, tmp_path):
    stores.keep(tmp_path / "same", stores.chain())
    (one,) = store_reader.find_finished([run, tmp_path / "same"]).done.values()
    assert one.cost == pytest.approx(0.16), "that of its steps"
    assert one.order == ("jpeg:quality=40", "source-1", "glasses", 1, one.id)
    stores.keep(tmp_path / "other", stores.chain(), salt=7)
    with pytest.raises(UserError, match=r"is in .* and in .* with different content"):
        store_reader.find_finished([run, tmp_path / "other"])
