"""A visitor's own series: scored like the dataset's, and refused in one sentence where it cannot be."""

import base64
import io

import cv2
import numpy as np
import pytest
import scored
import small_dataset
from convergebench import metric_modules
from convergebench.generation.records import UserError
from convergebench.metric_modules.lpips import weights
from convergebench.spaces_app.space.chains.tab import chain as chain_view
from convergebench.spaces_app.space.headline import ending_of
from convergebench.spaces_app.space.served_dataset import open_dataset
from convergebench.spaces_app.studies.try_yours.tab import tab
from PIL import Image
from small_dataset import chain_of

_METRICS = tab._metrics.__wrapped__
ORIGINAL = small_dataset.picture(5)
FADING = [small_dataset.picture(5, min(number * 0.18, 0.95)) for number in range(1, 6)]


@pytest.fixture(autouse=True)
def without_lpips(monkeypatch):
    chosen = tab.metrics.choose(tab._METRICS, "cpu", "float32")
    monkeypatch.setattr(tab, "_metrics", lambda chosen=chosen: chosen)


def score(dataset, original, returns, *rest):
    texts = [[base64.b64encode(data).decode() for data in files] for files in ([original], returns, *rest[:1])]
    return tab.score_yours(dataset, texts[0][0], *texts[1:], *rest[1:])


def verdict(answer):
    return next(row for row in answer["verdicts"] if row["threshold"] == 0.5)


def test_the_original_is_not_unrelated_at_any_size(dataset, monkeypatch):
    """Otherwise its floor is nearly nothing, and its series dies rounds earlier than it does in the dataset."""
    plain = score(dataset, ORIGINAL, FADING[:1])["floors"]
    assert set(plain) >= {"rmse", "ssim"}
    names, pictures = tab._pictures_of(dataset)
    own = Image.open(io.BytesIO(ORIGINAL))
    sizes = {str(side): np.asarray(own.resize((side, side))) for side in (64, 96, 200)}
    monkeypatch.setattr(tab, "_pictures_of", lambda dataset: (names, sizes | pictures))
    assert score(dataset, ORIGINAL, FADING[:1])["floors"] == plain


ABSENT = [(ImportError, "torch is not installed"), (ValueError, "its weights are damaged")]


@pytest.mark.parametrize(("error", "reason"), ABSENT)
def test_what_cannot_be_computed_is_absent_with_its_reason(dataset, monkeypatch, error, reason):
    def choose(requested, *rest, choose=tab.metrics.choose):
        if "lpips" in requested:
            raise error
        return choose(requested, *rest)

    monkeypatch.setattr(tab.metrics, "choose", choose)
    monkeypatch.setattr(tab, "_metrics", _METRICS)
    answer = score(dataset, ORIGINAL, FADING[:2])
    assert answer["absent"] == {"lpips": reason}
    assert answer["steps"][1]["scores"]["lpips"] is None
    monkeypatch.setattr(tab, "_pictures_of", lambda dataset: ({}, {}))
    assert verdict(score(dataset, ORIGINAL, FADING[:2]))["quality"] == []


@pytest.mark.parametrize(("data", "words"), [
    (small_dataset.decompression_bomb(), "exceeds limit"),
    (small_dataset.picture(1, side=32), "at least 64 pixels"),
    (b"no picture", "not a picture"),
])  # fmt: skip
def test_what_cannot_be_scored_is_refused_by_name(dataset, data, words):
    with pytest.raises(UserError, match=f"'round1.png'.*{words}"):
        score(dataset, ORIGINAL, [data], [], [], ["round1.png"])


def test_files_become_a_chain_of_rounds(dataset):
    files = [(f"{number}.png", small_dataset.picture(number, side=64)) for number in range(5)]
    series = tab._series(dataset, files, ("make the edit", "undo it"))
    steps = [placed.step for placed in series.steps.values()]
    rounds = [(step.round, step.position, step.instruction) for step in steps]
    assert rounds == [(number, *edit) for number in (1, 2) for edit in ((1, "make the edit"), (2, "undo it"))]
    assert (series.chain.calls, series.chain.chain.rounds, series.chain.chain.program.small) == (4, 2, False)
    assert (series.chain.chain.run, series.chain.short_side) == (1, 64)
    large = tab._series(dataset, [("0.png", small_dataset.picture(0, side=600))] * 2, ("the return",))
    assert large.chain.short_side == 512
    with pytest.raises(UserError, match="63x63; at least 64"):
        tab._inspect(("small", small_dataset.picture(1, side=63)))
    same = score(dataset, ORIGINAL, [ORIGINAL])
    assert (verdict(same)["quality"], same["steps"][1]["scores"]["psnr"]) == ([1], 100)
    thresholds = [row["threshold"] for row in same["verdicts"]]
    assert thresholds == pytest.approx([number / 20 for number in range(1, 20)])


def test_time_and_count_are_limited(dataset, monkeypatch):
    with pytest.raises(UserError, match="at most 60"):
        score(dataset, ORIGINAL, FADING[:1] * 61)
    with pytest.raises(UserError, match="1 edits and 3 returns"):
        score(dataset, ORIGINAL, FADING[:3], FADING[:1])
    monkeypatch.setattr(tab, "_MOST_SECONDS", -1.0)
    with pytest.raises(UserError, match="took more than"):
        score(dataset, ORIGINAL, FADING[:1])


def dotted_elsewhere(pixels):
    return cv2.circle(pixels.copy(), (90, 60), 9, (40, 40, 250), -1)


def cases():
    """By editor, a series of three rounds and what it is lost to: none, or one that fades, makes no edit and so on."""
    start = scored.picture(1, (128, 96))
    dot = scored.dotted(start)
    faded = [pixels for n in (1, 2, 3) for pixels in (dot, scored.worn(start, 24 * n, n))]
    return {
        "steady": ([dot, start] * 3, None),
        "fading": (faded, "part lost" if DAMAGE else "quality lost"),
        "idle": ([start] * 6, "not changed"),
        "keeping": ([dot, start, dot, dot, dot, dot], "not undone"),
        "holing": ([dot, start, dot, dotted_elsewhere(start), dot, start], "part lost" if DAMAGE else None),
    }


DAMAGE = weights.weights_file("alex").is_file()
WORDS = list(scored.PROGRAMS["dot"].cycle)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The same series as chains of a dataset that the engine scored."""
    patch, folder = pytest.MonkeyPatch(), tmp_path_factory.mktemp("judged")
    patch.setattr(scored, "SIZES", dict.fromkeys((1, 2, 3), (128, 96)))
    patch.setattr(scored, "SIDE", 80)
    for editor, (pixels, _) in cases().items():
        scored.keep(folder / "run", scored.chain(editor, 1), [scored.encoded(picture) for picture in pixels])
    for seed in (2, 3):
        other = scored.picture(seed, (128, 96))
        pair = [scored.encoded(picture) for picture in (scored.dotted(other), other)]
        scored.keep(folder / "run", scored.chain("steady", seed), pair * 3)
    out = scored.built(folder / "run", folder / "dataset")
    metric_modules.score(out, ["psnr", "ssim", "registration", "edit_applied", *["damage"] * DAMAGE])
    patch.undo()
    return open_dataset(str(out))


@pytest.mark.parametrize("editor", list(cases()))
def test_a_chain_of_the_dataset_is_lost_as_in_failures(judged, editor):
    chain = judged.chain_of[chain_of(judged, editor, "source-1", "dot")]
    files = [judged.reader.picture(chain.id, step) for step in range(chain.calls + 1)]
    answer = score(judged, files[0], files[2::2], files[1::2], WORDS)
    shown = chain_view(judged, chain.id)
    assert verdict(answer) == {"threshold": 0.5} | ending_of(judged, chain.id)
    assert verdict(answer)["cause"] == cases()[editor][1]
    numbers = ("outline", "changed", "undone", "undo_ratio", "part_lost", "retained")
    theirs, ours = ([[step[name] for name in numbers] for step in view["steps"][1:]] for view in (shown, answer))
    assert ours == theirs
    psnr = [[step["scores"]["psnr"] for step in view["steps"]] for view in (shown, answer)]
    assert psnr[0] == psnr[1]
    alone = score(judged, files[0], files[2::2])
    assert [step["changed"] for step in alone["steps"]] == [None] * 4
    assert verdict(alone)["cause"] in (None, "quality lost", "part lost")
