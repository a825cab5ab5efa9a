"""The Space's data: found by Parquet's index, shown as files, judged like the report."""

import io
import shutil

import numpy as np
import pytest
import small_dataset
from convergebench.spaces_app.reporting import load
from convergebench.spaces_app.space import board, chain_view, chains_tab, curve_view, metrics_view, spent, story
from convergebench.spaces_app.space.board import Choice
from convergebench.spaces_app.space.board_html import table
from convergebench.spaces_app.space.previews import Previews, Unseen
from convergebench.spaces_app.space.store import Unknown, opened
from convergebench.spaces_app.statistics.report import report
from PIL import Image


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("space") / "convergebench")


@pytest.fixture(scope="module")
def store(folder):
    return opened(str(folder))


@pytest.fixture
def previews(store, tmp_path):
    return Previews(store, tmp_path / "previews")


def chain_of(store, editor, source="harbour", program="hat"):
    return store.by_choice[editor, source, program][0]


def test_every_chain_is_found_by_the_footers_with_all_of_its_steps(store):
    for chain in store.chains.values():
        found = store.steps.find(chain)
        assert sorted(found) == list(range(2 * small_dataset.ROUNDS + 1))
        assert {row["chain"] for _, row in found.values()} == {chain["chain"]}


def test_a_picture_costs_one_row_group_of_one_file(folder, tmp_path):
    side = 700  # large enough for several row groups
    big = small_dataset.picture(1, 1.0, side)
    made = small_dataset.write(tmp_path / "big", answer=lambda editor, step: big)
    store = opened(str(made))
    read = []
    whole = store.steps.opened

    def counted(file):
        handle = whole(file)
        one = handle.read_row_group
        handle.read_row_group = lambda group, **options: (
            read.append((file, group, options["columns"])) or one(group, **options)
        )
        return handle

    store.steps.opened = counted
    chain = store.chain(chain_of(store, "fading"))
    place, _ = store.steps.find(chain)[8]
    read.clear()
    assert store.steps.picture(place) == big
    assert read == [(place.file, place.group, ["image"])]
    assert place.group > 0


def test_the_leaderboard_is_the_reports_own(folder, store):
    calls = load.rows(folder, "steps", load.CALLS)
    made = report(load.rows(folder, "scores"), load.rows(folder, "chains"), load.rows(folder, "floors"), calls)
    keys = ("editor", "rank", "half_life_text", "rounds_kept", "rounds_kept_low", "rounds_kept_high", "cause", "cases")
    theirs = [[row.get(key) for key in keys] for row in made.tables["leaderboard"].rows]
    ours = board.board(store).table.rows
    assert [[row.get(key) for key in keys] for row in ours] == theirs
    assert len(theirs) == len(small_dataset.EDITORS)
    for key in ("cost", "seconds"):
        assert [row[key] for row in ours] == pytest.approx([row[key] for row in made.tables["leaderboard"].rows])


def test_cost_and_time_a_round_are_numbers_and_blank_where_nobody_said(store):
    rows = {row["editor"]: row for row in board.board(store).table.rows}
    assert (rows["fading"]["cost"], rows["identity"]["cost"]) == (pytest.approx(0.08), None)
    assert rows["fading"]["seconds"] == pytest.approx(2 * 1.16)  # two calls a round
    text = table(board.board(store))
    assert '<td class="cb-n" data-value="0.08">$0.080</td>' in text
    assert '<td class="cb-n" data-value="">–</td>' in text
    assert '<button type="button" data-sort>Time a round</button>' in text


def test_without_the_steps_at_hand_the_chains_say_what_a_round_cost(store, monkeypatch):
    monkeypatch.setattr("convergebench.spaces_app.space.store.MANY", 0)
    rows = {row["editor"]: row for row in board.board(opened(str(store.folder))).table.rows}
    assert (rows["fading"]["cost"], rows["identity"]["cost"]) == (pytest.approx(0.08), None)
    assert all(row["seconds"] is None for row in rows.values())
    assert "Time a round" not in table(board.board(opened(str(store.folder))))


def test_a_refusal_is_no_call_that_a_round_is_made_of(tmp_path):
    made = opened(str(small_dataset.write(tmp_path / "no", answer=lambda _, step: b"" if step == 4 else None)))
    near, far = made.calls, spent.of_chains(made.chains.values())
    assert {chain: call["cost"] for chain, call in far.items()} == pytest.approx(
        {chain: call["cost"] for chain, call in near.items() if call["cost"] is not None}
    )


def test_the_threshold_moves_rounds_kept(store):
    kept = [
        {row["editor"]: row["rounds_kept"] for row in board.board(store, Choice(threshold=each)).table.rows}
        for each in (0.2, 0.5, 0.8)
    ]
    assert [each["fading"] for each in kept] == sorted((each["fading"] for each in kept), reverse=True)
    assert kept[0]["fading"] > kept[2]["fading"]
    assert all(each["identity"] == 0 for each in kept)


def test_one_metric_can_be_asked_for_alone(store):
    alone = {row["editor"]: row["rounds_kept"] for row in board.board(store, Choice(metric="rmse")).table.rows}
    assert alone["identity"] == small_dataset.ROUNDS  # it makes no edit, and pixels do not mind
    assert alone["fading"] < small_dataset.ROUNDS


WRONG = [
    {"kind": "../etc"},
    {"metric": "pnsr"},
    {"threshold": 0},
    {"threshold": float("nan")},
    {"editors": ("nobody",)},
    {"category": "<b>"},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_choice_that_is_not_there_is_refused_with_what_there_is(store, wrong):
    with pytest.raises(Unknown, match=r"it is one of|lies above 0"):
        board.board(store, Choice(**wrong))


def test_numbers_stay_numbers_in_the_table_and_names_are_text(tmp_path):
    hostile = {'<img src=x onerror="alert(1)">': 0.1, "steady & quiet": 0.02}
    made = opened(str(small_dataset.write(tmp_path / "hostile", hostile)))
    text = table(board.board(made))
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in text
    assert 'data-value="4.0"' in text
    assert "<img src=x" not in story.story(made)
    assert "<img src=x" not in chains_tab.viewer(made, next(iter(made.chains)))


def test_reference_rows_are_not_counted_as_editors(store):
    text = story.story(store)
    assert "<b>2</b>editors" in text
    assert "<b>1</b>reference row</span>" in text


def test_curves_fall_and_single_chains_are_there_to_point_at(store):
    rows = curve_view.rows(store, Choice(), "quality")
    fading = [row["mean"] for row in rows if row["editor"] == "fading"]
    assert fading == sorted(fading, reverse=True)
    assert len(fading) == small_dataset.ROUNDS
    plain = len(curve_view.figure(store, Choice(), "quality").data)
    drawn = curve_view.figure(store, Choice(), "quality", single=True)
    assert len(drawn.data) == plain + len(store.chains)
    assert drawn.layout.hovermode == "closest"  # one is pointed at, not all that pass there
    assert "fading: harbour, hat" in {line.name for line in drawn.data}


def test_a_chain_is_told_in_full(store):
    view = chain_view.view(store, chain_of(store, "fading"))
    step = view["steps"][3]
    assert (step["instruction"], step["seed"], step["cost"], step["text"]) == ("add a hat", 1003, 0.04, "I did it.")
    assert step["reasons"] == {"clip": "there are no weights here"}
    assert view["lost_at"] == view["kept"] + 1
    assert list(view["curves"]) == ["rmse", "ssim", "lpips"]


def test_worst_and_longest_are_what_they_say(store):
    assert store.chains[chain_view.pick(store, "worst")]["editor"] == "fading"
    assert store.chains[chain_view.pick(store, "longest")]["editor"] == "steady"
    with pytest.raises(Unknown, match="surprise, worst, longest"):
        chain_view.pick(store, "best")


def test_an_address_is_read_with_suspicion(store):
    chain, other = chain_of(store, "fading"), chain_of(store, "steady")
    asked = chains_tab.Opening(
        store, {"chain": chain, "beside": other, "step": "3", "view": "difference", "gain": "16"}
    )
    assert (asked.chain, asked.beside, asked.step, asked.mode, asked.gain) == (chain, "steady", 3, "difference", "16")
    bad = {
        "chain": "../../etc/passwd",
        "beside": "<x>",
        "step": "-1",
        "view": "x' onload='y",
        "gain": "9e9",
        "editor": "?",
    }
    asked = chains_tab.Opening(store, bad)
    assert (asked.chain, asked.beside, asked.step, asked.mode, asked.gain) == (None, "nobody", None, "", "")


def test_a_preview_is_made_once_and_the_bytes_as_received_stay_exact(store, previews):
    chain = chain_of(store, "fading")
    first = previews.path(chain, 3)
    stamp = first.stat().st_ino
    assert previews.path(chain, 3) == first
    assert first.stat().st_ino == stamp
    place, _ = store.steps.find(store.chain(chain))[3]
    assert previews.path(chain, 3, "received").read_bytes() == store.steps.picture(place)
    with Image.open(previews.path(chain, 3, "thumb")) as thumb:
        assert thumb.size == (small_dataset.SIDE, small_dataset.SIDE)


def test_a_difference_is_black_where_nothing_changed(store, previews):
    same = np.asarray(Image.open(previews.path(chain_of(store, "identity"), 4, "difference", 32)))
    other = np.asarray(Image.open(previews.path(chain_of(store, "fading"), 4, "difference", 4)))
    assert same.max() == 0
    assert other.mean() > 10


def test_previews_keep_to_their_limit_and_never_lose_what_was_just_made(store, tmp_path, monkeypatch):
    small = Previews(store, tmp_path / "few", limit=20_000)
    monkeypatch.setattr("convergebench.spaces_app.space.previews.YOUNG", -1.0)
    for chain in store.chains:
        for step in range(9):
            assert small.path(chain, step, "view").exists()
    assert sum(path.stat().st_size for path in small.folder.iterdir()) <= 20_000
    monkeypatch.setattr("convergebench.spaces_app.space.previews.YOUNG", 60.0)
    kept = [small.path(chain, 1) for chain in store.chains]
    assert all(path.exists() for path in kept)


TRICKS = [
    (("../../etc/passwd", 1, "view", 8), "no chain '../../etc/passwd'"),
    ((None, 99, "view", 8), "its steps are 0 to 8"),
    ((None, 1, "../view", 8), "the kinds are thumb"),
    ((None, 1, "difference", 10**9), "it is one of 1, 2, 4"),
]


@pytest.mark.parametrize(("asked", "words"), TRICKS)
def test_no_argument_names_a_file(store, previews, asked, words):
    chain, *rest = asked
    with pytest.raises(Unknown, match=words):
        previews.path(chain or next(iter(store.chains)), *rest)
    assert list(previews.folder.iterdir()) == []


def bomb():
    """A PNG of a few kilobytes that unpacks to 900 million pixels."""
    import struct
    import zlib

    header = struct.pack(">IIBBBBB", 30000, 30000, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(30001 * 200), 9)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + body


ODD = [
    (bomb(), "more than the 40,000,000 pixels"),
    (b"<svg onload='alert(1)'/>", "not a picture"),
    (b"GIF89a", r"the 6 bytes received are not a picture that can be shown$"),
    (small_dataset.picture(1)[:400], "cannot be decoded"),
]


@pytest.mark.parametrize(("data", "words"), ODD)
def test_what_is_no_bearable_picture_is_not_shown_and_says_why(tmp_path, data, words):
    made = opened(str(small_dataset.write(tmp_path / "odd", answer=lambda _, step: data if step == 3 else None)))
    shown = Previews(made, tmp_path / "previews")
    chain = chain_of(made, "fading")
    with pytest.raises(Unseen, match=words):
        shown.path(chain, 3)
    if words != "cannot be decoded":
        with pytest.raises(Unseen):
            shown.path(chain, 3, "received")
    assert shown.path(chain, 2).exists()


def test_bytes_of_another_type_are_not_handed_on(tmp_path):
    gif = io.BytesIO()
    Image.new("RGB", (70, 70), "red").save(gif, "GIF")
    made = opened(str(small_dataset.write(tmp_path / "gif", answer=lambda editor, step: gif.getvalue())))
    shown = Previews(made, tmp_path / "previews")
    assert shown.path(next(iter(made.chains)), 1).suffix == ".jpg"
    with pytest.raises(Unseen, match="GIF"):
        shown.path(next(iter(made.chains)), 1, "received")


def test_a_refusal_is_told_in_its_own_words(tmp_path):
    made = opened(str(small_dataset.write(tmp_path / "no", answer=lambda editor, step: b"" if step == 4 else None)))
    shown = Previews(made, tmp_path / "previews")
    chain = chain_of(made, "steady")
    with pytest.raises(Unseen, match="not allowed to edit this"):
        shown.path(chain, 4)
    view = chain_view.view(made, chain)
    assert (view["cause"], view["lost_at"], view["steps"][-1]["status"]) == ("refused", 2, "refused")


def test_a_rebuilt_dataset_never_shows_old_pictures(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVERGEBENCH_PREVIEWS", str(tmp_path / "cache"))
    copy = shutil.copytree(folder, tmp_path / "convergebench")
    before = Previews(opened(str(copy))).folder
    small_dataset.write(copy, answer=lambda editor, step: small_dataset.picture(9))
    assert Previews(opened(str(copy))).folder != before
    assert before.is_relative_to((tmp_path / "cache").resolve())


def test_metrics_agree_where_they_were_made_to(store):
    found = metrics_view.agreement(store)
    assert found["metrics"] == ["RMSE", "SSIM", "LPIPS"]
    assert np.allclose(found["correlation"], 1)
    assert found["returns"] == len(store.chains) * small_dataset.ROUNDS
    assert found["lowest"]["LPIPS"] == 1  # it falls with the power of one and a half
    curves = metrics_view.curves(store, chain_of(store, "fading"))
    assert [row["round"] for row in curves if row["metric"] == "SSIM"] == [1, 2, 3, 4]


def test_what_is_no_dataset_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(Unknown, match="is no dataset"):
        opened(str(tmp_path))
    with pytest.raises(Unknown, match="give a folder that exists here or a Hub repo"):
        opened(str(tmp_path / "nowhere"))
    made = small_dataset.write(tmp_path / "unscored")
    shutil.rmtree(made / "data" / "scores")
    with pytest.raises(Unknown, match="convergebench score"):
        opened(str(made))
