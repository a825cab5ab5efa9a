"""Stopping early: the level is kept over all looks, no order or sign is preferred, and the plan says what it costs."""

import itertools
import json

import numpy as np
import pytest
import small_dataset
from click.testing import CliRunner
from convergebench.cli import _decide
from convergebench.cli.__main__ import main
from convergebench.generation.records import UserError
from convergebench.metric_modules.halflife import sequential
from convergebench.metric_modules.halflife.sequential import (
    boundaries,
    follow,
    forecast,
    forecast_rest,
    look_sizes,
    normal_boundaries,
    spent,
)
from convergebench.spaces_app.analysis.comparisons import run_order
from simulations import stopping


def test_what_the_looks_spend_together_is_the_level():
    rng = np.random.default_rng(4)
    sizes = look_sizes(60)
    magnitudes = rng.gamma(1, 2, 60)
    sums = np.cumsum(rng.choice([-1.0, 1.0], (40_000, 60)) * magnitudes, axis=1)[:, [size - 1 for size in sizes]]
    least = np.array(boundaries(sums[:20_000], sizes, 60))
    fresh = np.abs(sums[20_000:]) >= least
    assert fresh.any(axis=1).mean() == pytest.approx(0.05, abs=0.006)
    for place in (3, 6, 9):
        assert fresh[:, : place + 1].any(axis=1).mean() == pytest.approx(spent(sizes[place] / 60), abs=0.004)


def test_equal_sums_all_cross_or_none():
    sums = np.array([[3.0]] * 10 + [[1.0]] * 90)
    assert boundaries(sums, [1], 1, level=0.05) > [3.0]  # ten would be too many
    assert boundaries(sums, [1], 1, level=0.2) <= [3.0]


def test_equal_sums_that_rounding_tells_apart_do_not_cross_alone():
    # Whole sums in thirds: added in another order they differ in the last digit, and many flips tie with them.
    wrong = 0
    rng = np.random.default_rng(8)
    for _ in range(60):
        values = rng.choice([1 / 3, 2 / 3, 5 / 3], 24) * rng.choice([-1, 1], 24)
        wrong += follow(values, 24)[-1].verdict in ("first", "second")
    assert wrong <= 6


def test_a_sure_pair_stops_at_the_first_look():
    assert [(look.sources, look.verdict) for look in follow([5.0, 6.0] * 50, 100)] == [(12, "first")]
    assert follow([-5.0, -6.0] * 50, 100)[-1].verdict == "second"
    even = follow([5.0, -5.0] * 50, 100)
    assert even[-1].verdict == "open"
    assert even[-1].sources < 70
    assert [look.verdict for look in even[:-1]] == [""] * (len(even) - 1)


def test_fewer_than_twelve_sources_are_not_looked_at():
    assert follow([1.0] * 11, 40) == []
    [look] = follow([1.0, -0.5] * 7, 40)
    assert (look.sources, look.verdict) == (12, "")


def test_the_other_sign_is_the_other_verdict_with_the_same_looks():
    values = np.random.default_rng(3).normal(0.5, 1, 60)
    one, other = follow(values, 60), follow(-values, 60)
    assert [look.sources for look in one] == [look.sources for look in other]
    assert one[-1].mean == -other[-1].mean
    assert {"first": "second", "second": "first"}.get(one[-1].verdict, one[-1].verdict) == other[-1].verdict


def test_boundaries_fall_from_look_to_look():
    least = normal_boundaries(100)
    assert all(a >= b - 0.03 for a, b in itertools.pairwise(least))
    assert 1.96 < least[-1] < 2.3
    looks = follow(np.random.default_rng(5).normal(0.55, 2, 100), 100)
    widths = [(look.interval[1] - look.interval[0]) * look.sources**0.5 for look in looks]
    assert widths[0] > 1.2 * widths[-1]


def test_a_forecast_costs_least_where_the_difference_is_large():
    costs = [forecast(mean, 4.0, 100, 200) for mean in (0.0, 1.0, 4.0)]
    assert costs[0].chance <= 0.08 < costs[1].chance < costs[2].chance == 1
    assert costs[2].sources < 25 < costs[0].sources
    assert all(each.sources <= each.most <= 100 for each in costs)
    rest = forecast_rest([1.0, -0.5] * 8, 100, 200)
    assert rest.sources > 16


def test_ten_pairs_keep_what_a_thousand_promise():
    _name, same, opposite, calls, *_, false, covered = stopping.row("", stopping.simulated(10, 100, 2.0), 100)
    assert float(opposite) == float(false) == 0.0
    assert float(same) >= 0.8
    assert float(calls) < 0.6
    assert float(covered) >= 0.8


def test_the_order_of_sources_depends_on_the_suite_alone():
    names = [f"picture-{number}" for number in range(20)]
    assert run_order("v1", names) == run_order("v1", names[::-1]) != names
    assert run_order("v1", names) != run_order("v2", names)


@pytest.mark.parametrize(
    ("words", "pair"),
    [
        ("paint,jpeg", ("paint", "jpeg")),
        ("jpeg:quality=40,seed=fixed,paint:wear=0", ("jpeg:quality=40,seed=fixed", "paint:wear=0")),
        ("./mine.py:edit,name=a,bfl:model=x", ("./mine.py:edit,name=a", "bfl:model=x")),
    ],
)
def test_a_pair_is_split_between_its_editors(words, pair):
    assert _decide.split_pair(words) == pair


@pytest.mark.parametrize("words", ["paint", "paint,jpeg,blur", "paint,", "jpeg:quality=4,seed=fixed"])
def test_what_is_no_pair_is_one_sentence(words):
    with pytest.raises(UserError, match="must be two editors with a comma between them"):
        _decide.split_pair(words)


def said(*words):
    result = CliRunner().invoke(main, ["plan", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_plan_says_what_a_verdict_will_cost():
    words = ("--suite", "v1-mini", "--decide", "paint,jpeg:quality=40", "--program", "hat", "--program", "replicate")
    found = json.loads(said(*words, "--spread", "2", "--json"))
    assert (found["first"], found["second"], len(found["sources"])) == ("paint", "jpeg:quality=40", 12)
    assert found["dollars"] == 0
    assert [each["difference"] for each in found["forecasts"]] == [0.0, 0.5, 1.0, 2.0, 4.0]
    assert all(each["calls_until_stop"] == found["calls"] for each in found["forecasts"])  # twelve are all there are
    text = said(*words)
    assert "which of paint and jpeg:quality=40 keeps more rounds?" in text
    assert "standard deviation of 5.0 rounds" in text


def test_too_few_sources_are_reported_before_paying():
    assert "there can be no verdict: it needs 12 sources" in said("--suite", "demo", "--decide", "paint,jpeg")


def test_a_pilot_says_where_the_comparison_stands(tmp_path):
    order = run_order("small", [f"picture-{number}" for number in range(16)])
    folder = small_dataset.write(tmp_path / "pilot", {"steady": 0.02, "fading": 0.4}, order[:13], ("hat",), 2)
    found = _decide._pilot_standing(folder, "steady", "fading", order)
    assert (found["sources"], found["looked_at"], found["verdict"]) == (13, 12, "steady")
    assert found["next"] == order[13:16] + order[16:]
    assert found["mean"] > 0
    lines = _decide._pilot_lines(found, {"first": "steady", "second": "fading", "needed": sequential.FIRST})
    assert lines[-1] == "stop: steady keeps more"
    gap = _decide._pilot_standing(folder, "steady", "fading", ["another", *order])
    assert (gap["sources"], gap["out_of_order"], gap["verdict"]) == (0, 13, "")
    with pytest.raises(UserError, match="has no scores of 'nobody'; it has fading, steady"):
        _decide._pilot_standing(folder, "steady", "nobody", order)
