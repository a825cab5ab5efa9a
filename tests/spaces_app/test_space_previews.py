"""Pictures for the browser: made once, never larger than bearable, never another file."""

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


def of_answers(folder, answers):
    """A dataset of an editor for each of these answers, which it gives in step 3 of a chain; and its previews."""
    given = {"answer": lambda editor, step: answers[editor] if step == 3 else None}
    made = small_dataset.write(folder / "made", dict.fromkeys(answers, 0.02), ["harbour"], ["hat"], 2, **given)
    dataset = open_dataset(str(made))
    return {name: chain_of(dataset, name) for name in answers}, Previews(dataset, folder / "previews")


def test_what_is_no_bearable_picture_is_not_shown_and_says_why(tmp_path):
    odd = {
        "a png that cannot be decoded .*exceeds limit": small_dataset.decompression_bomb(),
        "not a picture": b"<svg onload='alert(1)'/>",
        "it is a gif that cannot be decoded": b"GIF89a",
        "it is a png that cannot be decoded": small_dataset.picture(1)[:400],
    }
    chains, shown = of_answers(tmp_path, odd)
    for words, chain in chains.items():
        with pytest.raises(NoPicture, match=words):
            shown.path(chain, 3)
        with pytest.raises(NoPicture):
            shown.path(chain, 3, "received")
        assert shown.path(chain, 2).exists()


def test_a_rebuilt_dataset_never_shows_old_pictures(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVERGEBENCH_PREVIEWS", str(tmp_path / "cache"))
    copy = shutil.copytree(folder, tmp_path / "convergebench")
    before = Previews(open_dataset(str(copy))).folder
    small_dataset.write(copy, {"steady": 0.02}, answer=lambda editor, step: small_dataset.picture(9))
    assert Previews(open_dataset(str(copy))).folder != before
    assert before.is_relative_to((tmp_path / "cache").resolve())


def test_an_awkward_picture_is_shown_as_it_is_scored(tmp_path):
    awkward = awkward_pictures.PICTURES
    chains, shown = of_answers(tmp_path, {name: picture.data for name, picture in awkward.items()})
    for name, chain in chains.items():
        awkward_pictures.assert_looks_right(Image.open(shown.path(chain, 3)), awkward[name])
        if name.endswith(".gif"):  # bytes of another type are shown, and not handed on
            assert shown.path(chain, 3).suffix == ".jpg"
            with pytest.raises(NoPicture, match="gif"):
                shown.path(chain, 3, "received")


@pytest.mark.skipif(os.name != "posix", reason="others write into a folder of this system's own")
@pytest.mark.parametrize("how", ["link", "open to all", "file"])
def test_a_cache_that_others_may_write_is_refused(dataset, tmp_path, monkeypatch, how):
    monkeypatch.delenv("CONVERGEBENCH_PREVIEWS", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    base = cache_folder(dataset).parent
    base.rmdir()
    if how == "link":
        base.symlink_to(tmp_path)
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
