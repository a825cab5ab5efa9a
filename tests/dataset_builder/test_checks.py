"""What must not be published, or not under this version, is found before anything leaves."""

import re
import shutil
from dataclasses import replace

import pytest
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.columns import Column
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import CHAINS, configs
from convergebench.dataset_builder.publishing import publish as versions
from convergebench.dataset_builder.publishing.publish import publish
from convergebench.generation.records import UserError
from hub_fixtures import REPO

pytest_plugins = ["hub_fixtures"]


def rewrite(file, **changes):
    """Write a file's rows again with some values changed, and the card with them."""

    def damage(folder):
        config = configs()[file.split("/")[1]]
        rows = [row | changes for row in Reader(folder).rows(file.split("/")[1])]
        schema.write(
            folder / file, config, [row for row in rows if row.get("editor", "paint") == "paint"], folder
        )
        card.write(folder, configs())

    return damage


def with_another_column(folder):
    wider = replace(CHAINS, columns=(*CHAINS.columns, Column("mood", "string", "")))
    rows = [row | {"mood": "calm"} for row in Reader(folder).rows("chains")]
    schema.write(folder / "data/chains/0000.parquet", wider, rows, folder)
    card.write(folder, configs())


def without_a_step(folder):
    steps = [row for row in Reader(folder).rows("steps") if row["editor"] == "paint"]
    schema.write(folder / STEPS, configs()["steps"], steps[:-1], folder)
    card.write(folder, configs())


def edit(old, new):
    def damage(folder):
        path = folder / "README.md"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return damage


STEPS = "data/steps/paint/0000.parquet"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "README.md").unlink(), "has no card"),
        (lambda folder: shutil.rmtree(folder / "data/chains"), "has no data/chains"),
        (
            lambda folder: shutil.rmtree(folder / "data/scores"),
            "the card describes .*'scores'.* but there are files of",
        ),
        (
            lambda folder: shutil.copy(folder / "data/chains/0000.parquet", folder / STEPS),
            "has other columns than the first file of steps",
        ),
        (
            edit("num_examples: 10", "num_examples: 11"),
            "the card counts other rows of steps than the 10 in its files",
        ),
        (edit("content sha256 ", "content sha256 0"), "are not those the card was written for"),
        (
            edit("## Cite", "by hf_" + "abcdefghijklmnopqrstuvwx"),
            "README.md holds what looks like an access token",
        ),
        (edit("## Cite", "see /home/ada/data"), "README.md holds the local path '/home/ada'"),
        (rewrite("data/sources/0000.parquet", licence=""), "source 'source-1' has no known licence"),
        (rewrite("data/sources/0000.parquet", attribution=""), "source 'source-1' has no known attribution"),
        (with_another_column, r"data/chains/0000.parquet does not have the columns of chains in this"),
        (without_a_step, r"chain \w+ has 4 steps instead of 5; affected: the scores"),
        (rewrite(STEPS, sha256="0" * 64), "is not the picture of its sha256"),
        (rewrite(STEPS, image=None), "is 'input' but has no picture"),
        (
            rewrite(STEPS, details='{"url":"Bearer abcdefghijklmnop"}'),
            "column details holds what looks like an access",
        ),
        (rewrite(STEPS, text="saved to C:\\Users\\ada"), r"column text holds the local path"),
        (rewrite(STEPS, text="my key is correct-horse-battery"), "column text holds the value of SOME_API_KEY"),
    ],
)
def test_what_must_not_be_published_is_named_before_upload(hub, api, folder, monkeypatch, damage, says):
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    damage(folder)
    with pytest.raises(UserError, match=says) as caught:
        publish(api, folder, REPO, "v1.0.0")
    assert hub.log == []
    assert "correct-horse" not in str(caught.value)
    assert "abcdefghijklmnop" not in str(caught.value)


# Which of major, minor and patch a change asks for


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
