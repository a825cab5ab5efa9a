"""The programs cover what the studies ask for, in their words."""

import tomllib
from pathlib import Path

import pytest
from convergebench.generation import programs, suites
from convergebench.generation.records import UserError
from convergebench.generation.sources import catalogue

ALL = programs.load()
V1 = [programs.get(id) for id in suites.load("v1").programs]


def of(category: str):
    return [program for program in V1 if program.category == category]


@pytest.mark.parametrize(
    "cycle",
    [
        ("add glasses", "remove glasses"),
        ("add hat", "remove hat"),
        ("add earrings", "remove earrings"),
        ("add a chair on the left", "remove the chair"),
        ("add a red ball", "remove the red ball"),
        ("flip horizontally", "flip horizontally"),
        ("rotate 90° clockwise", "rotate 90° counter-clockwise"),
        ("Produce an exact replica of the provided image, with no alterations.",),
    ],
)
def test_the_studies_own_edits_are_there_word_for_word(cycle):
    assert cycle in [program.cycle for program in V1]


@pytest.mark.parametrize("program", ALL.values(), ids=lambda program: program.id)
def test_every_program_gives_the_reason_for_its_class(program):
    assert program.reason
    assert program.fits
    expected = {"geometric": "exact", "accessories": "clear", "scene objects": "clear", "cross edits": "clear"}
    assert program.reversibility == expected.get(program.category, program.reversibility)


@pytest.mark.parametrize("program", [*of("accessories"), *of("scene objects")], ids=lambda program: program.id)
def test_an_addition_names_what_it_shows_and_removes_just_that(program):
    forward, backward = program.cycle
    assert forward.startswith("add ")
    assert backward.startswith("remove ")
    assert program.shows
    thing = program.shows.removeprefix("a ").split(" on the ")[0].split(" in the ")[0].split()[-1]
    assert thing in forward
    assert thing in backward


@pytest.mark.parametrize("program", of("cross edits"), ids=lambda program: program.id)
def test_a_cross_edit_takes_back_both_in_one_of_the_two_orders(program):
    things = [words.split()[-1] if "left" not in words else "chair" for words in program.cycle]
    first, second, third, fourth = things
    assert {first, second} == {third, fourth}
    assert (third == second) == program.id.endswith("nested")


def test_the_restoration_prompts_have_the_studys_lengths():
    words = {id: len(ALL[id].cycle[0].split()) for id in suites.load("restoration").programs}
    assert len(words) == 12
    for start, low, high in (("s", 28, 30), ("sf", 26, 28), ("l", 34, 47), ("lf", 32, 38)):
        group = [count for id, count in words.items() if id.rstrip("123") == f"restore-{start}"]
        assert len(group) == 3
        assert low <= min(group)
        assert max(group) <= high


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
