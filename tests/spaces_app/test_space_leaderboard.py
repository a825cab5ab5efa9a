"""The Space's leaderboard and first screen: judged like the report, under any choice of a visitor."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dataset
from convergebench.dataset_builder.dataset.reader import Reader
from convergebench.generation.records import UserError
from convergebench.spaces_app.reporting.write import CALLS
from convergebench.spaces_app.space.leaderboard import Choice, leaderboard
from convergebench.spaces_app.space.leaderboard_tab import leaderboard_html
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.space.shell import shell_html
from convergebench.spaces_app.space.story import story_cases, story_html
from simulated import report


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(str(folder))


def test_the_leaderboard_is_the_reports_own(folder, dataset):
    reader = Reader(folder)
    scores, chains, floors = (list(reader.rows(name)) for name in ("scores", "chains", "floors"))
    made = report(scores, chains, floors, reader.table("steps", CALLS).to_pylist())
    keys = ("editor", "rank", "half_life_text", "rounds_kept", "rounds_kept_low", "rounds_kept_high", "cause", "cases")
    theirs = [[row.get(key) for key in keys] for row in made.tables["leaderboard"].rows]
    ours = leaderboard(dataset).table.rows
    assert [[row.get(key) for key in keys] for row in ours] == theirs
    assert len(theirs) == len(small_dataset.EDITORS)
    for key in ("cost", "seconds"):
        assert [row[key] for row in ours] == pytest.approx([row[key] for row in made.tables["leaderboard"].rows])


def test_cost_and_time_a_round_are_numbers_and_blank_where_nobody_said(dataset):
    rows = {row["editor"]: row for row in leaderboard(dataset).table.rows}
    assert (rows["fading"]["cost"], rows["identity"]["cost"]) == (pytest.approx(0.08), None)
    assert rows["fading"]["seconds"] == pytest.approx(2 * 1.16)  # two calls a round
    text = leaderboard_html(leaderboard(dataset), dataset)
    assert '<td data-col="cost" class="cb-n" data-value="0.08"><span class="cb-value">$0.080</span>' in text
    assert '<td data-col="cost" class="cb-n" data-value=""><span class="cb-value">–</span>' in text
    assert '<button type="button" data-sort>Seconds a round</button>' in text


def test_the_threshold_moves_rounds_kept(dataset):
    kept = [
        {row["editor"]: row["rounds_kept"] for row in leaderboard(dataset, Choice(threshold=each)).table.rows}
        for each in (0.2, 0.5, 0.8)
    ]
    assert [each["fading"] for each in kept] == sorted((each["fading"] for each in kept), reverse=True)
    assert kept[0]["fading"] > kept[2]["fading"]
    assert all(each["identity"] == 0 for each in kept)


def test_one_metric_can_be_asked_for_alone(dataset):
    alone = {row["editor"]: row["rounds_kept"] for row in leaderboard(dataset, Choice(metric="rmse")).table.rows}
    assert alone["identity"] == small_dataset.ROUNDS  # it makes no edit, and pixels do not mind
    assert alone["fading"] < small_dataset.ROUNDS


WRONG = [
    {"kind": "../etc"},
    {"metric": "pnsr"},
    {"threshold": 0},
    {"threshold": float("nan")},
    {"editors": ("none",)},
    {"category": "<b>"},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_choice_that_is_not_there_is_refused_with_what_there_is(dataset, wrong):
    with pytest.raises(UserError, match=r"it is one of|lies above 0"):
        leaderboard(dataset, Choice(**wrong))


def test_numbers_stay_numbers_in_the_table_and_names_are_text(tmp_path):
    hostile = {'<img src=x onerror="alert(1)">': 0.1, "steady & quiet": 0.02}
    made = open_dataset(str(small_dataset.write(tmp_path / "hostile", hostile)))
    text = leaderboard_html(leaderboard(made), made)
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=&#34;alert(1)&#34;&gt;" in text
    assert 'data-value="4.0"' in text
    assert "<img src=x" not in shell_html(made)
    assert "<img src=x" not in story_html(made)


def test_baselines_are_not_counted_as_editors(dataset):
    assert "2 editors, 1 baseline, 2 pictures" in shell_html(dataset)
    text = leaderboard_html(leaderboard(dataset), dataset)
    assert ">Baselines, not ranked</th>" in text
    assert "returns its input unchanged" in text
    assert '<span class="cb-value cb-words-only">makes no edits</span>' in text  # not 0.0, as if it had tried


def test_the_story_says_best_and_worst_and_names_the_reason_of_a_loss(dataset):
    text = story_html(dataset)
    words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "Best: steady survives 4.0 of 4 rounds. Worst: fading ," in words
    assert re.search(r"lost in round \d: LPIPS \d+% < 50%", words.replace("&lt;", "<"))
    assert text.count('class="cb-loss"') == 1  # the frame in which it was lost, and no other
    assert "edited 1" in words
    found = leaderboard(dataset)
    cases = story_cases(found)
    assert story_html(dataset, len(cases)) == text  # the cases go round


def test_a_lost_frame_never_shows_a_share_above_the_limit(dataset):
    for place in range(4):
        for share in re.findall(r"<b>(\d+)%</b> <em>lost</em>", story_html(dataset, place)):
            assert int(share) < 50


def test_an_editor_with_fewer_metrics_stands_apart_with_its_reason(tmp_path):
    folder = small_dataset.write(tmp_path / "fewer")
    path = folder / "data" / "scores" / "0000.parquet"
    scores = pq.read_table(path)
    values = [row | {"retained_ssim": None} if row["editor"] == "fading" else row for row in scores.to_pylist()]
    pq.write_table(pa.Table.from_pylist(values, scores.schema), path)
    found = leaderboard(open_dataset(str(folder)))
    rows = {row["editor"]: row for row in found.table.rows}
    assert (rows["fading"]["role"], rows["steady"]["role"]) == ("editors listed apart", "editors")
    text = leaderboard_html(found, open_dataset(str(folder)))
    assert ">Editors listed apart</th>" in text
    assert ">not checked, because its scores lack it: SSIM</span>" in text
