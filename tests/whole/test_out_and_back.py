"""Several edits out and back: the oracle keeps every depth, one that does nothing keeps none, decay is what it is."""

import itertools
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation import programs, suites
from convergebench.generation.editors.paint import instructions
from convergebench.generation.plan import Plan, make_plan
from convergebench.generation.records import Chain
from convergebench.generation.scheduler import generate
from convergebench.generation.sources import catalogue
from convergebench.spaces_app.reporting.write import read_analysis
from convergebench.spaces_app.statistics import compute_tables
from convergebench.spaces_app.studies.depth.statistics import depth
from verbs import say

TABLE = tomllib.loads((Path(programs.__file__).parent / "studies" / "depth" / "out_and_back.toml").read_text())
PICTURES = {"face": "astronaut", "object": "coffee", "scene": "rocket"}
SIDE = 192


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


def test_half_life_is_the_first_depth_below_half():
    assert depth._half_depth({}) is None
    assert depth._half_depth({1: 0.4, 2: 1.0}) == "1"
    assert depth._half_depth({1: 1.0, 16: 0.5}) == ">16"


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out-and-back")
    names = [*suites.load("out-and-back").programs, "replicate"]
    values = {"title": "t", "version": "1", "short_side": SIDE, "rounds": 1, "runs": 1}
    values |= {"sources": [*PICTURES.values()], "programs": names}
    suite = suites.from_values("deep", values)
    plan = make_plan(suite, ["oracle", "identity", "jpeg:quality=30"])
    chains = []
    for choice, (kind, id), name in itertools.product(plan.choices, PICTURES.items(), suite.programs):
        program, settings = programs.get(name), {**choice.settings, "short_side": SIDE}
        if kind in program.fits and (name != "replicate" or choice.name == "jpeg"):
            rounds = 32 if name == "replicate" else 1
            chains.append(Chain(catalogue.source(id), program, choice.label, settings, 1, rounds))
    plan = Plan(suite, plan.choices, tuple(chains))
    assert generate(plan, chains, folder / "run").clean
    say("build", folder / "run", "--out", folder / "dataset")
    say("score", folder / "dataset", "--metrics", "psnr,ssim,edit_applied")
    analysis = read_analysis(Reader(folder / "dataset"))
    return SimpleNamespace(analysis=analysis, tables=compute_tables(analysis))


@pytest.mark.slow
def test_the_oracle_keeps_every_depth_and_identity_none(scored):
    rows = {(row["editor"], row["depth"]): row for row in scored.tables["depth"].rows}
    trips = scored.analysis.groups["round trips"].cases["oracle"]
    outcomes = scored.analysis.outcomes["round trips"]["oracle"]
    assert [(case.program, end.cause) for case, end in zip(trips, outcomes, strict=True) if end.cause] == []
    for deep in TABLE["depths"]:
        assert rows["oracle", deep]["kept"] == 1, deep
        assert rows["identity", deep]["kept"] == 0
        assert rows["jpeg:quality=30", deep]["kept"] == 0
    assert rows["oracle", 1]["half_depth"] == ">16"
    assert rows["identity", 1]["half_depth"] == "1"


@pytest.mark.slow
def test_jpeg_ends_where_its_plain_decay_is_after_as_many_steps(scored):
    groups = scored.analysis.groups
    plain = {case.source: case.quality() for case in groups["replication"].cases["jpeg:quality=30"]}
    trips = groups["round trips"].cases["jpeg:quality=30"]
    cases = [case for case in trips if case.category == depth.CATEGORY]
    assert len(cases) == 10 * 3
    for case in cases:
        steps = len(case.chain.program.cycle)
        assert case.quality()[0] == pytest.approx(plain[case.source][steps - 1], abs=1e-9), case.program
