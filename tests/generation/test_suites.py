"""Suites and programs name what exists, in the words of the studies, and plan only what fits."""

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from convergebench.generation import plan, programs, suites
from convergebench.generation.records import UserError
from convergebench.generation.sources import catalogue
from convergebench.generation.studies.restoration import degradations
from verbs import invoke

VALUES = {
    "title": "t", "version": "1", "short_side": 64, "rounds": 2, "runs": 1, "sources": ["coffee"], "programs": ["hat"],
}  # fmt: skip
ADDITIONS = ("accessories", "scene objects")


@pytest.mark.parametrize("name", suites.names())
def test_every_source_and_program_of_a_suite_is_used(name):
    suite = suites.load(name)
    pairs = [pair for variant in suite.variants for pair in suites.cases(suite, variant)]
    assert {source.id for source, _ in pairs} == set(suite.sources)
    assert {program.id for _, program in pairs} == set(suite.programs)


def test_what_a_picture_already_shows_is_not_added():
    planned = {(source.id, program.id) for source, program in suites.cases(suites.load("v1"))}
    assert ("astronaut", "glasses") in planned
    assert ("grace-hopper", "glasses") not in planned
    assert ("reading-room", "chair-left") not in planned
    assert ("chelsea", "smile-and-back") not in planned
    assert all(catalogue.row(source).kind in programs.get(program).fits for source, program in planned)


def test_the_demo_is_small_and_needs_no_download():
    for name in ("demo", "smoke"):
        places = {catalogue.row(id).package for id in suites.load(name).sources}
        assert places <= {"installed:scikit-image", "painted"}
    suite = suites.load("demo")
    assert suite.rounds == 10
    cycles = sum(len(program.cycle) for _, program in suites.cases(suite))
    assert cycles * suite.rounds * len(suite.editors) <= 1000


def test_verdict_costs_under_25_dollars_for_720_calls():
    suite = suites.load("verdict")
    made = plan.make_plan(suite, ["identity"])
    per_picture = Counter(chain.source.id for chain in made.chains)
    assert (len(per_picture), set(per_picture.values()), sum(chain.calls for chain in made.chains)) == (
        12,
        {3},
        720,
    )
    cheap = ("openai", "gemini", "bfl:model=flux-2-klein-9b", "qwen", "xai:model=grok-imagine-image")
    planned = plan.summary(plan.make_plan(suite, [*cheap, "seedream:model=seedream-5-0-flash-260915"]))
    assert [row["editor"] for row in planned if not 0 < row["dollars"] < 25] == []


def test_banana100_is_the_studys_size_and_price():
    suite = suites.load("banana100")
    made = plan.make_plan(suite)
    assert len(suite.sources) == 13
    assert {chain.run for chain in made.chains} == {1, 2, 3, 4, 5}
    assert abs(sum(chain.calls for chain in made.chains) - 28_000) <= 10  # a cycle of three has no hundredth step
    assert 3_800 < sum(row["dollars"] for row in plan.summary(made)) < 4_100
    assert {chain.calls for chain in made.chains} == {99, 100}
    smaller = plan.make_plan(suites.load("banana20"))
    assert [row["calls"] for row in plan.summary(smaller)] == [1400, 1400, 1400]
    assert {chain.calls for chain in smaller.chains} == {20}


@pytest.mark.parametrize("name", ["banana100", "banana20"])
def test_no_input_of_banana100_is_enlarged(name):
    suite = suites.load(name)
    for id in suite.sources:
        row = catalogue.row(id)
        assert min(row.width, row.height) >= suite.short_side == 2048, id


def test_a_suite_of_steps_has_as_many_whole_rounds_as_fit():
    suite = suites.from_values("s", {**VALUES, "steps": 7, "programs": ["replicate", "mirror-twice"]})
    made = plan.make_plan(suite, ["identity"])
    assert {chain.program.id: chain.rounds for chain in made.chains} == {"replicate": 7, "mirror-twice": 3}
    assert {chain.rounds for chain in plan.make_plan(suite, ["identity"], rounds=2).chains} == {2}
    with pytest.raises(UserError, match="steps of suite 's' must be a whole number from 1, got 0"):
        suites.from_values("s", {**VALUES, "steps": 0})


def test_restoration_is_13_scenes_7_degradations_12_prompts():
    suite = suites.load("restoration")
    scenes, broken = (set(part) for part in zip(*(id.split("~") for id in suite.sources), strict=True))
    assert (len(scenes), broken) == (13, set(degradations.DEGRADATIONS))
    *every, twice = (suites.cases(suite, variant) for variant in suite.variants if variant.runs == 1)
    every = [*every[0], *twice]
    assert len(every) == len(set(every)) == 13 * 7 * 12
    assert all(source.reference and source.reference != source.sha256 for source, _ in every)


def test_a_source_that_is_not_there_is_refused():
    for id, sentence in (("cofee", "no source 'cofee'"), ("coffee~blurr", "no degraded source 'coffee~blurr'")):
        with pytest.raises(UserError, match=sentence):
            suites.from_values("s", {**VALUES, "sources": [id]})


def test_an_addition_names_what_it_shows_and_removes_just_that():
    added = [one for one in map(programs.get, suites.load("v1").programs) if one.category in ADDITIONS]
    for program in added:
        forward, backward = program.cycle
        thing = program.shows.removeprefix("a ").split(" on the ")[0].split(" in the ")[0].split()[-1]
        assert forward.startswith("add ")
        assert backward.startswith("remove ")
        assert thing in forward
        assert thing in backward
    assert len(added) > 20


def test_a_cross_edit_takes_back_both_in_one_of_the_two_orders():
    crossed = [one for one in programs.load().values() if one.category == "cross edits"]
    for program in crossed:
        things = [words.split()[-1] if "left" not in words else "chair" for words in program.cycle]
        first, second, third, fourth = things
        assert {first, second} == {third, fourth}
        assert (third == second) == program.id.endswith("nested")
    assert crossed


def test_no_id_is_given_twice():
    for module, what in ((programs, "program"), (catalogue, "source")):
        path = Path(module.__file__).with_name(f"{what}s.toml")
        ids = [row["id"] for row in tomllib.loads(path.read_text())[what]]
        assert len(ids) == len(set(ids))


def test_a_program_with_a_wrong_field_is_refused():
    with pytest.raises(UserError, match="program 'x' has no field kycle; its fields are id, cycle"):
        programs.from_row({"id": "x", "kycle": ["add"]})
    with pytest.raises(UserError, match="program 'x' lacks closes, reversibility; its fields are"):
        programs.from_row({"id": "x", "cycle": ["add"], "category": "c"})


def test_the_verbs_list_suites_and_gather_their_pictures(tmp_path):
    told = invoke("list", "suites", "--json")
    rows = {row["name"]: row for row in json.loads(told.output)}
    assert rows["v1"]["sources"] == 100
    assert rows["restoration"]["chains"] == 1092 + 2 * 364
    brought = invoke("list", "sources", "smoke", "--out", tmp_path)
    assert brought.exit_code == 0, brought.output
    assert {path.name for path in tmp_path.iterdir()} == {".sources", "astronaut.png", "coffee.png"}
    wrong = invoke("list", "sources", "v2", "--out", tmp_path)
    assert wrong.exit_code == 2
