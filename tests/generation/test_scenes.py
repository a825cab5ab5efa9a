"""Scenes of the study of exact edits: every instruction has one right answer, and the pixels are the same anywhere."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from convergebench.generation.pictures import pixel_hash
from convergebench.generation.studies.exact.drawing import draw_scene, thing_mask
from convergebench.generation.studies.exact.operations import GROUPS, OPERATIONS, Command, all_edits, make_edit
from convergebench.generation.studies.exact.scenes import Ambiguous, Reference, make_scene, matching, resolve

GOLDEN = Path(__file__).with_name("scenes.json")
FACTORS = {"one and a half times": (3, 2), "two thirds of": (2, 3)}
PLACE = r"with its centre ([\d.]+)% of the width from the left edge and ([\d.]+)% from the top edge\."
# The words of every verb; a group is a description, a whole number, thousandths (as a share of 100), or a word.
SENTENCES = {
    "rotate": r"Rotate (the .*) by (\d+) degrees (\w+) about its centre\.",
    "mirror": r"Mirror (the .*) left to right, where it stands\.",
    "scale": r"(?:Enlarge|Shrink) (the .*) to (.*? (?:times|of)) its size, keeping its centre in place\.",
    "move": r"Move (the .*) (to the left|to the right|up|down) by ([\d.]+)% of the picture's width\.",
    "copy": r"Add a copy of (the .*), " + PLACE,
    "extend": r"Add a (fourth) (\w+) at the right end of the bottom row, exactly like the last one .*",
    "add": r"Add an? (\w+) (\w+), upright and ([\d.]+)% of the picture wide, " + PLACE,
    "uncross": r"Remove the black X from (the .*)\.",
    "remove": r"Remove (the .*)\.",
    "swap": r"Let (the .*) and (the .*) change places\.",
    "swap colours": r"Let (the .*) and (the .*) swap their colours, keeping their shapes and places\.",
    "arrange": r"Arrange the (\w+) (fish(?=es)|\w+)(?:es|s) in the bottom row in this order from left to right: (.*)\.",
    "sort": r"Sort the (\w+) (fish(?=es)|\w+)(?:es|s) in the bottom row by size, with the smallest at the left\.",
    "recolour": r"Change the colour of (the .*) to (\w+)\.",
    "lighten": r"Make (the .*) lighter, halfway from its colour to white\.",
    "grey": r"Turn (the .*) grey, exactly as bright as it is\.",
    "write": r"Write the (?:word|number) (\w+) on (the .*)\.",
    "rewrite": r"Change what is written on (the .*) to (\w+)\.",
    "erase": r"Erase what is written on (the .*), and leave the card empty\.",
    "cross out": r"Cross out (the .*) with a black X over its whole width and height\.",
}


def reference(words):
    """The description behind words such as `the red square left of the card with the word LAMP`."""
    if corner := re.fullmatch(r"(.*) nearest to the (\w+ \w+) corner", words):
        return replace(reference(corner[1]), corner=corner[2])
    if beside := re.fullmatch(r"(.*?) (left of|right of|above|below) (the .*)", words):
        return replace(reference(beside[1]), side=beside[2], other=reference(beside[3]))
    if card := re.fullmatch(r"the (?:empty card|card with the (?:word|number) (\w+))", words):
        return Reference("card", card[1] or "")
    looks, kind = re.fullmatch(r"the (.*) (\w+)", words).groups()
    return Reference(kind, looks)


def thousandths(percent):
    return round(float(percent) * 10)


def command(sentence):
    """What a sentence asks for, from its words alone."""
    verb, found = next((v, m) for v, form in SENTENCES.items() if (m := re.fullmatch(form, sentence)))
    words = list(found.groups())
    named = [word for word in words if word.startswith("the ")]
    targets, rest = tuple(map(reference, named)), [word for word in words if word not in named]
    if verb == "rotate":
        values = (int(rest[0]) * (1 if rest[1] == "clockwise" else -1),)
    elif verb == "move":
        right, down = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}[words[1].split()[-1]]
        targets, values = targets[:1], (right * thousandths(words[2]), down * thousandths(words[2]))
    elif verb == "scale":
        values = FACTORS[rest[0]]
    elif verb in ("copy", "add"):
        colour, kind, *numbers = rest if verb == "add" else ("", "", *rest)
        values = ((kind, colour) if verb == "add" else ()) + tuple(map(thousandths, numbers))
    elif verb in ("extend", "sort"):
        values = (words[1],)
    elif verb == "arrange":
        values = (words[1], tuple(words[2].split(", ")))
    else:
        values = tuple(rest)
    return Command(verb, targets, values)


def check_scene(scene):
    """That its twenty operations are each one right answer, by the words alone."""
    for edit in all_edits(scene).values():
        state = scene
        for asked in (edit.forward, edit.backward):
            assert all(len(matching(state, target)) == 1 for target in asked.targets), str(asked)
            read = command(str(asked))
            assert read.run(state) == asked.run(state), str(asked)
            state = read.run(state)
        assert state == scene
        assert edit.after != scene


@pytest.mark.parametrize("seed", [1, 2])
def test_words_alone_lead_there_and_back(seed):
    for index in range(9):
        check_scene(make_scene(seed, index))


@pytest.mark.slow
def test_words_alone_lead_there_and_back_in_a_thousand_scenes():
    for index in range(1000):
        check_scene(make_scene(1000 + index, index % 36))


def test_things_neither_touch_nor_leave_the_picture():
    for edit in [edit for index in range(9) for edit in all_edits(make_scene(3, index)).values()]:
        masks = [thing_mask(thing, 100) for thing in edit.after.things]
        assert np.sum(masks, axis=0).max() == 1, edit.forward
        for thing in edit.after.things:
            assert 0 <= thing.x - thing.size // 2 < thing.x + thing.size // 2 <= 1000


def test_levels_have_more_things_and_more_alike():
    for index in range(9):
        scene = make_scene(4, index)
        looks = Counter((thing.kind, thing.colour) for thing in scene.singles)
        kinds = Counter(thing.kind for thing in scene.singles)
        assert len(scene.singles) == (3, 5, 7)[scene.level - 1]
        assert (max(looks.values()) > 1) == (scene.level == 3)
        assert (max(kinds.values()) > 1) == (scene.level > 1)


def test_five_groups_of_four():
    assert Counter(group for group, _ in OPERATIONS.values()) == dict.fromkeys(GROUPS, 4)


def test_a_description_of_two_things_is_refused():
    scene = make_scene(1, 2)
    twin = next(thing for thing in scene.singles if scene.singles.count(thing) == 1
                and sum((o.kind, o.colour) == (thing.kind, thing.colour) for o in scene.singles) == 2)  # fmt: skip
    with pytest.raises(Ambiguous):
        resolve(scene, Reference(twin.kind, twin.looks))


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_can_be_seen(name):
    edit = make_edit(make_scene(1, 0), name)
    before, after = (np.asarray(draw_scene(scene, 128), int) for scene in (edit.before, edit.after))
    assert (abs(after - before).max(axis=2) > 40).mean() > 0.001


def golden_hashes(count=50):
    """Of scenes, and of the truth of one operation each, in turn."""
    edits = [make_edit(make_scene(index, index % 12), list(OPERATIONS)[index % 20]) for index in range(count)]
    return [[pixel_hash(draw_scene(scene, 256))[:16] for scene in (edit.before, edit.after)] for edit in edits]


def test_fifty_scenes_and_truths_are_drawn_as_ever():
    assert golden_hashes() == json.loads(GOLDEN.read_text())
