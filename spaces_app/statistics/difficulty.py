"""How hard a program is, measured: what it does to the half-life once editors and sources are accounted for.

Chains are not balanced: only faces get glasses, and some faces are hard whatever is asked. So the base-2 logarithm of
the half-life is modelled as editor + source + program. Source effects leave by centring within sources; the interval
takes the sources, not the chains, as the independent observations (a sandwich estimate with t quantiles).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy
from numpy.typing import NDArray
from scipy import special

ORDER = ("exact", "clear", "partial", "destroys information", "invents information")
FEWEST = 3  # sources without which there is no interval


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
    behaves: str | None = None  # the class it behaves like, where that is not the declared one
    reason: str | None = None  # why there is no factor


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
    if strangers := sorted(set(programs) - set(declared)):
        raise ValueError(f"no declared class for {', '.join(strangers)}; give one of {', '.join(ORDER)} each")
    lives = numpy.log2([horizon + 1 if life is None else min(life, horizon + 1) for life in half_lives])
    rows = [counted(name, half_lives, sources, programs, declared[name]) for name in dict.fromkeys(programs)]
    effects = fitted(lives, editors, sources, programs)
    rows = [limited(row, effects, confidence) for row in rows]
    rows = [judged(row, rows) for row in rows]
    return sorted(rows, key=lambda row: (row.factor is None, row.factor or 0, row.program))


def counted(
    name: str, half_lives: Sequence[float | None], sources: Sequence[str], programs: Sequence[str], declared: str
) -> Difficulty:
    """What there is to say of a program before any effect is estimated."""
    places = [index for index, program in enumerate(programs) if program == name]
    survived = float(numpy.mean([half_lives[index] is None for index in places]))
    seen = len({sources[index] for index in places})
    return Difficulty(name, None, None, None, len(places), seen, survived, declared)


def limited(row: Difficulty, effects: Mapping[str, tuple[float, float]], confidence: float) -> Difficulty:
    """The factor with its interval, or the reason why there is none."""
    if row.program not in effects:
        return replace(row, reason="shares no pictures with other programs")
    if row.sources < FEWEST:
        return replace(row, reason=f"only {row.sources} of the {FEWEST} sources an interval needs")
    effect, error = effects[row.program]
    reach = float(special.stdtrit(row.sources - 1, (1 + confidence) / 2)) * error
    return replace(row, factor=2.0**effect, low=2.0 ** (effect - reach), high=2.0 ** (effect + reach))


def comparable(sources: Sequence[str], programs: Sequence[str]) -> list[str]:
    """The largest set of programs that sources link with each other; effects across a gap cannot be told apart."""
    groups: dict[str, set[str]] = {}
    for source, program in zip(sources, programs, strict=True):
        groups.setdefault(source, set()).add(program)
    left, best = set(programs), set[str]()
    while left:
        reached, grown = set[str](), {min(left)}
        while grown != reached:
            reached = grown
            grown = reached.union(*(group for group in groups.values() if group & reached))
        left -= reached
        best = max(best, reached, key=len)
    return sorted(best) if len(best) > 1 else []


def fitted(
    lives: NDArray[numpy.float64], editors: Sequence[str], sources: Sequence[str], programs: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Each comparable program's effect in doublings against their mean, and its standard error."""
    names = comparable(sources, programs)
    if not names:
        return {}
    inside = [index for index, name in enumerate(programs) if name in names]
    kinds, places, asked = (numpy.array(values)[inside] for values in (editors, sources, programs))
    return regressed(lives[inside], kinds, places, asked, names)


def regressed(
    lives: NDArray[numpy.float64],
    editors: NDArray[numpy.str_],
    sources: NDArray[numpy.str_],
    programs: NDArray[numpy.str_],
    names: list[str],
) -> dict[str, tuple[float, float]]:
    """Least squares within sources, with the spread that whole sources have."""
    kinds = sorted(set(editors))
    design = numpy.column_stack(
        [*(programs == name for name in names), *(editors == kind for kind in kinds[1:])]
    ).astype(float)
    centred, target = design.copy(), lives.copy()
    groups = [numpy.flatnonzero(sources == source) for source in dict.fromkeys(sources)]
    for group in groups:
        centred[group] -= centred[group].mean(axis=0)
        target[group] -= target[group].mean()
    inverse = numpy.linalg.pinv(centred.T @ centred)
    answer = inverse @ centred.T @ target
    left = target - centred @ answer
    pulls = numpy.array([centred[group].T @ left[group] for group in groups])
    spread = inverse @ (pulls.T @ pulls) @ inverse * len(groups) / max(1, len(groups) - 1)
    contrast = numpy.eye(len(names)) - 1 / len(names)
    effect = contrast @ answer[: len(names)]
    variance = numpy.diag(contrast @ spread[: len(names), : len(names)] @ contrast.T)
    errors = numpy.sqrt(numpy.maximum(variance, 0))
    return {name: (float(effect[i]), float(errors[i])) for i, name in enumerate(names)}


def judged(row: Difficulty, rows: Sequence[Difficulty]) -> Difficulty:
    """Flagged where its interval excludes the mean of its own class and another class's mean is nearer to it."""
    if row.factor is None or row.low is None or row.high is None:
        return row
    levels: dict[str, float] = {}
    for name in ORDER:
        others = [
            numpy.log2(other.factor) for other in rows if other.declared == name and other.factor and other != row
        ]
        if others:
            levels[name] = float(numpy.mean(others))
    own = levels.get(row.declared)
    if own is None or numpy.log2(row.low) <= own <= numpy.log2(row.high):
        return row
    here = float(numpy.log2(row.factor))
    nearest = min(levels, key=lambda name: abs(levels[name] - here))
    return row if nearest == row.declared else replace(row, behaves=nearest)
