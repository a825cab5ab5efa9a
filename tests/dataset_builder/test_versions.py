"""Which of major, minor and patch a change asks for."""

import re

import pytest
from convergebench.dataset_builder.publishing import publish as versions
from convergebench.generation.records import UserError


def state(chains="a", schema=("chain",), suite="1", **rows):
    """A version with these chains, columns of `steps` and rows of further configs."""
    configs = {name: (("chain",), count) for name, count in rows.items() if isinstance(count, int)}
    configs |= {name: value for name, value in rows.items() if isinstance(value, tuple)} | {"steps": (schema, 10)}
    infos = {
        name: {"features": [{"name": n, "dtype": "string"} for n in columns], "splits": [{"num_examples": count}]}
        for name, (columns, count) in configs.items()
    }
    return infos, frozenset((chain, {"a": "paint"}.get(chain, "jpeg"), "demo", suite) for chain in chains)


OLD, MORE, WIDER = state(), state("ab"), state("ab", ("chain", "mood"))
SCORED = state(scores=9)


@pytest.mark.parametrize(
    ("old", "new", "level", "says"),
    [
        (OLD, OLD, "patch", "the card changed"),
        (OLD, MORE, "minor", "1 chain added, with the editors jpeg"),
        (OLD, SCORED, "minor", "the config scores is new"),
        (SCORED, state(scores=20), "minor", "scores went from 9 to 20 rows"),
        (MORE, WIDER, "major", r"the schema of steps changed \(\+mood:string\)"),
        (WIDER, MORE, "major", r"the schema of steps changed \(-mood:string\)"),
        (MORE, OLD, "major", "1 chain gone"),
        (SCORED, OLD, "major", "the config scores is gone"),
        (OLD, state(suite="2"), "major", "suite demo went from version 1 to 2"),
    ],
)
def test_the_level_is_that_of_the_largest_change(old, new, level, says):
    change = versions._describe_change(old, new)
    assert change[0] == level
    assert re.match(says, change[1][0])
    wider = state(scores=(("chain", "niqe"), 9))  # a metric added to the scores
    assert versions._describe_change(SCORED, wider, has_other_files=True) == ("minor", ["data files changed"])


@pytest.mark.parametrize(
    ("tag", "old", "new", "says"),
    [
        ("v1.0.1", OLD, MORE, "v1.0.1 is a patch version after v1.0.0, but 1 chain added.* a minor version"),
        ("v1.1.0", MORE, WIDER, "is a minor version .*, but the schema of steps changed .* a major version"),
        ("v0.9.0", OLD, OLD, "the tag v0.9.0 does not come after the last one, v1.0.0"),
        ("1.0", OLD, OLD, "'1.0' is not a tag; a tag is vMAJOR.MINOR.PATCH"),
        ("v1.01.0", OLD, OLD, "'v1.01.0'"),
    ],
)
def test_a_tag_that_promises_less_than_the_change_is_refused(tag, old, new, says):
    with pytest.raises(UserError, match=says):
        versions._check_tag(tag, ["v1.0.0", "a-branch-point"], versions._describe_change(old, new))


def test_a_tag_that_promises_enough_is_taken():
    for tag, tags in (("v1.1.0", ["v1.0.0", "v0.1.0"]), ("v2.0.0", ["v1.0.0"]), ("v0.3.0", [])):
        versions._check_tag(tag, tags, versions._describe_change(OLD, MORE))
