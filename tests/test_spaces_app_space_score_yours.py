"""A visitor's own series: scored like the dataset's, and refused in one sentence where it cannot be."""

import io
import zipfile

import awkward_pictures
import numpy as np
import pytest
import small_dataset
from convergebench.generation.records import UserError
from convergebench.spaces_app.space import score_yours
from PIL import Image


def unrelated(count=4):
    return [np.asarray(Image.open(io.BytesIO(small_dataset.picture(100 + each, side=80)))) for each in range(count)]


def fading(rounds=5):
    return [(f"round{each}.png", small_dataset.picture(1, min(each * 0.18, 0.95))) for each in range(1, rounds + 1)]


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return buffer.getvalue()


ORIGINAL = ("original.png", small_dataset.picture(1))


def test_an_untouched_series_keeps_everything_and_a_fading_one_dies():
    same = score_yours.score(ORIGINAL, [ORIGINAL] * 3, unrelated())
    assert [row["quality"] for row in same.rows] == [1, 1, 1]
    assert same.rows[0]["psnr"] == 100
    assert same.half_lives["quality"] == ">3"
    faded = score_yours.score(ORIGINAL, fading(), unrelated())
    kept = [row["quality"] for row in faded.rows]
    assert kept == sorted(kept, reverse=True)
    first_below = next(row["round"] for row in faded.rows if row["quality"] < 0.5)
    assert faded.half_lives["quality"] == str(first_below)


def test_the_original_among_the_unrelated_is_left_out():
    own = np.asarray(Image.open(io.BytesIO(ORIGINAL[1])))
    assert (
        score_yours.score(ORIGINAL, fading(), [own, *unrelated()]).floors
        == score_yours.score(ORIGINAL, fading(), unrelated()).floors
    )


def test_what_cannot_be_computed_is_absent_with_its_reason():
    found = score_yours.score(ORIGINAL, fading(2), unrelated(), lpips="torch is not installed")
    assert found.absent == {"lpips": "torch is not installed"}
    assert "lpips" not in found.rows[0]
    assert score_yours.score(ORIGINAL, fading(2), []).rows[0]["quality"] is None


def test_an_archive_is_read_in_the_order_of_its_names():
    files = [(f"set/round{each}.png", small_dataset.picture(each)) for each in (10, 9, 1)]
    found = score_yours.read_series(
        [("all.zip", zipped([*files, ("set/notes.txt", b"hello"), ("__MACOSX/._round1.png", b"x")]))]
    )
    assert [name for name, _ in found] == ["set/round1.png", "set/round9.png", "set/round10.png"]


@pytest.mark.parametrize(
    "name", ["../round1.png", "a/../../round1.png", "/etc/round1.png", "..\\round1.png", "C:/round1.png"]
)
def test_a_name_that_leads_out_of_the_archive_is_refused(name):
    with pytest.raises(UserError, match="leads out of the archive"):
        score_yours.read_series([("all.zip", zipped([(name, b"x")]))])


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_in_memory(monkeypatch):
    monkeypatch.setattr(score_yours, "MOST_BYTES", 1_000_000)
    with pytest.raises(UserError, match="more than 1,000,000 bytes"):
        score_yours.read_series([("all.zip", zipped([(f"{each}.png", bytes(400_000)) for each in range(5)]))])


@pytest.mark.parametrize(("files", "words"), [
    ([("all.zip", b"PK\x03\x04 and then nothing")], "a zip that cannot be read"),
    ([("all.zip", zipped([("notes.txt", b"hello")]))], "holds no pictures"),
    ([("all.zip", zipped([(f"{n}.png", b"x") for n in range(62)]))], "at most 60 returns"),
])  # fmt: skip
def test_an_archive_that_is_no_series_is_refused(files, words):
    with pytest.raises(UserError, match=words):
        score_yours.read_series(files)


def test_a_bomb_a_thumbnail_and_a_text_are_refused_by_name():
    small = small_dataset.picture(1, side=32)
    for data, words in (
        (small_dataset.decompression_bomb(), "exceeds limit"),
        (small, "at least 64 pixels"),
        (b"no picture", "no picture"),
    ):
        with pytest.raises(UserError, match=f"'round1.png'.*{words}"):
            score_yours.score(ORIGINAL, [("round1.png", data)], unrelated())


def test_time_and_count_are_limited(monkeypatch):
    with pytest.raises(UserError, match="at most 60"):
        score_yours.score(ORIGINAL, fading(1) * 61, unrelated())
    monkeypatch.setattr(score_yours, "MOST_SECONDS", -1.0)
    with pytest.raises(UserError, match="took more than"):
        score_yours.score(ORIGINAL, fading(1), unrelated())


def test_a_picture_of_the_dataset_is_not_its_own_stranger_at_any_size():
    """Otherwise its floor is nearly nothing, and its series dies rounds earlier than it does in the dataset."""
    plain = score_yours.score(ORIGINAL, fading(), unrelated()).floors
    for side in (64, 96, 200):
        own = np.asarray(Image.open(io.BytesIO(ORIGINAL[1])).resize((side, side)))
        assert score_yours.score(ORIGINAL, fading(), [own, *unrelated()]).floors == plain


@pytest.mark.parametrize("name", awkward_pictures.PICTURES)
def test_an_awkward_picture_is_scored_as_it_looks(name):
    awkward = awkward_pictures.PICTURES[name]
    awkward_pictures.assert_looks_right(score_yours.pixels(name, awkward.data), awkward)
