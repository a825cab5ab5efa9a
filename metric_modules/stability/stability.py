"""Stability of an editor: do repeated runs of the same task differ by more than chance?"""

from collections.abc import Sequence
from typing import ClassVar

from convergebench.metric_modules._shared import modules
from convergebench.metric_modules.stability.friedman import complete_rows, friedman, permutation_p
from scipy.stats import rankdata


def stability(table: Sequence[Sequence[float | None]]) -> dict[str, object]:
    """Friedman's test of repeated runs. Rows are images, columns runs; the direction of the score does not matter.

    >>> stability([[0.9, 0.8, 0.7]] * 6)["statistic"]
    12.0
    """
    values, left_out = complete_rows(table)
    statistic, p_value = friedman(values)
    exact_p, exact = permutation_p(values)
    return {
        "statistic": statistic,
        "p_chi_square": p_value,
        "p_permutation": exact_p,
        "permutation_exact": exact,
        "rank_sums": rankdata(values, axis=1).sum(axis=0).tolist(),
        "runs": values.shape[1],
        "images": values.shape[0],
        "images_left_out": left_out,
    }


class Stability(modules.Module):
    """Friedman's test over repeated runs: each image ranks its runs by a score, and if runs are exchangeable their sums
    of ranks are near to each other. Gives the statistic, its chi-square p, and beside it the p over all
    permutations."""

    function = staticmethod(stability)
    example: ClassVar = {"predictions": [[0.671, 0.668, 0.673], [0.702, 0.699, 0.705], [0.588, 0.594, 0.591]]}
