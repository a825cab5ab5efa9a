"""Exact edits against the truth of drawn scenes, through the editors whose answers are known."""

import io

import numpy as np
import pytest
from convergebench.generation import editors
from convergebench.generation.records import Chain, Program, Source
from convergebench.generation.studies.exact.drawing import draw_scene
from convergebench.generation.studies.exact.operations import OPERATIONS, all_edits, make_edit
from convergebench.generation.studies.exact.scenes import make_scene
from convergebench.metric_modules.exact import measure
from PIL import Image

SIDE = 256


def chain_of(edit, rounds=2):
    source = Source(edit.before.id, "0", SIDE, SIDE, "scene", "synthetic", "", "")
    program = Program(edit.id, (str(edit.forward), str(edit.backward)), "exact", True, "exact")
    return Chain(source, program, "x", {}, 1, rounds)


def steps(spec, edit, rounds=1):
    """What the metric says of each step of a chain."""
    editor, chain = editors.choose(spec).editor, chain_of(edit, rounds)
    picture = draw_scene(edit.before, SIDE)
    reference, reduced = measure.prepare(np.asarray(picture)), [measure.reduce(np.asarray(picture))]
    values = []
    for number, _, position, instruction in chain.asks():
        told = (chain, number) if editors.trait(editor, "told") else ()
        answer = editor.edit(picture, instruction, chain.seed(number), *told)
        picture = Image.open(io.BytesIO(answer.data)).convert("RGB")
        reduced.append(measure.reduce(np.asarray(picture)))
        facts = {"program": chain.program.id}
        values.append(measure.judge(facts, position, reduced[number - position :], reference))
    return values


@pytest.fixture(scope="module")
def twenty():
    """Each operation once, on nine scenes of all levels and grounds in turn."""
    return [make_edit(make_scene(1, place % 9), name) for place, name in enumerate(OPERATIONS)]


def test_the_solver_is_exact_there_and_back(twenty):
    for edit in twenty:
        for step in steps("solver", edit):
            assert step.pop("exact_protected") < 0.001, "but for soft edges at the rim"
            assert step == {
                "exact_as_asked": True, "exact_iou": 1, "exact_start": 1, "exact_elsewhere": 0, "exact_match": 1,
            }, edit.forward  # fmt: skip


@pytest.mark.parametrize("spec", ["identity", "solver:does=other", "solver:does=half"])
def test_what_is_not_asked_for_is_never_as_asked(spec, twenty):
    for edit in twenty:
        there, back = steps(spec, edit)
        assert not there["exact_as_asked"], edit.forward
        assert not back["exact_as_asked"], edit.backward


@pytest.mark.parametrize("wear", ["jpeg", "webp", "noise", "resize", "blur"])
def test_wear_is_forgiven_for_five_rounds(wear, twenty):
    assert all(step["exact_as_asked"] for edit in twenty[::5] for step in steps(f"solver:wear={wear}", edit, 5))


def test_a_thing_changed_besides_is_seen():
    edits = all_edits(make_scene(1, 4))
    asked, other = edits["recolour"], edits["write"]
    truths = [measure._to_lab(np.asarray(draw_scene(scene, SIDE))) for scene in (asked.before, asked.after)]
    both = np.asarray(draw_scene(asked.forward.run(other.after), SIDE))
    step = measure._exact_step(truths[0], measure._to_lab(both), *truths)
    assert step["exact_elsewhere"] > 0.001
    assert not step["exact_as_asked"]


def test_changed_protected_pixels_count_but_re_encoding_does_not():
    edit = make_edit(make_scene(1, 0), "move")
    truths = [measure._to_lab(np.asarray(draw_scene(scene, SIDE))) for scene in (edit.before, edit.after)]
    answer = draw_scene(edit.after, SIDE)
    buffer = io.BytesIO()
    answer.save(buffer, "JPEG", quality=90)
    saved = np.asarray(Image.open(buffer))
    half = np.asarray(answer).copy()
    half[: SIDE // 2] = np.clip(half[: SIDE // 2].astype(int) + 25, 0, 255)
    exact, encoded, halved = (
        measure._exact_step(truths[0], measure._to_lab(picture), *truths)["exact_protected"]
        for picture in (np.asarray(answer), saved, half)
    )
    assert exact == 0
    assert encoded < 0.03
    assert 0.4 < halved < 0.6


def test_other_programs_and_pictures_have_no_value():
    edit = make_edit(make_scene(1, 0), "move")
    picture = np.asarray(draw_scene(edit.before, SIDE))
    other = np.asarray(draw_scene(make_scene(1, 8), SIDE))
    kept = [measure.reduce(picture)] * 2
    assert set(measure.judge({"program": "hat"}, 1, kept, measure.prepare(picture)).values()) == {"no_scene"}
    assert set(measure.judge({"program": edit.id}, 1, kept, measure.prepare(other)).values()) == {"other_picture"}
    assert set(measure.judge({"program": edit.id}, 1, [kept[0], None], measure.prepare(picture)).values()) == {
        "no_picture"
    }
