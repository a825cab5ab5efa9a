"""Scenes of the study of exact edits: every instruction has one right answer, and the pixels are the same anywhere."""

import json
from pathlib import Path

import numpy as np
import pytest
from convergebench.generation.pictures import pixel_hash
from convergebench.generation.studies.exact.drawing import draw_scene, thing_mask
from convergebench.generation.studies.exact.operations import OPERATIONS, all_edits, make_edit
from convergebench.generation.studies.exact.scenes import Ambiguous, Reference, make_scene, matching, resolve

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
