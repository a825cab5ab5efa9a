"""Exact edits of drawn scenes, each with one right answer; and a simulated user who corrects until they fit."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from convergebench.generation import editors
from convergebench.generation.calls import Caller
from convergebench.generation.loop import run_chain
from convergebench.generation.pictures import pixel_hash
from convergebench.generation.records import Chain, Source
from convergebench.generation.store import open_run
from convergebench.generation.studies.exact import drawn_suites, steering
from convergebench.generation.studies.exact.drawing import draw_scene, thing_mask
from convergebench.generation.studies.exact.operations import OPERATIONS, all_edits, make_edit
from convergebench.generation.studies.exact.scenes import Ambiguous, Reference, make_scene, matching, resolve
from convergebench.metric_modules.steering import measure
from PIL import Image

GOLDEN = Path(__file__).with_name("scenes.json")


def check_scene(scene):
    """Its instructions differ, each names one thing for each that it means, and the way back leads home."""
    edits = all_edits(scene).values()
    for edit in edits:
        state = scene
        for asked in (edit.forward, edit.backward):
            assert all(len(matching(state, target)) == 1 for target in asked.targets), str(asked)
            state = asked.run(state)
        assert state == scene != edit.after
    assert len({str(edit.forward) for edit in edits}) == len(edits)


@pytest.mark.parametrize("count", [18, pytest.param(1000, marks=pytest.mark.slow)])
def test_instructions_lead_there_and_back(count):
    for seed in range(count):
        check_scene(make_scene(seed, seed % 36))


def test_things_neither_touch_nor_leave_the_picture():
    for edit in [edit for index in range(9) for edit in all_edits(make_scene(3, index)).values()]:
        masks = [thing_mask(thing, 100) for thing in edit.after.things]
        assert np.sum(masks, axis=0).max() == 1, edit.forward
        for thing in edit.after.things:
            assert 0 <= thing.x - thing.size // 2 < thing.x + thing.size // 2 <= 1000


def test_a_description_of_two_things_is_refused():
    scene = make_scene(1, 2)
    twin = next(thing for thing in scene.singles if scene.singles.count(thing) == 1
                and sum((o.kind, o.colour) == (thing.kind, thing.colour) for o in scene.singles) == 2)  # fmt: skip
    with pytest.raises(Ambiguous):
        resolve(scene, Reference(twin.kind, twin.looks))


def test_fifty_scenes_and_instructions_are_as_ever():
    """Also the truth of one operation each, in turn."""
    found = []
    for index in range(50):
        edit = make_edit(make_scene(index, index % 12), list(OPERATIONS)[index % 20])
        hashes = [pixel_hash(draw_scene(scene, 256))[:16] for scene in (edit.before, edit.after)]
        found.append([*hashes, str(edit.forward), str(edit.backward)])
    assert found == json.loads(GOLDEN.read_text())


SIDE = 256
KINDS = {0: "move", 3: "scale", 6: "recolour", 9: "change-word"}
GOALS = [make_edit(make_scene(1, index), kind) for index, kind in KINDS.items()]
NAMES = [goal.name for goal in GOALS]


def chain_of(goal, editor="x"):
    source = Source(goal.before.id, "0", SIDE, SIDE, "scene", "synthetic", "", "")
    return Chain(source, drawn_suites.steering_program(goal), editor, {}, 1, drawn_suites.MOST)


def steer(folder, goal, editor):
    """The lines of the chain's steps after the input."""
    chain, start = chain_of(goal), draw_scene(goal.before, SIDE)
    if not (folder / "run.json").exists():
        open_run(folder, {"suite": "steer"})
    run_chain(chain, editor, folder, lambda _: (start, None), Caller().ask, lambda chain, step: None)
    lines = (folder / "chains" / chain.id / "steps.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[1:]]


def scores(folder, goal, steps):
    chain = chain_of(goal)
    files = ["0000.png", *(step["file"] for step in steps)]
    pictures = [np.asarray(Image.open(folder / "chains" / chain.id / file).convert("RGB")) for file in files]
    facts = {"program": chain.program.id}
    return [measure.judge(facts, 1, pictures[place : place + 2], None) for place in range(len(steps))]


@pytest.mark.parametrize("goal", GOALS, ids=NAMES)
def test_who_does_as_told_arrives_after_one_correction(tmp_path, goal):
    [step] = steps = steer(tmp_path, goal, editors.choose("steerable").editor)
    assert step["status"] == "ok"
    [score] = scores(tmp_path, goal, steps)
    assert score["steer_arrived"] is True
    assert score["steer_distance"] <= 1 < score["steer_before"]
    assert score["steer_damage"] <= steering.DAMAGE


@pytest.mark.parametrize("share", [0.5, 1.3])
@pytest.mark.parametrize("goal", GOALS[:2], ids=NAMES[:2])
def test_the_factor_of_a_correction_is_what_was_put_in(tmp_path, goal, share):
    steps = steer(tmp_path, goal, editors.choose(f"steerable:share={share}").editor)
    assert 1 < len(steps) < drawn_suites.MOST
    factors = [score["steer_distance"] / score["steer_before"] for score in scores(tmp_path, goal, steps)]
    assert np.median(factors) == pytest.approx(abs(1 - share), rel=0.1, abs=0.03)


def test_a_user_who_was_overtaken_asks_for_less_the_other_way(tmp_path):
    editor = editors.choose("steerable:share=1.3").editor
    move, colour = (steer(tmp_path / goal.name, goal, editor) for goal in (GOALS[0], GOALS[2]))
    sides = ["left" if " left" in step["instruction"] else "right" for step in move]
    assert sides[0] != sides[1] != sides[2]
    assert len(colour) == 1 or "but less than before" in colour[1]["instruction"]


@pytest.mark.parametrize("spec", ["identity", "steerable:meddles=true"])
def test_who_does_nothing_or_too_much_never_arrives(tmp_path, spec):
    steps = steer(tmp_path, GOALS[0], editors.choose(spec).editor)
    assert len(steps) == drawn_suites.MOST
    assert not any(score["steer_arrived"] for score in scores(tmp_path, GOALS[0], steps))


def test_a_killed_dialogue_goes_on_with_the_same_words(tmp_path):
    goal, editor = GOALS[0], editors.choose("steerable:share=0.5").editor
    whole = steer(tmp_path, goal, editor)
    chain = tmp_path / "chains" / chain_of(goal).id
    log = (chain / "steps.jsonl").read_bytes().splitlines(keepends=True)
    for stored in (1, 2):  # answers when it was killed
        (chain / "done.json").unlink(missing_ok=True)
        (chain / "steps.jsonl").write_bytes(b"".join(log[: 1 + stored]))
        for step in whole[stored:]:
            (chain / step["file"]).unlink()
        assert steer(tmp_path, goal, editor) == whole


def test_a_thing_that_is_gone_is_asked_for_again():
    goal = GOALS[0]
    [thing] = [thing for thing in goal.before.things if thing not in goal.after.things]
    seen = steering.look(goal, np.asarray(draw_scene(goal.before.without(thing), SIDE)))
    assert not seen.is_there
    assert not steering.is_satisfied(goal, seen)
    assert "gone" in steering._correction(goal, seen)


@pytest.mark.parametrize("goal", GOALS[:3], ids=NAMES[:3])
def test_the_eye_measures_what_was_drawn_despite_wear(goal):
    """The renderer's truth calibrates the eye; JPEG halves the resolution of colours."""
    for scene in (goal.before, goal.after):
        [thing] = {*scene.things} - ({*goal.before.things} & {*goal.after.things})
        worn = io.BytesIO()
        draw_scene(scene, SIDE).save(worn, "JPEG", quality=75)
        seen = steering.look(goal, np.asarray(Image.open(worn)))
        clean = steering.look(goal, np.asarray(draw_scene(scene, SIDE)))
        assert (seen.x, seen.y) == pytest.approx((clean.x, clean.y), abs=5)
        assert seen.width == pytest.approx(clean.width, rel=0.04)
        assert np.linalg.norm(np.subtract(seen.colour, clean.colour)) < 10
        assert abs(clean.x - thing.x) < 40
        assert abs(clean.y - thing.y) < 40
