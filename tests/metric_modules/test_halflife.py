"""Half-life: what counts as a loss, when, and what a table prints."""

import math

import pytest
from convergebench.metric_modules.halflife.halflife import half_life
from convergebench.metric_modules.halflife.outcomes import Outcome, convergence, convergence_name, curve_outcome

GAPS = [1, 2, 3, 5, 10, 15, 20]


def falling(half: float, rounds: int = 12) -> list[float]:
    return [2.0 ** (-n / half) for n in range(1, rounds + 1)]


@pytest.mark.parametrize(
    ("values", "rounds", "kept", "lost_at", "text"),
    [
        ([0.9, 0.4, 0.9, 0.9], [1, 2, 3, 4], 1, 2, "2"),  # a recovery does not save the chain
        ([0.9, 0.5, 0.5], [1, 2, 3], 3, None, ">3"),  # the threshold itself is not below it
        ([0.9, 0.8, 0.8, 0.7, 0.3, 0.2, 0.1], GAPS, 5, 10, "(5, 10]"),
        ([0.9, None, math.nan, 0.3], [1, 2, 3, 4], 1, 4, "(1, 4]"),
    ],
)
def test_a_chain_is_lost_in_the_first_measured_round_below(values, rounds, kept, lost_at, text):
    outcome = curve_outcome(values, rounds)
    assert (outcome.kept, outcome.lost_at, outcome.text) == (kept, lost_at, text)
    assert half_life([values], rounds)["per_chain"][0]["text"] == text


@pytest.mark.parametrize(
    ("curves", "options", "half", "text"),
    [
        ([[0.05 * n for n in range(1, 13)]] * 2, {"threshold": 0.32, "better": "lower"}, 7, "7"),
        ([[math.inf] * 10 + [34.0]] * 2, {"threshold": 35.0}, 11, "11"),
        ([[0.9, 0.8, 0.8, 0.7, 0.3, 0.2, 0.1]] * 3, {"rounds": GAPS}, 10, "(5, 10]"),
        ([falling(5), falling(50), falling(50)], {}, None, ">12"),
        ([falling(5), falling(50)], {}, 6, "6"),  # exactly half is a half-life
        ([falling(2, 4), falling(9, 4), falling(9, 4)], {}, None, "67% survive 4 rounds"),
    ],
)
def test_a_half_life_in_any_unit_and_direction(curves, options, half, text):
    result = half_life(curves, **options)
    assert (result["half_life"], result["half_life_text"]) == (half, text)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"predictions": []}, "no curves were given"),
        ({"rounds": [1, 2]}, "2 rounds for a curve of 3 values"),
        ({"rounds": [1, 3, 2]}, "rounds must be"),
        ({"rounds": [0, 1, 2]}, "rounds must be"),
        ({"ends": ["complete"]}, "got 1 ends for 2 curves"),
        ({"ends": ["complete", "died"]}, "curve 2 ends with 'died'"),
        ({"ends": ["complete", "refused"]}, "yet has a value in the last round"),
        ({"clusters": ["a"]}, "got 1 clusters"),
        ({"threshold": math.nan}, "got nan"),
        ({"better": "lower"}, "got None with better='lower'"),
        ({"better": "more"}, "no direction 'more'"),
        ({"predictions": [[1.5, 1.2]]}, "curve 1 holds 1.5"),
        ({"predictions": [0.9, 0.8]}, "curve 1 must be a list"),
        ({"predictions": [[0.9], "abc"]}, "curve 2 must be a list"),
    ],
)
def test_bad_input_is_refused(options, sentence):
    curves = options.pop("predictions", [[0.9, 0.8, 0.7], [0.9, 0.8, 0.7]])
    with pytest.raises(ValueError, match=sentence):
        half_life(curves, **options)


YES, GOOD, WHOLE = [True] * 4, [0.9] * 4, [0.1] * 4


def lost(changed=YES, undone=YES, rmse=GOOD, ssim=GOOD, part=WHOLE, clip=GOOD, **about) -> Outcome:
    """The outcome of four rounds, good but for these series."""
    values = {"not changed": [changed], "not undone": [undone], "quality lost": [rmse, ssim]}
    return convergence([1, 2, 3, 4], values | {"part lost": [part], "meaning lost": [clip]}, **about)


def test_convergence_ends_with_the_first_loss():
    fair, poor = [True, True, False, True], [0.9, 0.9, 0.4, 0.9]
    assert lost() == Outcome(4)
    assert lost(changed=fair) == lost(changed=fair, undone=fair, rmse=poor) == Outcome(2, 3, "not changed")
    assert lost(undone=fair) == lost(undone=fair, part=[0.1, 0.1, 0.4, 0.1]) == Outcome(2, 3, "not undone")
    assert lost(rmse=poor) == lost(ssim=poor, clip=poor) == Outcome(2, 3, "quality lost")
    assert lost(part=[0.1, 0.1, 0.4, 0.1], clip=poor) == Outcome(2, 3, "part lost")
    assert lost(clip=poor) == lost(clip=poor, changed=[True] * 3 + [False]) == Outcome(2, 3, "meaning lost")
    assert lost(undone=[True, True, True, None]).kept == 3  # a round that could not be judged
    assert lost(undone=[True, None, True, True]).kept == 4
    assert lost(undone=[None] * 4, left_out={"not undone": {1, 2, 3, 4}}) == Outcome(4)  # an impossible check
    failed = lost(undone=[True, True, None, None], end="failed")
    assert (failed, failed.rounds_kept, lost().rounds_kept) == (Outcome(2, failed=True), None, 4)
    nothing = [None] * 4
    refused = lost(
        changed=[False], undone=nothing, rmse=nothing, ssim=nothing, part=nothing, clip=nothing, end="refused"
    )
    assert refused == Outcome(0, 1, "not changed")


def test_the_name_says_what_was_not_checked():
    assert convergence_name(["rmse", "ssim", "lpips", "part", "clip"]) == "convergence"
    assert convergence_name(["rmse", "ssim"]) == "convergence (no LPIPS, no damage check, no meaning check)"


def test_the_signature_names_the_scale():
    signatures = [half_life([falling(3)], threshold=limit)["signature"] for limit in (None, 0.5)]
    assert [signature.split("|")[0] for signature in signatures] == ["scale=retained", "scale=absolute"]
    assert "|confidence=0.95|bootstrap=2000|seed=0" in signatures[0]
