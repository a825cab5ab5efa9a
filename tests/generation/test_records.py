"""Records: equal content has equal ids, and chains can express every protocol."""

import dataclasses

import pytest
from convergebench.generation.records import Chain, Program, Source

SOURCE = Source("dot", "0" * 64, 8, 8, "object", "synthetic", "CC0-1.0", "painted")
PROGRAM = Program("hat", ("add hat", "remove hat"), "accessories", True, "clear")
CHAIN = Chain(SOURCE, PROGRAM, "paint", {"seed": "per-step", "short_side": 8}, 1, 3)


def test_a_chains_id_is_the_same_anywhere_and_by_any_title():
    assert CHAIN.id == "b1116202f18f6ccd"
    renamed = dataclasses.replace(SOURCE, title="A dot", attribution="painted by us")
    assert dataclasses.replace(CHAIN, source=renamed).id == CHAIN.id


@pytest.mark.parametrize(
    "change",
    [
        {"source": dataclasses.replace(SOURCE, sha256="1" * 64)},
        {"source": dataclasses.replace(SOURCE, reference="2" * 64)},
        {"program": dataclasses.replace(PROGRAM, cycle=("add hat", "take the hat off"))},
        {"editor": "jpeg"},
        {"settings": {"seed": "fixed", "short_side": 8}},
        {"run": 2},
        {"rounds": 4},
    ],
)
def test_every_field_of_a_chain_is_part_of_its_id(change):
    assert dataclasses.replace(CHAIN, **change).id != CHAIN.id


def test_each_round_can_add_a_different_item():
    fruits = Program("fruits", ("Add one {item}.",), "addition", False, "clear", items=("apple", "fig"))
    asked = [words for *_, words in dataclasses.replace(CHAIN, program=fruits).asks()]
    assert asked == ["Add one apple.", "Add one fig.", "Add one apple."]


def test_a_seed_is_fixed_or_differs_by_step_and_always_by_run():
    fixed = dataclasses.replace(CHAIN, settings={"seed": "fixed", "short_side": 8})
    assert fixed.seed(1) == fixed.seed(2)
    assert CHAIN.seed(1) != CHAIN.seed(2)
    assert CHAIN.seed(1) != dataclasses.replace(CHAIN, run=2).seed(1)
