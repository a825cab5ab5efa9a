"""The recall audit: what is disturbed, when, and that a reader can tell."""

import dataclasses

import numpy
import pytest
from convergebench.generation import editors, generate, marks, pictures, plan, recall_audit, store, suites
from convergebench.generation.call_limits import CallLimits
from convergebench.generation.calls import Caller
from convergebench.generation.loop import run_chain
from convergebench.generation.records import Chain, Program, Source, UserError
from PIL import Image, ImageOps
from skimage import data

SOURCE = Source("ball", "1" * 64, 64, 48, "object", "synthetic", "CC0-1.0", "nobody")


def chain(cycle=("add a ball", "remove the ball"), kind="object", closes=True, run=1, **settings):
    source = Source("ball", "1" * 64, 64, 48, kind, "synthetic", "CC0-1.0", "nobody")
    return Chain(source, Program("p", cycle, "scene objects", closes, "clear"), "cheat", settings, run, 3)


@pytest.mark.parametrize("salt", [b"", b"a long and secret salt"])
def test_a_tenth_of_the_chains_has_marks_planted_and_another_tenth_is_made_noisy(salt):
    kinds = [recall_audit.with_audit(chain(run=run), salt).settings.get("audit") for run in range(4000)]
    assert kinds.count("marks") == pytest.approx(400, abs=80)
    assert kinds.count("noise") == pytest.approx(400, abs=80)


def test_a_chain_of_one_call_draws_no_audit_and_one_that_had_drawn_it_is_not_paid_again(tmp_path):
    once = [dataclasses.replace(chain(run=run, cycle=("restore it",)), rounds=1) for run in range(200)]
    assert [recall_audit.with_audit(each) for each in once] == once
    before = dataclasses.replace(once[0], settings={**once[0].settings, "audit": "noise"})
    assert recall_audit.as_begun(once[0], tmp_path) == once[0]
    (tmp_path / "chains" / before.id).mkdir(parents=True)
    assert recall_audit.as_begun(once[0], tmp_path) == before


def test_an_audit_is_part_of_what_a_chain_is_and_is_drawn_the_same_again():
    plain = [chain(run=run) for run in range(100)]
    drawn = [recall_audit.with_audit(each) for each in plain]
    assert drawn == [recall_audit.with_audit(each) for each in plain]
    assert all((one.id == other.id) == ("audit" not in other.settings) for one, other in zip(plain, drawn, strict=True))


@pytest.mark.parametrize(
    "unfit",
    [
        {"cycle": ("flip horizontally", "flip horizontally")},
        {"cycle": ("make it night", "make it day")},
        {"cycle": ("add a ball",)},
        {"closes": False},
        {"kind": "text"},
    ],
)
def test_marks_are_planted_only_where_all_but_the_edit_stays_as_it_is(unfit):
    assert {recall_audit.with_audit(chain(run=run, **unfit)).settings.get("audit") for run in range(300)} <= {
        None,
        "noise",
    }


def nothing_earlier(number):
    raise AssertionError(f"picture {number} is not needed")


def test_a_salt_chooses_other_chains_and_shows_only_its_hash():
    plain = [chain(run=run) for run in range(300)]
    salted, other = ([recall_audit.with_audit(each, salt) for each in plain] for salt in (b"one" * 8, b"two" * 8))
    assert [one.settings.get("audit") for one in salted] != [one.settings.get("audit") for one in other]
    assert {one.settings["salt"] for one in salted} == {recall_audit.salt_hash(b"one" * 8)[:16]}
    assert all(one.id != two.id and one.seed(1) != two.seed(1) for one, two in zip(salted, plain, strict=True))


def test_a_salt_is_read_from_a_file_and_a_short_one_is_refused(tmp_path, monkeypatch):
    (tmp_path / "salt").write_bytes(b"0123456789abcdef\n")
    (tmp_path / "short").write_bytes(b"salt")
    assert recall_audit.read_salt() == b""
    assert recall_audit.read_salt(tmp_path / "salt") == b"0123456789abcdef"
    monkeypatch.setenv("CONVERGEBENCH_SALT_FILE", str(tmp_path / "salt"))
    assert recall_audit.read_salt() == b"0123456789abcdef"
    for name, problem in (("short", "4 bytes"), ("none", "cannot be read")):
        with pytest.raises(UserError, match=problem):
            recall_audit.read_salt(tmp_path / name)


def test_a_run_keeps_the_hash_of_its_salt_and_goes_on_with_no_other(tmp_path):
    (tmp_path / "salt").write_bytes(b"0123456789abcdef")
    words = {"suite": "smoke", "out": tmp_path / "run", "rounds": 1, "limit": 1, "quiet": True}
    generate("jpeg", salt_file=tmp_path / "salt", **words)
    kept = (tmp_path / "run" / "run.json").read_text()
    assert recall_audit.salt_hash(b"0123456789abcdef") in kept
    assert "0123456789abcdef" not in kept.replace(recall_audit.salt_hash(b"0123456789abcdef"), "")
    with pytest.raises(UserError, match="choose another folder"):
        generate("jpeg", **words)


def test_a_run_that_was_begun_with_mirrored_chains_keeps_them(tmp_path):
    marked = next(
        each for run in range(99) if (each := recall_audit.with_audit(chain(run=run))).settings.get("audit") == "marks"
    )
    assert recall_audit.as_begun(marked, tmp_path) == marked
    before = dataclasses.replace(marked, settings={"audit": "mirror"})
    (tmp_path / "chains" / before.id).mkdir(parents=True)
    assert recall_audit.as_begun(marked, tmp_path) == before


def test_the_picture_is_mirrored_before_each_undoing_call_and_the_reference_with_it():
    two, four = chain(audit="mirror"), chain(("a", "b", "undo b", "undo a"), audit="mirror")
    assert [recall_audit.is_mirrored(two, number) for number in range(1, 7)] == [False, True, True, False, False, True]
    assert [recall_audit.is_mirrored(four, number) for number in range(1, 9)] == [
        False,
        False,
        True,
        True,
        True,
        True,
        False,
        False,
    ]
    picture = Image.radial_gradient("L").crop((0, 0, 64, 48)).convert("RGB")
    assert recall_audit.audited_input(two, 1, picture, nothing_earlier) == (picture, {"mirrored": False})
    turned, note = recall_audit.audited_input(two, 2, picture, nothing_earlier)
    assert note == {"mirrored": True}
    assert numpy.array_equal(numpy.asarray(turned), numpy.asarray(picture)[:, ::-1])
    assert recall_audit.audited_input(two, 3, picture, nothing_earlier)[0] is picture


def test_noise_is_one_grey_level_and_the_same_after_a_crash():
    noisy = chain(audit="noise")
    picture = Image.new("RGB", (64, 48), (128, 0, 255))
    assert recall_audit.audited_input(noisy, 1, picture, nothing_earlier) == (picture, {"noised": False})
    once, again, later = (
        numpy.asarray(recall_audit.audited_input(noisy, number, picture, nothing_earlier)[0], dtype=int)
        for number in (2, 2, 3)
    )
    assert set(numpy.unique(once - numpy.asarray(picture, dtype=int))) == {-1, 0, 1}  # 0 only where 0 and 255 end
    assert numpy.array_equal(once, again)
    assert not numpy.array_equal(once, later)


def test_embedded_editors_are_left_alone_and_the_others_audited():
    suite = suites.load("demo")
    floors = plan.make_plan(suite, ["identity", "jpeg"], runs=10)
    assert not any("audit" in each.settings for each in floors.chains)
    remote = plan.make_plan(suite, ["bfl"], runs=10)
    assert {each.settings.get("audit") for each in remote.chains} == {None, "marks", "noise"}


def returns(folder, spec, audited):
    """Run one chain of an embedded editor and give its reference and its last picture of every round."""
    choice = editors.choose(spec)
    one = chain(audit=audited, **choice.settings) if audited else chain(**choice.settings)
    start = Image.effect_noise((64, 48), 60).convert("RGB")
    start.paste((250, 240, 60), (0, 0, 20, 48))
    start.paste((20, 60, 30), (50, 0, 64, 30))
    caller = Caller(CallLimits())
    run_chain(one, choice.editor, folder, lambda _: (start, None), caller.ask, lambda chain, step: None)
    kept = folder / "chains" / one.id
    steps = store.recover_steps(kept)
    last = [step for step in steps if step.position == 2]
    return start, [(step, pictures.decode((kept / step.file).read_bytes())) for step in last]


def distance(one, other):
    return float(numpy.abs(numpy.asarray(one, dtype=float) - numpy.asarray(other, dtype=float)).mean())


@pytest.mark.parametrize("by", ["hash", "likeness", "bits"])
def test_without_an_audit_an_editor_that_remembers_looks_perfect(tmp_path, by):
    start, rounds = returns(tmp_path, f"cheat:by={by}", None)
    assert [distance(picture, start) for _, picture in rounds] == [0, 0, 0]


@pytest.mark.parametrize("by", ["hash", "bits"])
@pytest.mark.parametrize("audited", ["noise", "mirror"])
def test_remembering_by_hash_or_hidden_bits_breaks_under_either_audit(tmp_path, by, audited):
    start, rounds = returns(tmp_path, f"cheat:by={by}", audited)
    goals = [ImageOps.mirror(start) if step.details["audit"].get("mirrored") else start for step, _ in rounds]
    assert distance(rounds[0][1], goals[0]) > 5


def test_remembering_by_likeness_survives_noise_and_is_caught_by_the_mirror(tmp_path):
    start, rounds = returns(tmp_path / "noise", "cheat:by=likeness", "noise")
    assert all(distance(picture, start) < 2 for _, picture in rounds)
    start, rounds = returns(tmp_path / "mirror", "cheat:by=likeness", "mirror")
    step, picture = rounds[0]
    assert step.details["audit"] == {"mirrored": True}
    assert distance(picture, start) < distance(picture, ImageOps.mirror(start))


@pytest.mark.parametrize("audited", ["noise", "mirror"])
def test_an_honest_editor_is_closer_to_the_reference_as_it_was_mirrored(tmp_path, audited):
    start, rounds = returns(tmp_path, "jpeg:quality=80", audited)
    for step, picture in rounds:
        turned = bool(step.details["audit"].get("mirrored"))
        goal, other = (ImageOps.mirror(start), start) if turned else (start, ImageOps.mirror(start))
        assert distance(picture, goal) < distance(picture, other) / 2


def marked_returns(folder, spec, number=1):
    """The picture with its marks and without, and the answer to the undo before which they were planted."""
    choice = editors.choose(spec)
    one = chain(audit="marks", audit_round=number, **choice.settings)
    start = Image.fromarray(numpy.asarray(data.astronaut())[:384, :512]).resize((256, 192))
    caller = Caller(CallLimits())
    run_chain(one, choice.editor, folder, lambda _: (start, None), caller.ask, lambda chain, step: None)
    kept = folder / "chains" / one.id
    steps = store.recover_steps(kept)
    notes = [step.step for step in steps if "audit" in step.details]
    step = steps[2 * number]
    assert notes == [step.step]
    pixels = [numpy.asarray(pictures.decode((kept / each.file).read_bytes())) for each in steps]
    marked, weight = marks.with_marks(pixels[step.step - 1], step.details["audit"]["marks"])
    return pixels[step.step - 1][weight > 0.9], marked[weight > 0.9], pixels[step.step][weight > 0.9]


@pytest.mark.parametrize("by", ["hash", "likeness", "bits"])
def test_what_remembers_loses_the_planted_marks(tmp_path, by):
    plain, marked, answer = marked_returns(tmp_path, f"cheat:by={by}")
    if by == "hash":  # it no longer knows the picture, and edits anew
        assert distance(answer, marked) < distance(answer, plain)
    else:
        assert distance(answer, plain) < distance(answer, marked) / 2


@pytest.mark.parametrize("number", [1, 2])
def test_an_honest_editor_keeps_the_planted_marks(tmp_path, number):
    plain, marked, answer = marked_returns(tmp_path, "jpeg:quality=80", number)
    assert len(plain)
    assert distance(answer, marked) < distance(answer, plain) / 3
