"""Sign flips against their definitions by brute force, verdicts, ranks, and what must move none of them."""

from itertools import combinations, product

import numpy as np
import pytest
from convergebench.metric_modules.halflife.comparison import (
    _GRID,
    Comparison,
    _drawn_p,
    _sign_flip_p,
    _step_down,
    compare,
    judge_alone,
    judge_together,
    rank_intervals,
)


def all_pairs(editors, source_of, most=None):
    return judge_together(
        [compare((a, b), editors[a], editors[b], source_of, most) for a, b in combinations(editors, 2)]
    )


def brute(d):
    signs = np.array(list(product((1, -1), repeat=len(d))), float)
    return (np.abs(signs @ d) >= abs(d.sum()) - 1e-9).mean()


@pytest.mark.parametrize("kind", ["real", "whole", "ninths", "mixed", "tied"])
@pytest.mark.parametrize("size", [1, 2, 5, 9, 12, 14])
def test_the_exact_p_is_that_of_all_patterns(kind, size):
    rng = np.random.default_rng(size)
    d = {
        "real": rng.normal(0.4, 1, size),
        "whole": rng.integers(-3, 6, size).astype(float),
        "ninths": rng.integers(-9, 20, size) / 9,
        "mixed": rng.integers(-20, 40, size) / rng.integers(1, 26, size),
        "tied": np.random.default_rng(size + 2).normal(0.4, 1, size),
    }[kind]
    if kind == "tied" and size > 2:
        d[0] = -d[1:-1].sum()  # turned together they leave the sum as it is, but for rounding
    assert _sign_flip_p(d) == pytest.approx(brute(d), abs=1e-12)
    assert _sign_flip_p(d) == _sign_flip_p(-d[rng.permutation(size)])


def naive_step_down(d):
    """Westfall and Young by the book, Student's t, all flips; NaN = no common case."""

    def t(x):
        x = x[~np.isnan(x)]
        s = x.std(ddof=1)
        return np.inf if s < 1e-12 else abs(x.mean()) / s * np.sqrt(len(x))

    pairs = range(d.shape[1])
    observed = np.array([t(d[:, p]) for p in pairs])
    order = np.argsort(-observed)
    flips = np.array([[t(d[:, p] * g) for p in pairs] for g in map(np.array, product((1, -1), repeat=len(d)))])
    p = [(flips[:, order[i:]].max(axis=1) >= observed[order[i]] - 1e-9).mean() for i in range(len(order))]
    out = np.empty(len(order))
    out[order] = np.maximum.accumulate(p)
    return out


def test_step_down_is_westfall_and_young():
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (9, 5)) + np.array([0, 0, 0.5, 1.5, 3])
    d = np.array([x[:, a] - x[:, b] for a in range(5) for b in range(a + 1, 5)]).T
    assert _step_down(d) == pytest.approx(naive_step_down(d))


def test_adding_a_pair_never_lowers_a_p():
    rng = np.random.default_rng(5)
    d = rng.normal(0.5, 1, (13, 6))
    d[rng.random(d.shape) < 0.2] = np.nan
    few, all_ = _step_down(d[:, :4]), _step_down(d)
    assert (all_[:4] >= few - 1e-12).all()
    assert (_step_down(d[:, ::-1])[::-1] == all_).all()
    assert (_step_down(-d) == all_).all()


def cases(difference: float, sources: int, programs: int = 3) -> tuple[dict, dict, dict]:
    """Two editors on the same cases, the first better by about so many rounds."""
    rng = np.random.default_rng(16)
    names = [(source, program) for source in range(sources) for program in range(programs)]
    second = {name: float(rng.integers(2, 10)) for name in names}
    first = {name: kept + difference + rng.normal(0, 0.5) for name, kept in second.items()}
    return first, second, {name: name[0] for name in names}


def test_a_case_missing_through_failure_is_left_out_and_counted():
    first, second, source_of = cases(1, 12)
    first[0, 0] = None
    del second[3, 1]
    pair = compare(("a", "b"), first, second, source_of)
    assert (pair.cases, pair.left_out, pair.sources) == (34, 2, 12)


def test_twelve_sources_give_a_verdict_and_fewer_indicate():
    first, second, source_of = cases(2, 12)
    pair = all_pairs({"a": first, "b": second}, source_of)[0]
    assert (pair.verdict, pair.p_corrected) == ("first", 2 / 2**12)
    assert all_pairs({"b": second, "a": first}, source_of)[0].verdict == "second"
    alone = judge_alone([compare(("a", "b"), first, second, source_of)])[0]
    assert (alone.verdict, alone.p_corrected) == ("first", None)
    assert pair.interval[0] > 1.5
    assert pair.sentence == f"a survives {pair.difference:.1f} rounds more than b (36 tests on 12 pictures)"
    first, second, source_of = cases(3, 11)
    pair = all_pairs({"a": first, "b": second}, source_of)[0]
    assert pair.p_value < 0.001
    assert pair.verdict == "indicative"


def test_equal_editors_stay_open():
    first, second, source_of = cases(0, 14)
    pairs = all_pairs({"a": first, "b": second, "c": {}}, source_of)
    assert [pair.verdict for pair in pairs] == ["open", "indicative", "indicative"]
    assert (pairs[1].cases, pairs[1].sources, pairs[1].difference) == (0, 0, None)


def test_a_difference_is_that_of_the_tables_means():
    """The table averages tests; a pair on the same tests must say the difference of what it prints."""
    names = [("x", n) for n in range(9)] + [("y", 0)]
    first = {name: 4.0 if name[0] == "x" else 0.0 for name in names}
    second = dict.fromkeys(names, 2.0)
    pair = compare(("a", "b"), first, second, {name: name[0] for name in names}, 10)
    assert pair.difference == pytest.approx(np.mean([*first.values()]) - 2.0)
    assert (pair.p_value, pair.interval) == (1.0, (-10, 10))


def test_means_of_a_few_whole_rounds_are_exact():
    assert [size for size in (*range(1, 21), 25) if _GRID % size] == []


def test_random_flips_come_close_to_exact_ones():
    sizes = np.sort(np.abs(np.random.default_rng(15).normal(0.45, 1, 16)))
    differences = sizes * np.where(np.arange(16) % 4 == 0, -1, 1)
    assert _drawn_p(sizes, differences.sum()) == pytest.approx(brute(differences), abs=0.01)


def test_perfectly_ordered_editors_are_all_told_apart():
    rng = np.random.default_rng(3)
    level = rng.integers(0, 5, 12)
    editors = {n: dict(enumerate(n * 3.0 + level + rng.integers(0, 2, 12))) for n in range(20)}
    pairs = all_pairs(editors, {source: source for source in range(12)})
    assert {pair.verdict for pair in pairs} == {"second"}
    assert rank_intervals(list(editors), pairs) == {n: (20 - n, 20 - n) for n in range(20)}


def test_ranks_say_what_the_verdicts_leave_open():
    def pair(first, second, verdict):
        return Comparison(first, second, 40, 0, 20, 1.0, None, 0.01, 0.02, verdict)

    pairs = [
        pair("a", "b", "open"),
        pair("a", "c", "first"),
        pair("b", "c", "open"),
        pair("a", "d", "indicative"),
    ]
    assert rank_intervals("abcd", pairs) == {"a": (1, 2), "b": (1, 3), "c": (2, 3), "d": None}
