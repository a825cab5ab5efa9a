"""A visitor's own series: scored like the dataset's, and refused in one sentence where it cannot be."""

import io
import zipfile

import awkward_pictures
import cv2
import numpy as np
import pytest
import scored
import small_dataset
from convergebench import metric_modules
from convergebench.generation.records import UserError
from convergebench.spaces_app.space.chains.tab import chain as chain_view
from convergebench.spaces_app.space.endings import ending
from convergebench.spaces_app.space.score_yours import series
from convergebench.spaces_app.space.score_yours.tab import Scorer
from convergebench.spaces_app.space.score_yours.verdict import Terms
from convergebench.spaces_app.space.served_dataset import open_dataset
from PIL import Image
from small_dataset import chain_of


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


def test_an_untouched_series_survives_and_a_fading_one_dies():
    same = series.score(ORIGINAL, [ORIGINAL] * 3, unrelated())
    assert [row["quality"] for row in same.rows] == [1, 1, 1]
    assert same.rows[0]["psnr"] == 100
    assert same.half_lives["quality"] == ">3"
    faded = series.score(ORIGINAL, fading(), unrelated())
    kept = [row["quality"] for row in faded.rows]
    assert kept == sorted(kept, reverse=True)
    first_below = next(row["round"] for row in faded.rows if row["quality"] < 0.5)
    assert faded.half_lives["quality"] == str(first_below)


def test_the_original_among_the_unrelated_is_left_out():
    own = np.asarray(Image.open(io.BytesIO(ORIGINAL[1])))
    assert (
        series.score(ORIGINAL, fading(), [own, *unrelated()]).floors
        == series.score(ORIGINAL, fading(), unrelated()).floors
    )


def test_what_cannot_be_computed_is_absent_with_its_reason():
    found = series.score(ORIGINAL, fading(2), unrelated(), lpips="torch is not installed")
    assert found.absent == {"lpips": "torch is not installed"}
    assert "lpips" not in found.rows[0]
    assert series.score(ORIGINAL, fading(2), []).rows[0]["quality"] is None


def test_an_archive_is_read_in_the_order_of_its_names():
    files = [(f"set/round{each}.png", small_dataset.picture(each)) for each in (10, 9, 1)]
    found = series.read_series(
        [("all.zip", zipped([*files, ("set/notes.txt", b"hello"), ("__MACOSX/._round1.png", b"x")]))]
    )
    assert [name for name, _ in found] == ["set/round1.png", "set/round9.png", "set/round10.png"]


@pytest.mark.parametrize(
    "name", ["../round1.png", "a/../../round1.png", "/etc/round1.png", "..\\round1.png", "C:/round1.png"]
)
def test_a_name_that_leads_out_of_the_archive_is_refused(name):
    with pytest.raises(UserError, match="leads out of the archive"):
        series.read_series([("all.zip", zipped([(name, b"x")]))])


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(series, "_MOST_BYTES", 1_000_000)
    with pytest.raises(UserError, match="more than 1,000,000 bytes"):
        series.read_series([("all.zip", zipped([(f"{each}.png", bytes(400_000)) for each in range(5)]))])


@pytest.mark.parametrize(("files", "words"), [
    ([("all.zip", b"PK\x03\x04 and then nothing")], "a zip that cannot be read"),
    ([("all.zip", zipped([("notes.txt", b"hello")]))], "holds no pictures"),
    ([("all.zip", zipped([(f"{n}.png", b"x") for n in range(62)]))], "at most 60 returns"),
])  # fmt: skip
def test_an_archive_that_is_no_series_is_refused(files, words):
    with pytest.raises(UserError, match=words):
        series.read_series(files)


def test_a_bomb_a_thumbnail_and_a_text_are_refused_by_name():
    small = small_dataset.picture(1, side=32)
    for data, words in (
        (small_dataset.decompression_bomb(), "exceeds limit"),
        (small, "at least 64 pixels"),
        (b"no picture", "no picture"),
    ):
        with pytest.raises(UserError, match=f"'round1.png'.*{words}"):
            series.score(ORIGINAL, [("round1.png", data)], unrelated())


def test_time_and_count_are_limited(monkeypatch):
    with pytest.raises(UserError, match="at most 60"):
        series.score(ORIGINAL, fading(1) * 61, unrelated())
    monkeypatch.setattr(series, "MOST_SECONDS", -1.0)
    with pytest.raises(UserError, match="took more than"):
        series.score(ORIGINAL, fading(1), unrelated())


def test_the_original_is_not_unrelated_at_any_size():
    """Otherwise its floor is nearly nothing, and its series dies rounds earlier than it does in the dataset."""
    plain = series.score(ORIGINAL, fading(), unrelated()).floors
    for side in (64, 96, 200):
        own = np.asarray(Image.open(io.BytesIO(ORIGINAL[1])).resize((side, side)))
        assert series.score(ORIGINAL, fading(), [own, *unrelated()]).floors == plain


@pytest.mark.parametrize("name", awkward_pictures.PICTURES)
def test_an_awkward_picture_is_scored_as_it_looks(name):
    awkward = awkward_pictures.PICTURES[name]
    awkward_pictures.assert_looks_right(series._pixels(name, awkward.data), awkward)


def dotted_elsewhere(pixels):
    return cv2.circle(pixels.copy(), (90, 60), 9, (40, 40, 250), -1)


def cases():
    """By editor, a series of three rounds and what it is lost to: none, or one that fades, makes no edit and so on."""
    start = scored.picture(1, (128, 96))
    dot = scored.dotted(start)
    faded = [each for n in (1, 2, 3) for each in (dot, scored.worn(start, 24 * n, n))]
    return {
        "steady": ([dot, start] * 3, None),
        "fading": (faded, "quality lost"),
        "idle": ([start] * 6, "not applied"),
        "keeping": ([dot, start, dot, dot, dot, dot], "not undone"),
        "holing": ([dot, start, dot, dotted_elsewhere(start), dot, start], "part lost"),
    }


WORDS = scored.PROGRAMS["dot"].cycle


@pytest.mark.parametrize("editor", list(cases()))
def test_with_its_edits_a_series_is_lost_to_what_happened(editor):
    pixels, cause = cases()[editor]
    files = [(f"{step}.png", scored.encoded(each)) for step, each in enumerate(pixels, 1)]
    original = ("0.png", scored.encoded(scored.picture(1, (128, 96))))
    strangers = [scored.picture(seed, (128, 96)) for seed in (2, 3)]
    found = series.score(original, files[1::2], strangers, edits=files[::2], terms=Terms(WORDS))
    assert found.verdicts[9]["threshold"] == 0.5
    assert found.verdicts[9]["cause"] == cause
    assert any(step["outline"] for step in found.steps) is any(step["part_lost"] for step in found.steps)
    alone = series.score(original, files[1::2], strangers)
    assert [each["applied"] for each in alone.steps] == [None] * 3
    assert alone.verdicts[9]["cause"] in (None, "quality lost", "part lost")
    with pytest.raises(UserError, match="1 edits and 3 returns"):
        series.score(original, files[1::2], strangers, edits=files[:1])


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The same series as chains of a dataset that the engine scored."""
    patch, folder = pytest.MonkeyPatch(), tmp_path_factory.mktemp("judged")
    patch.setattr(scored, "SIZES", dict.fromkeys((1, 2, 3), (128, 96)))
    patch.setattr(scored, "SIDE", 80)
    for editor, (pixels, _) in cases().items():
        scored.keep(folder / "run", scored.chain(editor, 1), [scored.encoded(each) for each in pixels])
    for seed in (2, 3):
        other = scored.picture(seed, (128, 96))
        pair = [scored.encoded(each) for each in (scored.dotted(other), other)]
        scored.keep(folder / "run", scored.chain("steady", seed), pair * 3)
    out = scored.built(folder / "run", folder / "dataset")
    metric_modules.score(out, ["psnr", "ssim", "registration", "edit_applied"])
    patch.undo()
    return open_dataset(str(out))


@pytest.mark.slow
@pytest.mark.parametrize("editor", list(cases()))
def test_a_chain_of_the_dataset_is_lost_as_in_failures(judged, editor):
    chain = judged.chains[chain_of(judged, editor, "source-1", "dot")]
    files = [(f"{step:03}.png", judged.reader.picture(chain.id, step)) for step in range(chain.calls + 1)]
    found = Scorer(judged).score(files[0], files[2::2], 0.5, files[1::2], WORDS)
    verdict = next(each for each in found.verdicts if each["threshold"] == 0.5)
    told = ending(judged, judged.case_of[chain.id])
    assert verdict["cause"] == told["cause"] == cases()[editor][1]
    assert (verdict["lost_at"], verdict["clause"]) == (told["lost_at"], told["clause"])
    assert verdict["step"] == told["lost_step"]
    shown = chain_view(judged, chain.id)["steps"][1:]
    assert [each["outline"] for each in found.steps] == [each["outline"] for each in shown]
    assert [each["applied"] for each in found.steps] == [each["applied"] for each in shown]
    assert [row["quality"] for row in found.rows] == told["quality"]
