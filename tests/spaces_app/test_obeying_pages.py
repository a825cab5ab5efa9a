"""What the pages say beside the numbers obeys the statistics, the filters and one vocabulary."""

import gzip
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import small_dataset
from convergebench.spaces_app.analysis.groups import ROLES
from convergebench.spaces_app.crops import box_around
from convergebench.spaces_app.reporting.filmstrips import typical_strips
from convergebench.spaces_app.reporting.headline import headline, scored_on, stamp
from convergebench.spaces_app.reporting.hero import draw_hero, editors_for_strips
from convergebench.spaces_app.reporting.write import headline_with_picture
from convergebench.spaces_app.space.chains.tab import chain, pick, picture
from convergebench.spaces_app.space.curves.tab import _curves_figure, curves
from convergebench.spaces_app.space.failures.tab import failures
from convergebench.spaces_app.space.headline import leaderboard
from convergebench.spaces_app.space.leaderboard.tab import comparisons_html, page_data, story, which_editor
from convergebench.spaces_app.space.page import page_files
from convergebench.spaces_app.space.served_dataset import open_dataset


@pytest.fixture(scope="module")
def twelve(twelve_folder):
    return open_dataset(str(twelve_folder))


def test_a_crop_holds_what_was_asked_and_what_broke():
    for size in ((512, 512), (300, 900), (900, 300)):
        places = [(0.1, 0.2), (0.6, 0.9)]
        left, top, right, bottom = box_around(size, places)
        assert 0 <= left < right <= size[0]
        assert 0 <= top < bottom <= size[1]
        assert all(left <= x * size[0] <= right and top <= y * size[1] <= bottom for x, y in places)
    left, top, right, bottom = box_around((512, 512), [(0.3, 0.3)])
    assert (right - left) < 0.6 * 512


def test_restorations_open_in_every_tab_beside_the_clean_picture(tmp_path):
    """No headline counts them, and a clean picture is the reference."""
    restored = open_dataset(str(small_dataset.write_study(tmp_path / "convergebench", "restoration")))
    found = curves(restored, "ssim")
    assert {line["editor"] for line in found["curves"]} == {"fading", "steady", "identity"}
    assert all(len(line["points"]) == small_dataset.ROUNDS for line in found["curves"])
    assert failures(restored)["total"] == 0
    view = chain(restored, pick(restored, "worst"))
    assert view["against"] == "clean picture"
    assert [step["label"] for step in view["steps"][:2]] == ["degraded", "restored 1"]
    addresses = [picture(restored, view["chain"], 0, kind)["url"] for kind in ("reference", "view")]
    assert addresses[0] != addresses[1]
    assert "No headline counts these tests (restoration)." in story(restored)
    assert page_data(restored)["metrics"] == []


def test_refusals_count_as_failures_if_nothing_returns(tmp_path):
    """Of programs that only add, which no headline counts."""
    refuses = {"answer": lambda editor, step: b"" if editor == "fading" and step == 4 else None}
    made = open_dataset(str(small_dataset.write_study(tmp_path / "additions", "additions", **refuses)))
    assert (list(made.groups), list(made.uncounted)) == ([], ["additions"])
    lost = failures(made, "fading")["rows"]
    assert [row["cause"] for row in lost] == ["refused"] * 4
    assert lost[0]["verdict"].startswith("fails in round 3 of 4: ")
    assert which_editor(made, 2)["editors"] == []
    [line] = [line for line in curves(made, "kept")["curves"] if line["editor"] == "fading"]
    assert line["points"][-1][1] == 0


def test_the_first_screen_is_small_on_the_wire_and_has_no_raw_id(twelve):
    page = page_files(twelve)["index.html"]
    assert len(gzip.compress(page)) < 24_000
    assert "openai:model=" not in re.sub(r"<[^>]+>", " ", page.decode())


def test_what_is_saved_has_bands_names_version_and_date(twelve):
    drawn = _curves_figure(twelve, "kept")
    [axes] = drawn.figure.axes
    _, labels = axes.get_legend_handles_labels()
    assert labels[5] == "7 others"
    assert len(axes.collections) == 5  # a band for each that is named
    assert all(band.get_paths()[0].vertices[:, 1].std() > 0 for band in axes.collections)
    svg = replace(drawn, stamp=stamp(twelve.version, twelve.reader)).file("svg").decode()
    assert re.search(r"ConvergeBench · small v1 · scored \d+ \w{3} \d{4}", svg)


def test_the_hero_picture_marks_the_round_of_the_loss(twelve):
    board = leaderboard(twelve)
    tested = [row.editor for row in board.typed_rows if row.role == "editors"]
    strips = typical_strips(twelve, board.group, tested, editors_for_strips(board.typed_rows), twelve.reader)
    assert [strip.label for strip in strips] == [tested[0], tested[-1]]
    drawn = draw_hero(twelve, board.typed_rows, strips, twelve.looks)
    assert drawn.title == headline(board.typed_rows)[0]
    *_, curve = drawn.figure.axes
    for strip, line in zip(strips, curve.get_lines(), strict=False):
        lost = re.match(r"fails in round (\d+) of 10", strip.why)
        assert [frame["is_loss"] for frame in strip.frames].count(True) == bool(lost)
        if lost:
            assert line.get_ydata()[int(lost[1])] < 1


def test_card_report_and_space_have_the_same_headline(twelve):
    words, picture = headline_with_picture(twelve.folder)
    answer, scope = headline(leaderboard(twelve).typed_rows, scored_on(twelve.reader))
    assert words == f"{answer} {scope}"
    assert picture[:4] == b"\x89PNG"


def test_a_pair_with_a_winner_stands_beside_pairs_without_one():
    numbers = {"difference": 1.5, "difference_low": 0.5, "difference_high": 2.5, "cases": 40, "sources": 12}
    numbers |= {"p_value": 0.01, "p_corrected": 0.02}
    pairs = [("a", "b", "a"), ("b", "c", "open"), ("c", "d", "indicative")]
    rows = [{"first": first, "second": second, "verdict": verdict} | numbers for first, second, verdict in pairs]
    order = [SimpleNamespace(editor=name, role=ROLES["editor"]) for name in "abcd"]
    board = SimpleNamespace(typed_rows=order, versus=SimpleNamespace(rows=rows))
    said = comparisons_html(board, [], SimpleNamespace(display={name: name.upper() for name in "abcd"}))
    won, undecided, few = re.findall("<li>(.*?)</li>", said, re.S)
    assert won.startswith("A against B: +1.5 [+0.5, +2.5] rounds")
    assert won.endswith("p 0.020)")
    assert undecided.endswith("; no difference shown)")
    assert few.endswith("; too few pictures to rank)")
