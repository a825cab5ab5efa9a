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
