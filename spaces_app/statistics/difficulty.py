"""How hard a program is: its effect on the half-life in a model with editors and sources.

Chains are not balanced: only faces get glasses, and some faces are hard whatever is asked. So the base-2 logarithm of
the half-life is modelled as editor + source + program. Source effects leave by centring within sources; the interval
takes the sources, not the chains, as the independent observations (a sandwich estimate with t quantiles).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from convergebench.generation.records import REVERSIBILITY
from numpy.typing import NDArray
from scipy import special

from ..analysis.analysis import Analysis
from ..analysis.tables import Estimate, TableRow, column
from . import OnPage

TITLE = "Difficulty of programs as measured"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=30)
_FEWEST_SOURCES = 3  # fewer give no interval


class Row(TableRow):
    group: str = column("Programs", shown=False)
    program: str = column("Program")
    declared: str = column("Declared")
    factor: Estimate = column("Half-life against the average program's", "factor")
    behaves: str | None = column("Behaves like")
    survived: float = column("Survived all rounds", "share")
    chains: int = column("Cases", "count")
    sources: int = column("Sources", "count")
    reason: str | None = column("Why there is no factor")


def rows(analysis: Analysis) -> list[Row]:
    """Each program's effect on the half-life once editors and pictures are accounted for, with its declared class."""
    rows = []
    for name, group in analysis.groups.items():
        cases = analysis.measured_cases(group)
        if not cases:
            continue
        lives = [outcome.lost_at for _, outcome in cases]
        editors, sources, programs = (
            [getattr(case, key) for case, _ in cases] for key in ("editor", "source", "program")
        )
        declared = {case.program: case.reversibility for case, _ in cases}
        rows += [
            Row(
                group=name,
                program=program.program,
                declared=program.declared,
                factor=Estimate(program.factor, program.low, program.high),
                behaves=program.behaves,
                survived=program.survived,
                chains=program.chains,
                sources=program.sources,
                reason=program.reason,
            )
            for program in difficulty(lives, editors, sources, programs, declared, group.rounds)
        ]
    return rows


@dataclass(frozen=True)
class Difficulty:
    """One program. A factor of 0.5 halves the half-life that the average program has on the same pictures."""

    program: str
    factor: float | None
    low: float | None
    high: float | None
    chains: int
    sources: int
    survived: float  # share of its chains that outlived the last round; they count as lost just after it
    declared: str
    behaves: str | None = None  # the class it behaves like, if that is not the declared one
    reason: str | None = None  # why it has no factor


def difficulty(
    half_lives: Sequence[float | None],
    editors: Sequence[str],
    sources: Sequence[str],
    programs: Sequence[str],
    declared: Mapping[str, str],
    horizon: int,
    confidence: float = 0.95,
) -> list[Difficulty]:
    """Every program's effect on the half-life, hardest first; None as a half-life means alive after the last round.

    >>> chains = [(1, "cat"), (4, "cat"), (2, "dog"), (9, "dog"), (2, "elk"), (8, "elk"), (3, "fox"), (11, "fox")]
    >>> lives, names = zip(*chains)
    >>> for row in difficulty(lives, ["e"] * 8, names, ["hat", "flip"] * 4, {"hat": "clear", "flip": "exact"}, 20):
    ...     print(row.program, round(row.factor, 2), round(row.low, 2), round(row.high, 2))
    hat 0.5 0.47 0.53
    flip 2.01 1.88 2.15
    """
    lengths = {len(values) for values in (half_lives, editors, sources, programs)}
    if len(lengths) != 1 or horizon < 1 or not half_lives:
        raise ValueError(
            f"half-lives, editors, sources and programs have lengths {sorted(lengths)}; give equal ones above 0"
        )
    if unknown := sorted(set(programs) - set(declared)):
        raise ValueError(f"no declared class for {', '.join(unknown)}; give one of {', '.join(REVERSIBILITY)} each")
    lives = np.log2([horizon + 1 if life is None else min(life, horizon + 1) for life in half_lives])
    rows = [_without_factor(name, half_lives, sources, programs, declared[name]) for name in dict.fromkeys(programs)]
    effects = _program_effects(lives, editors, sources, programs)
    rows = [_with_factor(row, effects, confidence) for row in rows]
    rows = [_with_likely_class(row, rows) for row in rows]
    return sorted(rows, key=lambda row: (row.factor is None, row.factor or 0, row.program))


def _without_factor(
    name: str, half_lives: Sequence[float | None], sources: Sequence[str], programs: Sequence[str], declared: str
) -> Difficulty:
    """A program's counts, before any effect is estimated."""
    places = [index for index, program in enumerate(programs) if program == name]
    survived = float(np.mean([half_lives[index] is None for index in places]))
    seen = len({sources[index] for index in places})
    return Difficulty(name, None, None, None, len(places), seen, survived, declared)


def _with_factor(row: Difficulty, effects: Mapping[str, tuple[float, float]], confidence: float) -> Difficulty:
    """The factor with its interval, or the reason there is none."""
    if row.program not in effects:
        return replace(row, reason="shares no pictures with other programs")
    if row.sources < _FEWEST_SOURCES:
        return replace(row, reason=f"only {row.sources} of the {_FEWEST_SOURCES} sources an interval needs")
    effect, error = effects[row.program]
    reach = float(special.stdtrit(row.sources - 1, (1 + confidence) / 2)) * error
    return replace(row, factor=2.0**effect, low=2.0 ** (effect - reach), high=2.0 ** (effect + reach))


def _linked_programs(sources: Sequence[str], programs: Sequence[str]) -> list[str]:
    """The largest set of programs that sources link with each other; effects across a gap cannot be told apart."""
    groups: dict[str, set[str]] = {}
    for source, program in zip(sources, programs, strict=True):
        groups.setdefault(source, set()).add(program)
    remaining, largest = set(programs), set[str]()
    while remaining:
        reached, grown = set[str](), {min(remaining)}
        while grown != reached:
            reached = grown
            grown = reached.union(*(group for group in groups.values() if group & reached))
        remaining -= reached
        largest = max(largest, reached, key=len)
    return sorted(largest) if len(largest) > 1 else []


def _program_effects(
    lives: NDArray[np.float64], editors: Sequence[str], sources: Sequence[str], programs: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Each comparable program's effect in doublings against their mean, and its standard error."""
    names = _linked_programs(sources, programs)
    if not names:
        return {}
    inside = [index for index, name in enumerate(programs) if name in names]
    inside_editors, inside_sources, inside_programs = (
        np.array(values)[inside] for values in (editors, sources, programs)
    )
    return _regression(lives[inside], inside_editors, inside_sources, inside_programs, names)


def _regression(
    lives: NDArray[np.float64],
    editors: NDArray[np.str_],
    sources: NDArray[np.str_],
    programs: NDArray[np.str_],
    names: list[str],
) -> dict[str, tuple[float, float]]:
    """Least squares within sources, with the spread that whole sources have."""
    kinds = sorted(set(editors))
    design = np.column_stack([*(programs == name for name in names), *(editors == kind for kind in kinds[1:])]).astype(
        float
    )
    centred, target = design.copy(), lives.copy()
    groups = [np.flatnonzero(sources == source) for source in dict.fromkeys(sources)]
    for group in groups:
        centred[group] -= centred[group].mean(axis=0)
        target[group] -= target[group].mean()
    inverse = np.linalg.pinv(centred.T @ centred)
    answer = inverse @ centred.T @ target
    residuals = target - centred @ answer
    pulls = np.array([centred[group].T @ residuals[group] for group in groups])
    spread = inverse @ (pulls.T @ pulls) @ inverse * len(groups) / max(1, len(groups) - 1)
    contrast = np.eye(len(names)) - 1 / len(names)
    effect = contrast @ answer[: len(names)]
    variance = np.diag(contrast @ spread[: len(names), : len(names)] @ contrast.T)
    errors = np.sqrt(np.maximum(variance, 0))
    return {name: (float(effect[i]), float(errors[i])) for i, name in enumerate(names)}


def _with_likely_class(row: Difficulty, rows: Sequence[Difficulty]) -> Difficulty:
    """Flagged if its interval excludes the mean of its own class and another class's mean is nearer to it."""
    if row.factor is None or row.low is None or row.high is None:
        return row
    levels: dict[str, float] = {}
    for name in REVERSIBILITY:
        effects = [np.log2(other.factor) for other in rows if other.declared == name and other.factor and other != row]
        if effects:
            levels[name] = float(np.mean(effects))
    declared_level = levels.get(row.declared)
    if declared_level is None or np.log2(row.low) <= declared_level <= np.log2(row.high):
        return row
    effect = float(np.log2(row.factor))
    nearest = min(levels, key=lambda name: abs(levels[name] - effect))
    return row if nearest == row.declared else replace(row, behaves=nearest)
