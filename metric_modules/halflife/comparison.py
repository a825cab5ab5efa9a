"""Two editors on the cases they have in common: who keeps more rounds, and is that more than luck?"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import special

EXACT_UP_TO = 12  # sources: 4,096 ways to flip the signs; as many are needed for a verdict
FLIPS = 20_000
SEED = 0
LEVEL = 0.05

Kept = Mapping[Hashable, float | None]  # rounds kept per case; None where the case failed technically


@dataclass(frozen=True)
class Comparison:
    """What the common cases of two editors say."""

    first: str
    second: str
    cases: int  # both have them
    left_out: int  # only one has them, or one failed technically
    sources: int
    difference: float | None  # rounds the first keeps more, on average over sources
    interval: tuple[float, float] | None
    p_value: float | None
    p_holm: float | None = None  # corrected for all pairs compared at once
    verdict: str = "indicative"  # first, second, open; "indicative" with fewer than 12 sources

    @property
    def sentence(self) -> str:
        if self.difference is None:
            return f"{self.first} and {self.second} have no case in common"
        more, less = (self.first, self.second) if self.difference >= 0 else (self.second, self.first)
        counts = f"{self.cases} cases of {self.sources} sources"
        rounds = f"{abs(self.difference):.1f} rounds longer than {less} on {counts}"
        word = {"indicative": " (indicative)", "open": " (within chance)"}.get(self.verdict, "")
        return f"{more} keeps {rounds}{word}"


def sign_flip_p(differences: Sequence[float] | np.ndarray) -> float:
    """Two-sided p of a mean of differences: the share of sign patterns that give a mean at least as far from zero.

    Exact up to 12 differences, beyond that from 20,000 seeded patterns with the observed one counted among them.
    Reference: Fisher, The Design of Experiments (1935), section 21.

    >>> sign_flip_p([1.0, 2.0, 3.0])
    0.25
    """
    values = np.asarray(differences, float)
    size = len(values)
    observed = abs(values.sum()) - 1e-9
    if size <= EXACT_UP_TO:
        signs = np.array(list(product((1, -1), repeat=size)), float)
        return float((np.abs(signs @ values) >= observed).mean())
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), (FLIPS, size))
    return float((1 + (np.abs(signs @ values) >= observed).sum()) / (1 + FLIPS))


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for having asked several questions at once.

    Reference: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    stepped = np.asarray(p_values, float)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return [float(each) for each in corrected]


def compare(
    names: tuple[str, str], first: Kept, second: Kept, source_of: Mapping[Hashable, Hashable], confidence: float = 0.95
) -> Comparison:
    """Two editors on their own common cases: differences of rounds kept, averaged per source, then over sources."""
    common = [case for case in first if first[case] is not None and second.get(case) is not None]
    left_out = len(first.keys() | second.keys()) - len(common)
    by_source: dict[Hashable, list[float]] = {}
    for case in common:
        by_source.setdefault(source_of[case], []).append(first[case] - second[case])  # type: ignore[operator]
    means = np.array([np.mean(each) for each in by_source.values()])
    size = len(means)
    if not size:
        return Comparison(*names, 0, left_out, 0, None, None, None)
    centre = float(means.mean())
    interval = None
    if size > 1:
        reach = float(special.stdtrit(size - 1, (1 + confidence) / 2) * means.std(ddof=1) / np.sqrt(size))
        interval = (centre - reach, centre + reach)
    return Comparison(*names, len(common), left_out, size, centre, interval, sign_flip_p(means))


def correct_together(pairs: Sequence[Comparison], level: float = LEVEL) -> list[Comparison]:
    """The same comparisons with p values corrected after Holm for all of them, and with verdicts."""
    corrected = iter(holm([pair.p_value for pair in pairs if pair.p_value is not None]))
    p_holm = [None if pair.p_value is None else next(corrected) for pair in pairs]
    return [
        replace(pair, p_holm=p_value, verdict=verdict(pair, p_value, level))
        for pair, p_value in zip(pairs, p_holm, strict=True)
    ]


def verdict(pair: Comparison, p_value: float | None, level: float) -> str:
    """Fewer than 12 sources can only indicate, whatever their p."""
    if pair.sources < EXACT_UP_TO or p_value is None:
        return "indicative"
    if p_value > level:
        return "open"
    return "first" if (pair.difference or 0) > 0 else "second"
