"""What must not be published is found before anything leaves."""

import shutil
from dataclasses import replace

import pytest
from convergebench.dataset_builder.building import card
from convergebench.dataset_builder.dataset import schema
from convergebench.dataset_builder.dataset.columns import Column
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.dataset_builder.dataset.rows import CHAINS, configs
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
