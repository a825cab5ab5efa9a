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


def test_twelve_sources_give_a_verdict_and_fewer_indicate():
    """Equal editors, and whatever else is open: test_kept_numbers.py."""
    for sources, verdict, words in ((12, "first", ""), (11, "indicative", "; too few pictures to rank")):
        names = list(product(range(sources), range(3)))
        first = {name: 5.5 + name[0] % 2 for name in names}
        editors = {"a": first, "b": dict.fromkeys(names, 3.5), "c": {}}
        pairs = [
            compare((a, b), editors[a], editors[b], {name: name[0] for name in names})
            for a, b in combinations(editors, 2)
        ]
        pair, empty, _ = judge_together(pairs)
        assert (pair.verdict, pair.p_value, pair.interval[0] > 1.5) == (verdict, 2 / 2**sources, True)
        assert pair.p_corrected == (pair.p_value if sources == 12 else None)
        assert (empty.cases, empty.sources, empty.difference, empty.verdict) == (0, 0, None, "indicative")
        counts = f"{3 * sources} tests on {sources} pictures"
        assert pair.sentence == f"a survives 2.5 rounds more than b ({counts}{words})"


def test_means_of_a_few_whole_rounds_are_exact():
    assert [size for size in (*range(1, 21), 25) if _GRID % size] == []
