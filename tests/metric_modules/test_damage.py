"""Damage: where a part is gone it is high, what moved is laid back, and wear never turns a loss into a kept round."""

import cv2
import numpy as np
import pytest
from benchmarks.verdicts import labelled, wear
from convergebench.metric_modules.damage import measure
from convergebench.metric_modules.halflife.causes import PART, Limits
from convergebench.metric_modules.halflife.outcomes import convergence
from convergebench.metric_modules.registration.align import Placement
from random_lpips import random_model


def picture(seed=0, side=320):
    noise = np.random.default_rng(seed).normal(0, 1, (side, side, 3))
    soft = cv2.GaussianBlur(noise, (0, 0), 6)
    return np.clip(128 + 50 * soft / soft.std(), 0, 255).astype(np.uint8)


def holed(shown):
    changed = shown.copy()
    changed[160:224, 64:128] = 128
    return changed


def test_damage_is_zero_for_equal_pictures_and_finds_a_lost_part():
    model, shown = random_model("alex"), picture()
    reference = measure.prepare(model, shown)
    assert measure.compare(model, reference, shown) == (0, [])
    worst, polygons = measure.compare(model, reference, holed(shown))
    assert worst > PART.limit
    [polygon] = polygons
    assert np.abs((np.min(polygon, axis=0) + np.max(polygon, axis=0)) / 2 - [0.3, 0.6]).max() < 0.06
    assert 0 <= np.min(polygon) <= np.max(polygon) <= 1


def test_grain_is_no_damage_and_hides_none(monkeypatch):
    model, shown = random_model("alex"), picture()
    reference = measure.prepare(model, shown)
    grainy, gone = (wear.noisy(part, np.random.default_rng(0), 6) for part in (shown, holed(shown)))
    found = [measure.compare(model, reference, part)[0] for part in (grainy, gone)]
    monkeypatch.setattr(measure, "GRAIN", 0.01)  # a blur that changes nothing
    as_it_is = [measure.compare(model, reference, part)[0] for part in (grainy, gone)]
    assert found[0] < 0.8 * as_it_is[0]
    assert PART.limit < 0.8 * as_it_is[1] < found[1]


@pytest.mark.weights
@pytest.mark.skipif(not labelled.LABELS.is_dir(), reason="the labelled rounds are not beside the checkout")
def test_wear_on_a_lost_return_never_makes_it_a_kept_one():
    model, worn = labelled.network(), 0
    for row in [row for row in labelled.rows_of("rounds") if row["kept"] == "0"][::12]:
        source, back = map(labelled.picture, labelled.pair(row))
        reference, back = measure.prepare(model, source), labelled.fitted(back, source)
        before = measure.compare(model, reference, back)[0]
        for name, put_on in list(wear.STRENGTHS.items())[2::6]:
            after = measure.compare(model, reference, put_on(back, np.random.default_rng(0)))[0]
            assert before < PART.high or after >= PART.low, (row["case"], name)
            worn += before >= PART.high
    assert worn >= 8


def test_a_moved_picture_is_aligned_before_damage_is_outlined(monkeypatch):
    model, shown = random_model("alex"), picture(1)
    moved = cv2.warpAffine(
        shown, np.float64([[1, 0, 14], [0, 1, -9]]), (320, 320), borderMode=cv2.BORDER_REPLICATE
    )
    reference = measure.prepare(model, shown)
    laid, polygons = measure.compare(model, reference, moved)
    gone = cv2.warpAffine(holed(shown), np.float64([[1, 0, 14], [0, 1, -9]]), (320, 320))
    [polygon] = measure.compare(model, reference, gone)[1]
    assert np.abs((np.min(polygon, axis=0) + np.max(polygon, axis=0)) / 2 - [0.3, 0.6]).max() < 0.06
    monkeypatch.setattr(Placement, "accepted", False)
    assert (measure.compare(model, reference, moved)[0] > PART.limit > laid, polygons) == (True, [])


def test_the_engine_takes_the_network_of_lpips():
    model = random_model("alex")

    class Loaded:
        exact = None

    Loaded.model = model
    scorer = measure.Scorer("cpu", "bfloat16", {"lpips": Loaded})
    assert (scorer.model, scorer.signature["dtype"]) == (model, "float32")
    shown = picture(1)
    same, gone = scorer.compare(scorer.prepare(shown), [shown, holed(shown)], [{}] * 2)
    assert (same, gone["damage_outline"] == "no_damage") == ({"damage": 0, "damage_outline": "no_damage"}, False)


def test_another_person_settles_an_undecided_round():
    """Redrawn eyes: the damage alone is undecided in both rounds; in the second the face is another man's."""
    values = {"part lost": [[0.22, 0.22]], "another person": [[0.52, 0.64]]}
    outcomes = {way: convergence([1, 2], values, limits=Limits(undecided=way)) for way in ("", "kept", "lost")}
    assert [(outcomes[way].kept, outcomes[way].cause) for way in ("", "kept")] == [(1, "another person")] * 2
    assert (outcomes["lost"].kept, outcomes["lost"].cause) == (0, "part lost"), "one below 0.6 settles nothing"
    unasked = values | {"another person": [[None, None]]}
    assert convergence([1, 2], unasked, limits=Limits()).kept == 2
