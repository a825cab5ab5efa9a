"""A small part of `make red-team`: dishonest editors are listed apart, an honest one beside them is not."""

import pytest
from convergebench.spaces_app.studies.honesty.apart import UNJUDGED
from red_team.run import analysis_of, play, red_team_plan, result_rows

SOURCES, PROGRAMS = ("coffee", "rocket", "chelsea", "gravel"), ("red-ball", "blue-book", "chair-left")
METRICS = ("psnr", "honesty")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    made = red_team_plan(
        ["under-the-edit", "one-disc"], ["paint:wear=0"], SOURCES, PROGRAMS, 1, b"a salt for the tests"
    )
    return {
        row["editor"]: row
        for row in result_rows(analysis_of([play(made, tmp_path_factory.mktemp("red_team"), METRICS)]))
    }


def test_cheats_are_listed_apart_and_paint_is_not(rows):
    assert "it knew several times what its edits covered" in rows["under-the-edit"]["apart"]
    assert "it makes the same change whatever is asked" in rows["one-disc"]["apart"]
    assert set(rows["paint:wear=0.0"]["apart"]) <= {UNJUDGED}  # so few cases may draw no audit
