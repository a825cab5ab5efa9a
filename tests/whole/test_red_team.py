"""A small part of `make red-team`: dishonest editors are listed apart, an honest one beside them is not."""

import pytest
from convergebench.metric_modules.honesty import knowledge
from convergebench.spaces_app.studies.honesty.statistics.honesty import CHECKS
from red_team.run import Studies, caught, play, red_team_plan, result_rows

SOURCES = ("coffee", "rocket", "chelsea", "gravel", "tomatoes")
PROGRAMS = ("red-ball", "blue-book")
METRICS = ("psnr", "honesty")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    names = ["under-the-edit", "rings", "paint:wear=0"]
    made = red_team_plan(names, SOURCES, PROGRAMS, 1, [b"a salt for the tests"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge, "_network", lambda: None)  # as on a machine without the weights of MI-GAN
        dataset = play(made, tmp_path_factory.mktemp("red_team"), METRICS)
        return {row["editor"]: row for row in result_rows(Studies([dataset]).of())}


def test_cheats_are_listed_apart_and_paint_is_not(rows):
    assert CHECKS["known_mean"] in rows["under-the-edit"]["apart"]
    assert caught(rows["rings"])
    assert not caught(rows["paint:wear=0.0"])
