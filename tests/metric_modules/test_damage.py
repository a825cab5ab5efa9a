"""Damage: where a part is gone it is high, what moved is laid back, and wear never turns a loss into a kept round."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.verdicts import labelled, wear
from convergebench.metric_modules.damage import measure
from convergebench.metric_modules.halflife.causes import PART
from convergebench.metric_modules.registration.align import Placement, anchors
from convergebench.metric_modules.registration.measure import register
from random_lpips import random_model
from test_kept_numbers import moved, textured


def holed(shown):
    changed = shown.copy()
    changed[160:224, 64:128] = 128
    return changed


def test_damage_is_zero_for_equal_pictures_and_finds_a_lost_part():
    model, shown = random_model("alex"), textured(320, 320)
    reference = measure.prepare(model, shown)
    assert measure.compare(model, reference, shown) == (0, [])
    worst, polygons = measure.compare(model, reference, holed(shown))
    assert worst > PART.limit
    [polygon] = polygons
    assert np.abs((np.min(polygon, axis=0) + np.max(polygon, axis=0)) / 2 - [0.3, 0.6]).max() < 0.06
    assert 0 <= np.min(polygon) <= np.max(polygon) <= 1


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
    model, shown = random_model("alex"), textured(320, 320, 1)
    reference, elsewhere = measure.prepare(model, shown), moved(shown, 14, -9, 1)
    laid, polygons = measure.compare(model, reference, elsewhere)
    [polygon] = measure.compare(model, reference, moved(holed(shown), 14, -9, 1))[1]
    assert np.abs((np.min(polygon, axis=0) + np.max(polygon, axis=0)) / 2 - [0.3, 0.6]).max() < 0.06
    # Registration has the same place already, and is believed.
    scores = register(anchors(shown), shown, elsewhere)
    assert measure.compare(model, reference, elsewhere, scores) == (laid, polygons)
    assert measure.compare(model, reference, elsewhere, scores | {"framing_loss": 0.0})[0] > PART.limit
    monkeypatch.setattr(Placement, "accepted", False)
    assert (measure.compare(model, reference, elsewhere)[0] > PART.limit > laid, polygons) == (True, [])


def test_the_engine_takes_the_network_of_lpips():
    model = random_model("alex")
    scorer = measure.Scorer("cpu", "bfloat16", {"lpips": SimpleNamespace(model=model, exact=None)})
    assert (scorer.model, scorer.signature["dtype"]) == (model, "float32")
    shown = textured(320, 320, 1)
    same, gone = scorer.compare(scorer.prepare(shown), [shown, holed(shown)], [{}] * 2)
    assert (same, gone["damage_outline"] == "no_damage") == ({"damage": 0, "damage_outline": "no_damage"}, False)
