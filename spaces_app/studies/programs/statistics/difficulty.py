"""How hard a program is: its effect on the half-life in a model with editors and sources.

Only faces get glasses, and some faces are hard whatever is asked. So the logarithm of the
half-life is modelled as editor + source + program. Centring removes the effects of sources,
and the interval takes sources as independent (a sandwich estimate with t quantiles).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from convergebench.generation.records import REVERSIBILITY

from ....analysis.analysis import Analysis
from ....analysis.groups import ROLES
from ....analysis.tables import Estimate, TableRow, column
from ....statistics import OnPage

TITLE = "Difficulty of programs as measured"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=30)
_FEWEST_SOURCES = 3  # fewer give no interval
_Factor = tuple[Estimate, str | None]  # or the reason there is none


class Row(TableRow):
    group: str = column("Programs", shown=False)
    program: str = column("Program")
    declared: str = column("Declared")
    factor: Estimate = column("Half-life against the average program's", "factor")
    behaves: str | None = column("Behaves like")
    survived: float = column("Survived all rounds", "share")
    chains: int = column("Cases", "count")
    sources: int = column("Pictures", "count")
    reason: str | None = column("Why there is no factor")


def rows(analysis: Analysis) -> list[Row]:
    rows = []
    for name, group in analysis.groups.items():
        tested = [editor for editor in group.cases if group.roles[editor] == ROLES["editor"]]
        pairs = [pair for pair in analysis.with_outcomes(group, *tested) if not pair[1].failed]
        cases = [case for case, _ in pairs]
        lives = [outcome.lost_at for _, outcome in pairs]
        editors, sources, programs = (
            [getattr(case, key) for case in cases] for key in ("editor", "source", "program")
        )
        declared = {case.program: case.reversibility for case in cases}
        rows += difficulty(name, lives, editors, sources, programs, declared, group.rounds)
    return rows


def difficulty(
    group: str,
    half_lives: Sequence[float | None],
    editors: Sequence[str],
    sources: Sequence[str],
    programs: Sequence[str],
    declared: Mapping[str, str],
    horizon: int,
) -> list[Row]:
    """Hardest first; None as a half-life means alive after the last round.

    >>> chains = [(1, "cat"), (4, "cat"), (2, "dog"), (9, "dog"), (2, "elk"), (8, "elk"), (3, "fox"), (11, "fox")]
    >>> lives, names = zip(*chains)
    >>> for row in difficulty("", lives, ["e"] * 8, names, ["hat", "flip"] * 4, {"hat": "clear", "flip": "exact"}, 20):
    ...     print(row.program, *(round(value, 2) for value in row.factor))
    hat 0.5 0.47 0.53
    flip 2.01 1.88 2.15
    """
    # What outlived the last round counts as lost just after it.
    lives = np.log2([horizon + 1 if life is None else min(life, horizon + 1) for life in half_lives])
    effects = (
        _program_effects(lives, np.array(editors), np.array(sources), np.array(programs)) if half_lives else {}
    )
    cases: dict[str, list[tuple[str, bool]]] = {}  # by program: the source, and whether it survived
    for name, source, life in zip(programs, sources, half_lives, strict=True):
        cases.setdefault(name, []).append((source, life is None))
    seen = {name: len({source for source, _ in of_program}) for name, of_program in cases.items()}
    factors = {name: _factor(effects.get(name), seen[name]) for name in cases}
    rows = [
        Row(
            group=group,
            program=name,
            declared=declared[name],
            factor=factors[name][0],
            behaves=_likely_class(name, factors, declared),
            survived=float(np.mean([survived for _, survived in of_program])),
            chains=len(of_program),
            sources=seen[name],
            reason=factors[name][1],
        )
        for name, of_program in cases.items()
    ]
    return sorted(rows, key=lambda row: (row.factor.value is None, row.factor.value or 0, row.program))


def _factor(effect: tuple[float, float] | None, sources: int) -> _Factor:
    """Or the reason there is none; 0.5 halves the average program's half-life."""
    from scipy.special import stdtrit

    if effect is None:
        return Estimate(), "shares no pictures with other programs"
    if sources < _FEWEST_SOURCES:
        return Estimate(), f"only {sources} of the {_FEWEST_SOURCES} sources an interval needs"
    reach = float(stdtrit(sources - 1, 0.975)) * effect[1]
    return Estimate(*(2.0 ** (effect[0] + way * reach) for way in (0, -1, 1))), None


def _program_effects(
    lives: np.ndarray, editors: np.ndarray, sources: np.ndarray, programs: np.ndarray
) -> dict[str, tuple[float, float]]:
    linked = _largest_linked(sources, programs)
    lives, editors, sources, programs = (values[linked] for values in (lives, editors, sources, programs))
    names = sorted(set(programs.tolist()))
    if len(names) < 2:
        return {}
    indicators = [*(programs == name for name in names), *(editors == name for name in sorted(set(editors))[1:])]
    centred, target = np.column_stack(indicators).astype(float), lives.copy()
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
    effects = contrast @ answer[: len(names)]
    variances = np.diag(contrast @ spread[: len(names), : len(names)] @ contrast.T)
    errors = np.sqrt(np.maximum(variances, 0))
    return dict(zip(names, zip(effects.tolist(), errors.tolist(), strict=True), strict=True))


def _largest_linked(sources: np.ndarray, programs: np.ndarray) -> np.ndarray:
    """Sources link programs; effects across a gap cannot be told apart."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names, rows = np.unique(programs, return_inverse=True)
    columns = len(names) + np.unique(sources, return_inverse=True)[1]
    size = columns.max() + 1
    links = coo_array((np.ones(len(rows)), (rows, columns)), (size, size))
    parts = connected_components(links, directed=False)[1]
    return np.asarray(parts[rows] == np.bincount(parts[: len(names)]).argmax())


def _likely_class(program: str, factors: Mapping[str, _Factor], declared: Mapping[str, str]) -> str | None:
    factor, own_class = factors[program][0], declared[program]
    others: dict[str, list[float]] = {name: [] for name in REVERSIBILITY}
    for other, (of_other, _) in factors.items():
        if other != program and of_other.value:
            others[declared[other]].append(np.log2(of_other.value))
    levels = {name: float(np.mean(effects)) for name, effects in others.items() if effects}
    if factor.value is None or own_class not in levels:
        return None
    effect, low, high = np.log2(np.array(factor, float))
    nearest = min(levels, key=lambda name: abs(levels[name] - effect))
    return None if low <= levels[own_class] <= high or nearest == own_class else nearest
