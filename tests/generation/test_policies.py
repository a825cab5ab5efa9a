"""Policies: around any editor, from nothing but one call's own picture, words and seed."""

from dataclasses import replace

import numpy as np
import pytest
from convergebench.generation import editors, plan, policies, scheduler, store, suites
from convergebench.generation.pictures import decode, encode_png
from convergebench.generation.policies._touched import touched
from convergebench.generation.policies.paste_back import _seam
from convergebench.generation.records import Answer, Turn, UserError
from convergebench.generation.sources import synthetic
from PIL import Image, ImageFilter

PICTURE = synthetic.make("gradient", (256, 256), 1)
BOX = (80, 100, 150, 170)


def worn(image, seed=0):
    noise = np.random.default_rng(seed).normal(0, 2, (*image.size[::-1], 3))
    soft = np.asarray(image.filter(ImageFilter.GaussianBlur(0.8)), float)
    return Image.fromarray((soft + noise + (5, -2, 3)).clip(0, 255).astype(np.uint8))


def with_box(image):
    image = image.copy()
    image.paste((220, 30, 40), BOX)
    return image


class Asked:
    """Draws a box on a worn copy of what it is sent, and remembers what it was asked."""

    price = staticmethod(lambda: 0.04)

    def __init__(self):
        self.calls = []

    def edit(self, image, instruction, seed):
        self.calls.append((image, instruction, seed))
        return Answer(encode_png(worn(with_box(image), seed)), cost=0.04)


def edit(spec, instruction="add a red box", image=PICTURE, seed=7):
    editor = Asked()
    choice = policies.under(editors.Choice("asked", "asked", "asked", {}, editor), spec)
    answer = choice.editor.edit(image, instruction, seed)
    return decode(answer.data), answer, editor.calls


def difference(first, second, inside):
    mask = np.zeros(PICTURE.size[::-1], bool)
    mask[BOX[1] - 24 : BOX[3] + 24, BOX[0] - 24 : BOX[2] + 24] = True
    apart = np.abs(np.asarray(first, float) - np.asarray(second, float)).mean(2)
    return float(apart[mask if inside else ~mask].mean())


def test_what_is_touched_is_found_from_the_two_pictures_alone():
    mask = touched(PICTURE, worn(with_box(PICTURE)), "add a red box")
    left, top, right, bottom = BOX
    assert mask[top:bottom, left:right].mean() > 0.95
    assert mask.mean() < 3 * (right - left) * (bottom - top) / mask.size
    assert not touched(PICTURE, worn(PICTURE), "add a red box").any()
    assert touched(PICTURE, with_box(PICTURE), "flip horizontally") is None  # the words say that all may change
    assert touched(PICTURE, Image.new("RGB", PICTURE.size, "navy"), "add a red box") is None
    assert touched(PICTURE, PICTURE.resize((128, 128)), "add a red box") is None


def test_paste_back_restores_surroundings_and_measures_its_seam():
    made, answer, _ = edit("paste-back")
    bare, _, _ = edit("none")
    assert difference(made, PICTURE, inside=False) == 0 < difference(bare, PICTURE, inside=False)
    box = np.asarray(made)[BOX[1] + 2 : BOX[3] - 2, BOX[0] + 2 : BOX[2] - 2]
    assert np.abs(box - np.array((225.0, 28, 43))).mean() < 10  # the edit stays, worn as it came
    note = answer.details["paste_back"]
    assert 0.5 < note["pasted"] < 0.95
    assert 0 < note["seam"] < 1
    untouched, _, _ = edit("paste-back", "make it night")
    assert np.array_equal(np.asarray(untouched), np.asarray(edit("none", "make it night")[0]))
    sent, answered = np.full((40, 40, 3), 100.0), np.full((40, 40, 3), 130.0)
    hard = np.where(np.arange(40)[:, None, None] < 20, sent, answered)
    assert _seam(sent, answered, hard, np.ones((40, 40), bool)) > 0.5
    assert _seam(sent, answered, answered, np.ones((40, 40), bool)) == 0
    first, second = edit("grain:sigma=40+paste-back")[0], edit("paste-back+grain:sigma=40")[0]
    outside = [difference(picture, PICTURE, inside=False) for picture in (first, second)]
    assert outside[0] == 0 < outside[1], "the stack has an order"


def test_align_takes_off_the_cast_and_leaves_the_edit():
    bare, aligned = edit("none")[0], edit("align")[0]
    sent, came, corrected = (np.asarray(picture, float)[:40].mean((0, 1)) for picture in (PICTURE, bare, aligned))
    assert np.abs(corrected - sent).max() < 0.25 * np.abs(came - sent).max()
    assert np.abs(np.asarray(aligned, float)[115:155, 95:135].mean((0, 1)) - (220, 30, 40)).max() < 12


def test_words_sizes_grain_and_transport_are_changed():
    _, answer, [(_, words, _)] = edit("keep-clause")
    assert words == "add a red box. Keep everything else exactly as it is." == answer.details["asked"]
    made, _, [(sent, _, _)] = edit("upscale")
    assert (sent.size, made.size) == ((512, 512), PICTURE.size)
    bare = np.asarray(edit("none")[0], float)
    grainy = np.asarray(edit("grain:sigma=8")[0], float)
    assert 4 < (grainy - bare).std() < 9
    assert np.array_equal(np.asarray(edit("transport:type=png")[0]), bare)
    assert 0 < np.abs(np.asarray(edit("transport:quality=60")[0]) - bare).mean() < 15


def test_a_stack_is_part_of_a_chains_identity():
    suite = replace(suites.load("smoke"), editors=("identity",))
    specs = ("none", "align", "align:radius=8", "align+paste-back", "paste-back+align", "fixed-seed")
    made = plan.make_plan(suite, ["identity"], stacks=specs)
    assert [choice.label for choice in made.choices] == [
        *("identity", "identity+align", "identity+align:radius=8.0", "identity+align+paste-back"),
        *("identity+paste-back+align", "identity+fixed-seed"),
    ]
    assert len({chain.id for chain in made.chains}) == len(made.chains) == 6 * 4
    of = {chain.editor: chain for chain in made.chains}
    assert of["identity+align"].settings["align:radius"] == 16.0
    assert of["identity+fixed-seed"].seed(1) == of["identity+fixed-seed"].seed(2)
    [*_, plain] = plan.make_plan(suite, ["identity"]).chains
    assert of["identity"].id == plain.id, "chains of before stay as they are"


def test_merge_asks_once_for_all_additions():
    suite = suites.load("v1-mini")
    made = plan.make_plan(suite, ["identity"], stacks=["merge"])
    cycles = {chain.program.id: chain.program.cycle for chain in made.chains}
    there, back = "add a red ball and add a chair on the left", "remove the red ball and remove the chair"
    assert cycles["ball-chair-crossed"] == (there, back)
    assert all(name.endswith(("nested", "crossed")) for name in cycles)


def test_errors_say_what_is_allowed():
    allowed = {"paste": "paste-back", "align:wide=2": "radius", "grain:sigma=900": "50"}
    for spec, words in (allowed | {"align:concurrency=2": "editor"}).items():
        with pytest.raises(UserError, match=words):
            policies.under(editors.choose("identity"), spec)


def test_answers_without_a_picture_pass_through():
    class Declines:
        def edit(self, image, instruction, seed):
            return self.answer

    choice = policies.under(editors.Choice("x", "x", "x", {}, Declines()), "+".join(set(policies.names())))
    small = Answer(encode_png(PICTURE.resize((9, 9))))
    for answer in (Answer(status="refused", reason="no"), Answer(b"junk"), small):
        choice.editor.editor.answer = answer
        assert replace(choice.editor.edit(PICTURE, "add a hat", 1), details={}) == answer


def test_traits_price_and_resume_are_the_editors(tmp_path):
    editor = policies.under(editors.Choice("x", "x", "x", {}, Asked()), "align").editor
    assert (editors.trait(editor, "price")(), editors.trait(editor, "embedded")) == (0.04, False)
    under = plan.make_plan(suites.load("smoke"), ["undo_history"], stacks=["paste-back"])
    assert scheduler.generate(under, under.chains, tmp_path).clean
    again = scheduler.generate(under, under.chains, tmp_path)
    assert (again.already, dict(again.ends)) == (4, {})
    told = store.read_checked(tmp_path / "editors.json")["undo_history+paste-back"]
    assert (told["name"], told["role"]) == ("undo_history", "baseline")
    steps = [step for path in tmp_path.glob("chains/*") for step in store.recover_steps(path)]
    assert sum("paste_back" in step.details for step in steps) >= 8


def test_undo_history_returns_the_stored_picture():
    editor = editors.choose("undo_history").editor
    start = encode_png(PICTURE)
    history = [Turn("", start)]
    added = editor.edit(PICTURE, "add a red ball", 1, history)
    history.append(Turn("add a red ball", added.data))
    back = editor.edit(decode(added.data), "remove the red ball", 2, history)
    assert added.data != start == back.data
