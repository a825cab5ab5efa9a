"""Compares editors in pairs on their common cases: differences of rounds kept, verdicts and ranks.

Signs are flipped by whole sources, because chains of one source are not independent.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TypeVar

import numpy as np
from scipy import special

from .sign_flips import sign_flip_p, step_down

LEVEL = 0.05
_CONFIDENCE = 0.95
RANKED_FROM = 12  # sources; fewer can only indicate

Case = TypeVar("Case", bound=Hashable)
Group = TypeVar("Group", bound=Hashable)
_RoundsKept = Mapping[Case, float | None]  # per case; None if the case failed technically


@dataclass(frozen=True)
class Comparison:
    first: str
    second: str
    cases: int  # that both have
    left_out: int  # that only one has, or that failed technically
    sources: int
    difference: float | None  # rounds that the first keeps more than the second, on average over sources
    interval: tuple[float, float] | None
    p_value: float | None  # of this pair alone: no third editor moves it
    p_corrected: float | None = None  # for all pairs of the table at once; None below 12 sources
    verdict: str = "indicative"  # first, second, open; "indicative" with fewer than 12 sources
    by_source: Mapping[Hashable, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def sentence(self) -> str:
        if self.difference is None:
            return f"{self.first} and {self.second} have no case in common"
        winner, loser = (self.first, self.second) if self.difference >= 0 else (self.second, self.first)
        counts = f"{self.cases} cases of {self.sources} sources"
        rounds = f"{abs(self.difference):.1f} rounds longer than {loser} on {counts}"
        word = {"indicative": " (indicative)", "open": " (within chance)"}.get(self.verdict, "")
        return f"{winner} keeps {rounds}{word}"


def compare(
    names: tuple[str, str],
    first: _RoundsKept[Case],
    second: _RoundsKept[Case],
    source_of: Mapping[Case, Hashable],
    cell_of: Mapping[Case, Hashable] | None = None,
) -> Comparison:
    """Compare two editors on their common cases: differences of rounds kept, averaged per source, then over sources.

    `cell_of` names what a case repeats (source and program): repeats are averaged first, so that running a case again
    with the same result changes nothing.
    """
    common = [case for case in first if first[case] is not None and second.get(case) is not None]
    left_out = len(first.keys() | second.keys()) - len(common)
    gains = {case: first[case] - second[case] for case in common}  # type: ignore[operator]
    if cell_of is None:
        by_source = averaged(gains, source_of)
    else:
        by_source = averaged(averaged(gains, cell_of), {cell_of[case]: source_of[case] for case in common})
    size = len(by_source)
    if not size:
        return Comparison(*names, 0, left_out, 0, None, None, None)
    means = np.array(list(by_source.values()))
    centre = mean(means)
    interval = None
    if size > 1:
        spread = (fsum((means - centre) ** 2) / (size - 1) / size) ** 0.5
        reach = float(special.stdtrit(size - 1, (1 + _CONFIDENCE) / 2)) * spread
        interval = (centre - reach, centre + reach)
    return Comparison(*names, len(common), left_out, size, centre, interval, sign_flip_p(means), by_source=by_source)


def averaged(values: Mapping[Case, float], group_of: Mapping[Case, Group]) -> dict[Group, float]:
    groups: dict[Group, list[float]] = {}
    for name, value in values.items():
        groups.setdefault(group_of[name], []).append(value)
    return {group: mean(members) for group, members in groups.items()}


def mean(values: Sequence[float] | np.ndarray) -> float:
    """The mean, summed exactly, so that it does not depend on the order of the values."""
    return fsum(values) / len(values)


def judge_together(pairs: Sequence[Comparison]) -> list[Comparison]:
    """The pairs with their corrected p and verdicts; pairs on too few sources are not in the family."""
    family = [place for place, pair in enumerate(pairs) if pair.sources >= RANKED_FROM]
    sources = list(dict.fromkeys(source for place in family for source in pairs[place].by_source))
    row_of = {source: row for row, source in enumerate(sources)}
    table = np.full((len(sources), len(family)), np.nan)
    for column, place in enumerate(family):
        by_source = pairs[place].by_source
        table[[row_of[source] for source in by_source], column] = list(by_source.values())
    judged = list(pairs)
    # A single pair has nothing to be corrected for.
    stepped = step_down(table) if len(family) > 1 else np.zeros(len(family))
    for place, corrected in zip(family, stepped, strict=True):
        pair = pairs[place]
        p = max(float(corrected), pair.p_value or 0.0)
        judged[place] = replace(pair, p_corrected=p, verdict=_verdict(pair, p))
    return judged


def _verdict(pair: Comparison, p_value: float | None) -> str:
    if pair.sources < RANKED_FROM or p_value is None:
        return "indicative"
    if p_value > LEVEL:
        return "open"
    return "first" if (pair.difference or 0) > 0 else "second"


def judge_alone(pairs: Sequence[Comparison]) -> list[Comparison]:
    """The pairs with verdicts by their uncorrected p, for comparisons with a fixed baseline.

    Other editors in the table do not change them, but of twenty that equal the baseline one is called different.
    """
    return [replace(pair, verdict=_verdict(pair, pair.p_value)) for pair in pairs]


def rank_intervals(editors: Sequence[str], pairs: Sequence[Comparison]) -> dict[str, tuple[int, int] | None]:
    """The best and worst rank of every editor that the verdicts allow; None for an editor without a judged pair.

    One more than the number of editors that are better, and the number of ranked editors less those that are worse.
    The family error of the verdicts is that of all intervals together.
    Reference: Al Mohamad, Goeman and van Zwet, Simultaneous confidence intervals for ranks, Journal of Multivariate
    Analysis 188 (2022).
    """
    better, worse = dict.fromkeys(editors, 0), dict.fromkeys(editors, 0)
    ranked: set[str] = set()
    for pair in pairs:
        if pair.verdict == "indicative":
            continue
        ranked |= {pair.first, pair.second}
        if pair.verdict != "open":
            winner, loser = (pair.first, pair.second) if pair.verdict == "first" else (pair.second, pair.first)
            worse[winner] += 1
            better[loser] += 1
    return {name: (1 + better[name], len(ranked) - worse[name]) if name in ranked else None for name in editors}
