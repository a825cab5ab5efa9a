"""Every program of every suite, from the plan to the report: an editor that undoes exactly keeps every round of it."""

import itertools
import tomllib
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import pictures, programs, suites
from convergebench.generation.editors import Choice
from convergebench.generation.editors.paint import instructions
from convergebench.generation.plan import Plan, make_plan
from convergebench.generation.records import Answer, Chain
from convergebench.generation.scheduler import generate
from convergebench.generation.sources import catalogue
from convergebench.metric_modules._shared.looks import seen
from convergebench.metric_modules.edit_applied.cycles import roles
from convergebench.metric_modules.edit_applied.judge import judge_step
from convergebench.spaces_app.analysis.analysis import Analysis
from convergebench.spaces_app.analysis.groups import places
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.additions.statistics import additions
from convergebench.spaces_app.studies.programs.statistics import programs as program_table
from convergebench.spaces_app.studies.programs.statistics.programs import key_of
from PIL import Image
from verbs import say

SHORT_SIDE = 192
# Suites whose pictures are drawn with their programs are followed in test_exact_suite.py.
SUITES = [name for name in suites.names() if not suites.load(name).draw]
NAMES = sorted({name for suite in SUITES for each in suites.load(suite).variants for name in each.programs})
# Those that go several edits out and back are followed below.
NAMES = [name for name in NAMES if programs.get(name).category != "out and back"]
# The first program of each category goes on for a second round.
FIRST = {programs.get(name).category: name for name in reversed(NAMES)}.values()
ROUNDS = {name: 2 if name in FIRST else 1 for name in NAMES}


# An editor for what the oracle does not understand, or not take back: it draws, and takes back from memory.


def word(text, shown):
    height, width = shown.shape[:2]
    place, scale, white = (width // 10, height * 3 // 5), width / 190, (245, 245, 245)
    return cv2.putText(shown.copy(), text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, white, max(3, width // 40))


def before_a_wall(shown):
    height, width = shown.shape[:2]
    kept = np.zeros((height, width), np.uint8)
    cv2.ellipse(kept, (width // 2, height * 3 // 5), (width // 4, height // 3), 0, 0, 360, 1, -1)
    return np.where(kept[..., None] > 0, shown, np.array((60, 100, 190), np.uint8))


def washed(shown):
    return np.rint(cv2.pyrMeanShiftFiltering(shown, 8, 40) * 0.65 + 0.35 * 255).astype(np.uint8)


# What each edit of a program makes of the round's first picture.
EDITS = {
    "open-and-closed": (partial(word, "OPEN"), partial(word, "CLOSED")),
    "background-and-back": (before_a_wall,),
    "watercolour-and-back": (washed,),
}
ASKED = {text: (name, place) for name in EDITS for place, text in enumerate(programs.get(name).cycle)}


class ByHand:
    """Draws each edit on the first picture, and on the way back gives what stood there before."""

    role, embedded, remembers = "baseline", True, True

    def edit(self, image, instruction, seed, history):
        name, place = ASKED[instruction]
        edits = EDITS[name]
        made = place + 1 if place < len(edits) else 2 * len(edits) - 1 - place  # edits that stand after this step
        shown = np.asarray(pictures.decode(history[0].data).convert("RGB"))
        return Answer(pictures.encode_png(Image.fromarray(edits[made - 1](shown) if made else shown)))


BY_HAND = Choice("by-hand", "by-hand", "by-hand", {"seed": "per-step"}, ByHand())


def local_source(program):
    """A picture that needs no network: one that the program fits, or at least one of a kind that it fits."""
    rows = catalogue.manifest().values()
    rows = [row for row in rows if row.package == "painted" or "installed:" in row.package]
    fitting = [row for row in rows if suites.load("v1").fits(row.id, program)]
    return (fitting or [row for row in rows if row.kind in program.fits])[0].id


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The oracle's chain of each program, or that of an editor that draws what is asked, as a scored dataset."""
    folder = tmp_path_factory.mktemp("every-program")
    pictures = {name: local_source(programs.get(name)) for name in NAMES}
    values = {"title": "one chain each", "version": "1", "short_side": SHORT_SIDE, "rounds": 2, "runs": 1}
    suite = suites.from_values("each", values | {"sources": sorted({*pictures.values()}), "programs": NAMES})
    plan = make_plan(suite, ["oracle"])
    choices = {name: BY_HAND if name in EDITS else plan.choices[0] for name in NAMES}
    settings = {**plan.choices[0].settings, "short_side": SHORT_SIDE}
    chains = []
    for name in NAMES:
        source, program, label = catalogue.source(pictures[name]), programs.get(name), choices[name].label
        chains.append(Chain(source, program, label, settings, 1, ROUNDS[name]))
    plan = Plan(suite, (*plan.choices, BY_HAND), tuple(chains))
    return scored(plan, folder)


def scored(plan, folder):
    assert generate(plan, list(plan.chains), folder / "run").clean
    say("build", folder / "run", "--out", folder / "dataset")
    say("score", folder / "dataset", "--metrics", "psnr,ssim,edit_applied")
    return Reader(folder / "dataset")


@pytest.fixture(scope="module")
def outcomes(made):
    analysis, ends = read_analysis(made), {}
    for name, group in analysis.groups.items():
        for editor, cases in group.cases.items() if name != "additions" else ():
            of_editor = analysis.outcomes[name][editor]
            ends |= {case.program: outcome for case, outcome in zip(cases, of_editor, strict=True)}
    return ends


@pytest.mark.parametrize("name", NAMES)
def test_a_program_can_be_kept(outcomes, name):
    # An addition has nothing to return to, and a restoration its clean picture, which is not here.
    if not programs.get(name).closes or programs.get(name).category == "restoration":
        assert name not in outcomes
        return
    outcome = outcomes[name]
    assert (outcome.rounds_kept, outcome.cause) == (ROUNDS[name], None)


@pytest.mark.parametrize("suite", sorted({*SUITES} - {"out-and-back"}))  # followed by a test of its own
def test_the_printed_sum_of_chains_holds_for_every_suite(made, suite):
    named = {name for variant in suites.load(suite).variants for name in variant.programs}
    chains = [replace(chain, suite=suite) for chain in made.chains() if chain.program.id in named]
    ids = {chain.id for chain in chains}
    scores = [row for row in made.rows("scores") if row["chain"] in ids]
    analysis = Analysis(scores, chains, list(made.rows("floors")), programs_of={suite: named}.__getitem__)
    rows = program_table.rows(analysis)
    assert {row.program for row in rows} == named
    columns = [key_of(place) for place in places()]
    for row in rows:
        counted = sum(row.cells.get(key) or 0 for key in columns)
        assert row.chains == counted
        assert row.chains or row.reason == program_table.ABSENT
    assert sum(row.chains for row in rows) == len(chains)
    added = {row.program for row in additions.rows(analysis)}
    assert added == {name for name in named & {*NAMES} if not programs.get(name).closes}


CLOSING = [name for name in NAMES if programs.get(name).closes]


@pytest.fixture(scope="module")
def rounds(made):
    by_program = {}
    for row in made.rows("steps"):
        if row["round"] <= 1:
            picture = np.asarray(Image.open(BytesIO(row["image"]["bytes"])).convert("RGB"))
            by_program.setdefault(row["program"], {})[row["step"]] = picture
    return {name: [pictures[step] for step in sorted(pictures)] for name, pictures in by_program.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSING)
def test_a_program_can_be_lost_by_each_cause_that_applies_to_it(rounds, name):
    program, pictures = programs.get(name), rounds[name]
    kinds, length = [role.kind for role in roles(program.cycle, True)], len(program.cycle)

    def fails(column, wanted, pictures):
        round = [seen(picture) for picture in pictures]
        judged = partial(judge_step, program.cycle, True, source=round[0], small=program.small)
        steps = [judged(place, round[: place + 1]) for place in range(1, length + 1)]
        found = [step[column] for step, kind in zip(steps, kinds, strict=True) if kind == wanted]
        return not all(value for value in found if not isinstance(value, str))

    if "forward" in kinds:
        assert fails("changed", "forward", [pictures[0]] * (length + 1))
        last = max(place for place, kind in enumerate(kinds, 1) if kind == "forward")
        left = [*pictures[: last + 1], *[pictures[last]] * (length - last)]
        assert not fails("changed", "forward", left)
        assert fails("undone", "undo", left)


# Several edits out and back

TABLE = tomllib.loads((Path(programs.__file__).parent / "studies" / "depth" / "out_and_back.toml").read_text())
PICTURES = {"face": "astronaut", "object": "coffee", "scene": "rocket"}


def test_edits_are_undone_in_reverse_order_at_every_depth():
    assert len(TABLE["edits"]) >= 40
    for name, edit in TABLE["edits"].items():
        out, back = instructions.parse(edit["out"]), instructions.parse(edit["back"])
        assert None not in (out, back), name
        assert out != back, name
    cycle = programs.get("out-and-back-4-scene-a").cycle
    assert cycle[:2] == ("add a red ball", "add a chair on the left")
    assert cycle[-2:] == ("remove the chair", "remove the red ball")
    used = {id for sequence in TABLE["sequences"].values() for id in sequence["edits"]}
    assert used == set(TABLE["edits"])
    for name in TABLE["sequences"]:
        cycles = [programs.get(f"out-and-back-{deep}-{name}").cycle for deep in TABLE["depths"]]
        for shallow, deep in itertools.pairwise(cycles):
            assert deep[: len(shallow) // 2] == shallow[: len(shallow) // 2]
            assert deep[-len(shallow) // 2 :] == shallow[len(shallow) // 2 :]


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out-and-back")
    values = {"title": "t", "version": "1", "short_side": SHORT_SIDE, "rounds": 1, "runs": 1}
    values |= {"sources": [*PICTURES.values()], "programs": [*suites.load("out-and-back").programs]}
    suite = suites.from_values("deep", values)
    plan = make_plan(suite, ["oracle", "identity"])
    chains = []
    for choice, (kind, id), name in itertools.product(plan.choices, PICTURES.items(), suite.programs):
        program, settings = programs.get(name), {**choice.settings, "short_side": SHORT_SIDE}
        if kind in program.fits:
            chains.append(Chain(catalogue.source(id), program, choice.label, settings, 1, 1))
    plan = Plan(suite, plan.choices, tuple(chains))
    analysis = read_analysis(scored(plan, folder))
    return SimpleNamespace(analysis=analysis, tables=compute_tables(analysis))


@pytest.mark.slow
def test_the_oracle_keeps_every_depth_and_identity_none(deep):
    rows = {(row["editor"], row["depth"]): row for row in deep.tables["depth"].rows}
    trips = deep.analysis.groups["round trips"].cases["oracle"]
    outcomes = deep.analysis.outcomes["round trips"]["oracle"]
    assert [(case.program, end.cause) for case, end in zip(trips, outcomes, strict=True) if end.cause] == []
    for number in TABLE["depths"]:
        assert rows["oracle", number]["kept"] == 1, number
        assert rows["identity", number]["kept"] == 0
    assert rows["oracle", 1]["half_depth"] == ">16"
    assert rows["identity", 1]["half_depth"] == "1"
    by_program = deep.tables["programs"].rows
    assert {row["program"] for row in by_program} >= {*suites.load("out-and-back").programs}
    counted = sum(row.get(key) or 0 for row in by_program for key in map(key_of, places()))
    assert counted == sum(row["chains"] for row in by_program) == len(deep.analysis.chains)
