"""The recall audit: what is disturbed, when, and that a reader can tell."""

import cheat
import numpy
import pytest
from convergebench.generation import audits, editors, generate, pictures, plan, store, suites
from convergebench.generation.calls import Caller
from convergebench.generation.loop import run_chain
from convergebench.generation.records import Chain, Program, Source, UserError
from convergebench.generation.studies.honesty import marks
from PIL import Image
from skimage import data


def chain(cycle=("add a ball", "remove the ball"), kind="object", closes=True, run=1, **settings):
    source = Source("ball", "1" * 64, 64, 48, kind, "synthetic", "CC0-1.0", "nobody")
    return Chain(source, Program("p", cycle, "scene objects", closes, "clear"), "cheat", settings, run, 3)


def test_a_tenth_of_chains_is_marked():
    for salt in (b"", b"a long and secret salt"):
        kinds = [audits.with_audit(chain(run=run), salt).settings.get("audit") for run in range(2000)]
        assert kinds.count("marks") == pytest.approx(200, abs=50)
        assert set(kinds) == {None, "marks"}
    for editor, audited in (("jpeg", {None}), ("bfl", {None, "marks"})):  # an embedded editor is left alone
        chains = plan.make_plan(suites.load("demo"), [editor], runs=10).chains
        assert {planned.settings.get("audit") for planned in chains} == audited


def test_audit_and_salt_are_part_of_a_chains_identity():
    plain = [chain(run=run) for run in range(300)]
    drawn = [audits.with_audit(planned) for planned in plain]
    assert drawn == [audits.with_audit(planned) for planned in plain]
    for one, other in zip(plain, drawn, strict=True):
        assert (one.id == other.id) == ("audit" not in other.settings)
    salted, other = ([audits.with_audit(planned, salt) for planned in plain] for salt in (b"one" * 8, b"two" * 8))
    assert [one.settings.get("audit") for one in salted] != [one.settings.get("audit") for one in other]
    assert {one.settings["salt"] for one in salted} == {audits.salt_hash(b"one" * 8)[:16]}
    assert all(one.id != two.id and one.seed(1) != two.seed(1) for one, two in zip(salted, plain, strict=True))


def test_marks_are_planted_only_if_all_but_the_edit_stays():
    cycles = (("flip horizontally", "flip horizontally"), ("make it night", "make it day"), ("add a ball",))
    for unfit in (*({"cycle": cycle} for cycle in cycles), {"closes": False}, {"kind": "text"}):
        assert {audits.with_audit(chain(run=run, **unfit)).settings.get("audit") for run in range(300)} == {None}


def test_a_salt_is_read_from_a_file_and_its_hash_is_kept_in_the_run(tmp_path, monkeypatch):
    salt, words = b"0123456789abcdef", {"suite": "smoke", "out": tmp_path / "run", "rounds": 1, "limit": 1}
    (tmp_path / "salt").write_bytes(salt + b"\n")
    (tmp_path / "short").write_bytes(b"salt")
    assert audits.read_salt() == b""
    assert audits.read_salt(tmp_path / "salt") == salt
    for name, problem in (("short", "got 4"), ("none", "cannot be read")):
        with pytest.raises(UserError, match=problem):
            audits.read_salt(tmp_path / name)
    generate("jpeg", salt_file=tmp_path / "salt", quiet=True, **words)
    kept = (tmp_path / "run" / "run.json").read_text()
    assert audits.salt_hash(salt) in kept
    assert salt.decode() not in kept.replace(audits.salt_hash(salt), "")
    with pytest.raises(UserError, match="choose another folder"):
        generate("jpeg", quiet=True, **words)
    monkeypatch.setenv("CONVERGEBENCH_SALT_FILE", str(tmp_path / "salt"))
    assert audits.read_salt() == salt


def distance(one, other):
    return float(numpy.abs(numpy.asarray(one, dtype=float) - numpy.asarray(other, dtype=float)).mean())


def marked_returns(folder, choice, number=1):
    """The picture with its marks and without, and the answer to the undo before which they were planted."""
    one = chain(audit="marks", audit_round=number, **choice.settings)
    start = Image.fromarray(numpy.asarray(data.astronaut())[:384, :512]).resize((256, 192))
    run_chain(one, choice.editor, folder, lambda _: (start, None), Caller().ask, lambda chain, step: None)
    kept = folder / "chains" / one.id
    steps = store.recover_steps(kept)
    step = steps[2 * number]
    assert [other.step for other in steps if "audit" in other.details] == [step.step]
    pixels = [numpy.asarray(pictures.decode((kept / step.file).read_bytes())) for step in steps]
    marked, weight = marks.with_marks(pixels[step.step - 1], step.details["audit"]["marks"])
    return pixels[step.step - 1][weight > 0.9], marked[weight > 0.9], pixels[step.step][weight > 0.9]


@pytest.mark.parametrize("by", ["hash", "likeness"])
def test_an_editor_that_remembers_loses_the_planted_marks(tmp_path, by):
    plain, marked, answer = marked_returns(tmp_path, cheat.choice(by))
    if by == "hash":  # it no longer knows the picture, and edits anew
        assert distance(answer, marked) < distance(answer, plain)
    else:
        assert distance(answer, plain) < distance(answer, marked) / 2


@pytest.mark.parametrize("number", [1, 2])
def test_an_honest_editor_keeps_the_planted_marks(tmp_path, number):
    plain, marked, answer = marked_returns(tmp_path, editors.choose("jpeg:quality=80"), number)
    assert len(plain)
    assert distance(answer, marked) < distance(answer, plain) / 3
