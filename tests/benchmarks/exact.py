"""How often the rules for any picture agree with the truth of drawn scenes; writes docs/exact.md's table.

PYTHONPATH=tests python -m benchmarks.exact [--write]
PYTHONPATH=tests python -m benchmarks.exact --rounds 10

Seven behaviours, whose truth is known, do twenty edits and take them back, under six kinds of wear. Every picture is
256 pixels wide and has been worn four times before. The rules see the pictures alone; the truth is drawn from the data.

With --rounds: of the twenty edits by an editor that draws the right answer and wears it, how many are as asked in each
round, forward and back.
"""

import argparse
import io
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
from convergebench.generation import editors
from convergebench.generation.studies.exact.drawing import draw_scene
from convergebench.generation.studies.exact.editors.solver import WEARS, repainted
from convergebench.generation.studies.exact.operations import OPERATIONS, make_edit
from convergebench.generation.studies.exact.part_way import part_way
from convergebench.generation.studies.exact.scenes import make_scene
from convergebench.metric_modules.damage import measure as damage
from convergebench.metric_modules.edit_applied import measure as rules
from convergebench.metric_modules.exact import measure as truth
from convergebench.metric_modules.halflife.causes import PART
from PIL import Image
from simulations import markdown, put

from .policies import lossy

SIDE, AGE = 256, 4
LOST = 0.003  # of the picture: the least that counts as a part
PAGE = Path(__file__).parents[2] / "docs" / "exact.md"


def behaviours(edit):
    """By name, the scenes after the edit and after the return."""
    names = [*OPERATIONS]
    other = make_edit(edit.before, names[(names.index(edit.name) + 1) % len(names)]).after
    half = part_way(edit, 0.5)
    lost = edit.before.without(max(edit.before.series, key=lambda thing: thing.size))
    return {
        "right, right": (edit.after, edit.before),
        "right, not undone": (edit.after, edit.after),
        "right, half undone": (edit.after, half),
        "right, a thing lost": (edit.after, lost),
        "half, undone": (half, edit.before),
        "another, undone": (other, edit.before),
        "nothing, nothing": (edit.before, edit.before),
    }


def worn(wear, picture, seed):
    answer = editors.choose(wear).editor.edit(picture, "", seed)
    return Image.open(io.BytesIO(answer.data)).convert("RGB")


def judged(edit, states, wear, scorers, tiles):
    """For both steps, what the rules say and what the truth says."""
    drawn = picture = draw_scene(edit.before, SIDE)
    for seed in range(AGE):
        picture = worn(wear, picture, seed)
    pictures, state = [picture], edit.before
    for number, scene in enumerate(states):
        picture = worn(wear, repainted(picture, state, scene), AGE + number)
        pictures.append(picture)
        state = scene
    arrays = [np.asarray(picture) for picture in pictures]
    facts = {"program": edit.id, "cycle": [str(edit.forward), str(edit.backward)], "closes": True, "small": True}
    facts |= {"shows": None, "found": {}, "round": 1, "audits": [None, None], "earlier": []}
    rows = [{}, {}]
    for scorer in scorers:
        reference, kept = scorer.prepare(np.asarray(drawn)), [scorer.reduce(array) for array in arrays]
        for position in (1, 2):
            rows[position - 1] |= scorer.judge(facts, position, kept[: position + 1], reference)
    [row] = tiles.compare(tiles.prepare(np.asarray(drawn)), arrays[2:], [{}])
    return rows[0], rows[1] | row


def claims(edit, states, there, back):
    """By rule, what it says and what is true by the scenes that were drawn, for each step that the rule speaks of."""
    made, gone = states[0] == edit.after, states[1] == edit.before
    yield "changed: the edit was made as asked", there["edit_changed"], made
    yield "exact: the edit was made as asked", there["exact_as_asked"], made
    if made and states[1] in (edit.before, edit.after, part_way(edit, 0.5)):
        yield "undone: everything is as before", back["edit_undone"], gone
        yield "exact: everything is as before", back["exact_as_asked"] and back["exact_match"] > 1 - LOST, gone
    before, after = (np.asarray(draw_scene(scene, SIDE), int) for scene in (edit.before, states[1]))
    lost = (abs(after - before).max(axis=2) > 40).mean()
    yield "one area lost: more than 0.3% is not as before", back["damage"] >= PART.limit, lost > LOST


def by_round(wear, rounds):
    """In how many of the twenty operations the right answer, worn again and again, counts as asked."""
    right = np.zeros((2, rounds), int)
    for place, name in enumerate(OPERATIONS):
        edit = make_edit(make_scene(1, place % 9), name)
        picture = draw_scene(edit.before, 512)
        reference, scenes = truth.prepare(np.asarray(picture)), (edit.before, edit.after, edit.before)
        for number in range(rounds):
            reduced = [truth.reduce(np.asarray(picture))]
            for position in (1, 2):
                whole = repainted(picture, *scenes[position - 1 : position + 1])
                picture = wear(whole, 2 * number + position)
                reduced.append(truth.reduce(np.asarray(picture)))
                judged = truth.judge({"program": edit.id}, position, reduced, reference)
                right[position - 1, number] += judged["exact_as_asked"]
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    if options.rounds:
        wears = {name: partial(worn, name) for name in ("jpeg:quality=75", "noise", "blur")}
        wears["autoencoder"] = lambda picture, seed: Image.fromarray(lossy.passed(np.asarray(picture), seed))
        for name, wear in wears.items():
            print(name, *by_round(wear, options.rounds), flush=True)
        return
    scorers = [rules.Scorer("cpu", "", {}), truth]
    tiles = damage.Scorer("cpu", "float32", {})
    counts, steps = defaultdict(lambda: [0, 0, 0, 0]), 0  # right yes, all true; wrong yes, all false
    for wear in WEARS[1:]:
        for edit in [make_edit(make_scene(1, i * 4), name) for i in range(3) for name in OPERATIONS]:
            for name, states in behaviours(edit).items():
                there, back = judged(edit, states, wear, scorers, tiles)
                steps += 2
                for rule, says, is_true in claims(edit, states, there, back):
                    if not isinstance(says, str):
                        for key in ((rule, wear), (rule, "all"), (rule, name)):
                            counts[key][0 if is_true else 2] += bool(says)
                            counts[key][1 if is_true else 3] += 1
        print(wear, f"{steps} steps", flush=True)
    head = ["rule, and what it should tell", "wear or answers", "holds, if true", "holds, if false"]
    rows = []
    for about, (yes, true, false_yes, false) in counts.items():
        shares = [f"{part / all:.1%} of {all}" if all else "–" for part, all in ((yes, true), (false_yes, false))]
        rows.append([*about, *shares])
    text = f"{steps} steps.\n\n{markdown(head, rows, '---')}"
    print(text)
    if options.write:
        put(PAGE, "rates", text)


if __name__ == "__main__":
    main()
