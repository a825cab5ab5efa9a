"""Pictures for the browser: made once, never larger than bearable, never another file."""

import io
import os
import shutil

import awkward_pictures
import numpy as np
import pytest
import small_dataset
from convergebench.generation.records import UserError
from convergebench.spaces_app.space.previews import Previews, cache_folder
from convergebench.spaces_app.space.served_dataset import NoPicture, open_dataset
from PIL import Image
from small_dataset import chain_of


@pytest.fixture
def previews(dataset, tmp_path):
    return Previews(dataset, tmp_path / "previews")


def test_previews_are_made_once_and_show_differences(dataset, previews):
    chain = chain_of(dataset, "fading")
    first = previews.path(chain, 3).stat().st_ino
    assert previews.path(chain, 3).stat().st_ino == first
    assert previews.path(chain, 3, "received").read_bytes() == dataset.reader.picture(chain, 3)
    with Image.open(previews.path(chain, 3, "thumb")) as thumb:
        assert thumb.size == (small_dataset.SIDE, small_dataset.SIDE)
    same = np.asarray(Image.open(previews.path(chain_of(dataset, "identity"), 4, "difference", 32)))
    other = np.asarray(Image.open(previews.path(chain, 4, "difference", 4)))
    assert same.max() == 0
    assert other.mean() > 10


def test_previews_keep_their_limit_and_what_was_just_made(dataset, tmp_path, monkeypatch):
    small = Previews(dataset, tmp_path / "few", limit=20_000)
    monkeypatch.setattr("convergebench.spaces_app.space.previews.JUST_MADE", -1.0)
    for chain in dataset.chain_of:
        for step in range(9):
            assert small.path(chain, step, "view").exists()
    assert sum(path.stat().st_size for path in small.folder.iterdir()) <= 20_000
    monkeypatch.setattr("convergebench.spaces_app.space.previews.JUST_MADE", 60.0)
    kept = [small.path(chain, 1) for chain in dataset.chain_of]
    assert all(path.exists() for path in kept)


@pytest.mark.parametrize(("data", "words"), [
    (small_dataset.decompression_bomb(), "a png that cannot be decoded .*exceeds limit"),
    (b"<svg onload='alert(1)'/>", "not a picture"),
    (b"GIF89a", "it is a gif that cannot be decoded"),
    (small_dataset.picture(1)[:400], "it is a png that cannot be decoded"),
])  # fmt: skip
def test_what_is_no_bearable_picture_is_not_shown_and_says_why(tmp_path, data, words):
    folder = small_dataset.write(tmp_path / "odd", answer=lambda _, step: data if step == 3 else None)
    made = open_dataset(str(folder))
    shown = Previews(made, tmp_path / "previews")
    chain = chain_of(made, "fading")
    with pytest.raises(NoPicture, match=words):
        shown.path(chain, 3)
    with pytest.raises(NoPicture):
        shown.path(chain, 3, "received")
    assert shown.path(chain, 2).exists()


def test_bytes_of_another_type_are_not_handed_on(tmp_path):
    gif = io.BytesIO()
    Image.new("RGB", (70, 70), "red").save(gif, "GIF")
    made = open_dataset(str(small_dataset.write(tmp_path / "gif", answer=lambda editor, step: gif.getvalue())))
    shown = Previews(made, tmp_path / "previews")
    assert shown.path(next(iter(made.chain_of)), 1).suffix == ".jpg"
    with pytest.raises(NoPicture, match="gif"):
        shown.path(next(iter(made.chain_of)), 1, "received")


def test_a_rebuilt_dataset_never_shows_old_pictures(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVERGEBENCH_PREVIEWS", str(tmp_path / "cache"))
    copy = shutil.copytree(folder, tmp_path / "convergebench")
    before = Previews(open_dataset(str(copy))).folder
    small_dataset.write(copy, answer=lambda editor, step: small_dataset.picture(9))
    assert Previews(open_dataset(str(copy))).folder != before
    assert before.is_relative_to((tmp_path / "cache").resolve())


@pytest.mark.parametrize("name", awkward_pictures.PICTURES)
def test_an_awkward_picture_is_shown_as_it_is_scored(tmp_path, name):
    awkward = awkward_pictures.PICTURES[name]
    made = open_dataset(str(small_dataset.write(tmp_path / "made", {"steady": 0.02}, ["harbour"], ["hat"], 1,
                                                answer=lambda editor, step: awkward.data)))  # fmt: skip
    shown = Previews(made, tmp_path / "previews").path(next(iter(made.chain_of)), 1)
    awkward_pictures.assert_looks_right(Image.open(shown), awkward)


@pytest.mark.skipif(os.name != "posix", reason="others write into a folder of this system's own")
@pytest.mark.parametrize("how", ["link", "open to all", "file"])
def test_a_cache_that_others_may_write_is_refused(dataset, tmp_path, monkeypatch, how):
    monkeypatch.delenv("CONVERGEBENCH_PREVIEWS", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    base = cache_folder(dataset).parent
    base.rmdir()
    if how == "link":
        (tmp_path / "elsewhere").mkdir()
        base.symlink_to(tmp_path / "elsewhere")
    elif how == "file":
        base.write_text("theirs")
    else:
        base.mkdir()
        base.chmod(0o777)
    with pytest.raises(UserError, match=rf"{base.name} can be changed by other users.*CONVERGEBENCH_PREVIEWS"):
        cache_folder(dataset)
    assert how != "file" or base.read_text() == "theirs"


def test_foreign_files_in_the_cache_are_left_alone(dataset, tmp_path):
    folder = tmp_path / "previews"
    folder.mkdir()
    (folder / "thesis.txt").write_bytes(bytes(5000))
    previews = Previews(dataset, folder, limit=1)
    assert previews.size == 0
    chain = chain_of(dataset, "fading")
    old = previews.path(chain, 1)
    os.utime(old, (0, 0))
    previews.path(chain, 2)
    assert not old.exists()
    assert (folder / "thesis.txt").exists()
