"""The normalised score gap: ranges and directions as published, and who sees the damage."""

import math

import pytest
from convergebench.metric_modules.nr_gap.gaps import PI_CAP, RANGES, _series_gaps, metric_name, normalised, nr_gap


def test_the_ends_of_every_range_are_0_and_100():
    assert {name for name, row in RANGES.items() if not row[2]} == {"BRISQUE", "ILNIQE", "NIQE", "PI", "PIQE"}
    for name, (low, high, higher) in RANGES.items():
        assert (normalised(low, name), normalised(high, name)) == pytest.approx((0, 100) if higher else (100, 0))


def test_the_cap_of_pi_follows_from_its_parts():
    assert ((10 - RANGES["NRQM"][0]) + RANGES["NIQE"][1]) / 2 == PI_CAP == RANGES["PI"][1]
    assert "PI capped at 55" in nr_gap([[1, 2, 3, 4]], "PI", ["x"])["signature"]


def test_the_studys_own_example_is_a_failure():
    """BRISQUE 34.1 when clean and -9.8 after 20 replications: the score is better, the picture is not."""
    result = nr_gap([[34.1, None, None, -9.8]], "BRISQUE", ["example"])
    gap = result["gaps"][2]["gap"]
    assert gap == pytest.approx((34.1 + 9.8) / 150 * 100)
    assert result["by_metric"]["BRISQUE"] == {
        "success": 0, "failure": 1, "tie": 0, "unmeasured": 2, "seen": 0, "cases": 1,
    }  # fmt: skip


def test_scores_outside_the_range_are_counted():
    assert normalised(-9.8, "BRISQUE") > 100
    result = nr_gap([[0, 0, 0, -15]], "BRISQUE", ["x"])
    assert result["gaps"][2]["gap"] == pytest.approx(10)
    assert result["out_of_range"] == {"BRISQUE": 1}


def test_seeing_damage_takes_three_gaps_below_zero():
    result = nr_gap(
        [[70, 60, 50, 40], [70, 60, 71, 40], [0.9, 0.8, 0.7, 0.6], [0.9, 0.9, 0.7, 0.6]],
        metrics=["MUSIQ", "MUSIQ", "CLIPIQA", "CLIPIQA"],
        images=["fog", "holi", "fog", "holi"],
    )
    assert (result["by_metric"]["MUSIQ"]["seen"], result["by_metric"]["MUSIQ"]["cases"]) == (1, 2)
    assert (result["by_metric"]["MUSIQ"]["failure"], result["by_metric"]["CLIPIQA"]["tie"]) == (1, 1)
    assert (result["by_image"]["fog"]["seen"], result["by_image"]["holi"]["seen"]) == (2, 0)


def test_runs_of_one_image_are_averaged():
    result = nr_gap([[50, 40, 40, 40], [50, 30, None, 40]], "MUSIQ", ["fog", "fog"])
    assert [each["gap"] for each in result["gaps"]] == pytest.approx([-15, -10, -10])
    assert {each["runs"] for each in result["gaps"]} == {2}


def test_every_step_may_be_given_and_missing_ones_are_null():
    scores = [50.0 - n for n in range(20)]
    assert _series_gaps(scores, "MUSIQ", range(1, 21)) == {5: -4.0, 10: -9.0, 20: -19.0}
    assert _series_gaps(scores[:10], "MUSIQ", range(1, 21))[20] is None
    assert _series_gaps([math.nan, *scores[1:]], "MUSIQ", range(1, 21)) == {5: None, 10: None, 20: None}


def test_names_are_read_as_people_write_them():
    assert metric_name("topiq nr") == metric_name("TOPIQ_NR") == "TOPIQ_NR"
    assert metric_name("paq2piq") == "PaQ-2-PiQ"
    with pytest.raises(ValueError, match="no metric 'pnsr' with a known range; the metrics are ARNIQA"):
        metric_name("pnsr")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (([], "PI", []), "no series were given"),
        (([[1, 2, 3, 4]], "PI", ["a", "b"]), "1 series with 1 metrics and 2 images"),
        (([[1, 2, 3, 4]], "PI", ["a"], [0, 5, 10, 20]), "step 1 is among them"),
        (([[1, 2, 3, 4]], "PI", ["a"], [1, 5]), "a series of 4 scores was given with 2 steps"),
    ],
)
def test_bad_input_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        nr_gap(*given)
