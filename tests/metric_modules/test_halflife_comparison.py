"""Sign flips and the step-down against their definitions by brute force, and what gives a verdict."""

from itertools import combinations, product

import numpy as np
import pytest
from convergebench.metric_modules.halflife.comparison import (
    _GRID,
    _sign_flip_p,
    _step_down,
    compare,
    judge_together,
)


def all_pairs(editors, source_of):
    return judge_together(
        [compare((a, b), editors[a], editors[b], source_of) for a, b in combinations(editors, 2)]
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


def cases(difference: float, sources: int, programs: int = 3) -> tuple[dict, dict, dict]:
    """Two editors on the same cases, the first better by about so many rounds."""
    rng = np.random.default_rng(16)
    names = [(source, program) for source in range(sources) for program in range(programs)]
    second = {name: float(rng.integers(2, 10)) for name in names}
    first = {name: kept + difference + rng.normal(0, 0.5) for name, kept in second.items()}
    return first, second, {name: name[0] for name in names}


def test_twelve_sources_give_a_verdict_and_fewer_indicate():
    first, second, source_of = cases(2, 12)
    pair = all_pairs({"a": first, "b": second}, source_of)[0]
    assert (pair.verdict, pair.p_corrected) == ("first", 2 / 2**12)
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


def test_means_of_a_few_whole_rounds_are_exact():
    assert [size for size in (*range(1, 21), 25) if _GRID % size] == []
