"""What explains the differences between cases: the variance of rounds kept, split into terms."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.outcomes import Outcome

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.tables import TableRow, column
from . import OnPage

TITLE = "What explains the differences in rounds survived"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=10)
_TERMS = ("editor", "program", "source", "editor × program", "editor × source")
_RESIDUAL = "residual"


class Row(TableRow):
    group: str = column("Programs", shown=False)
    term: str = column("Term")
    df: int = column("Degrees of freedom", "count")
    share: float = column("Share of the variance", "share")
    adjusted: float | None = column("Share beyond chance", "share")


def rows(analysis: Analysis) -> list[Row]:
    """Each term's share of the sum of squares, after those above it; the residual is the last row."""
    return [
        row
        for name, group in analysis.groups.items()
        for row in variance_shares(name, analysis.measured_cases(group, least=2))
    ]


def note(analysis: Analysis, rows: Sequence[Row]) -> str:
    sentences = [] if rows else ["All tests survive the same number of rounds, so there is no variance to split."]
    if any(group.roles[editor] == "baseline" for group in analysis.groups.values() for editor in group.tested(2)):
        sentences.append("There are fewer than two editors, so baselines are included.")
    if any(row.term == _RESIDUAL and not row.df for row in rows):
        sentences.append("Without repeated runs there is no residual that would tell an interaction from chance.")
    return " ".join(sentences)


def variance_shares(group: str, values: Sequence[tuple[Case, Outcome]]) -> list[Row]:
    """Sequential sums of squares by least squares on indicator columns; empty if nothing varies."""
    rounds_kept = np.array([outcome.kept for _, outcome in values], float)
    rounds_kept = rounds_kept - rounds_kept.mean() if len(rounds_kept) else rounds_kept
    total = float(rounds_kept @ rounds_kept)
    if total < 1e-9:
        return []
    levels = [
        (case.editor, case.program, case.source, (case.editor, case.program), (case.editor, case.source))
        for case, _ in values
    ]
    blocks = [np.ones((len(rounds_kept), 1)), *(_indicators(names) for names in zip(*levels, strict=True))]
    design = np.concatenate(blocks, axis=1)
    gram, right = design.T @ design, design.T @ rounds_kept
    ends = np.cumsum([block.shape[1] for block in blocks])
    fits = [_explained(gram[:end, :end], right[:end]) for end in ends]
    residual_df = len(rounds_kept) - fits[-1][1]
    residual = max(total - fits[-1][0], 0.0) if residual_df else 0.0  # without df, a difference is only rounding
    noise = residual / residual_df if residual_df > 0 else None
    rows = [
        Row(
            group=group,
            term=term,
            df=rank - rank_before,
            share=max(fit - before, 0.0) / total,
            adjusted=_omega_squared(fit - before, rank - rank_before, noise, total),
        )
        for term, ((before, rank_before), (fit, rank)) in zip(_TERMS, pairwise(fits), strict=True)
        if rank > rank_before
    ]
    return [*rows, Row(group=group, term=_RESIDUAL, df=residual_df, share=residual / total, adjusted=None)]


def _indicators(names: Sequence[Any]) -> np.ndarray:
    _, places = np.unique([repr(name) for name in names], return_inverse=True)
    return np.eye(places.max() + 1)[places]


def _explained(gram: np.ndarray, right: np.ndarray) -> tuple[float, int]:
    """The sum of squares that the columns explain, and how many of them are independent."""
    values, vectors = np.linalg.eigh(gram)
    independent = values > values.max() * 1e-10
    projected = vectors[:, independent].T @ right
    return float((projected**2 / values[independent]).sum()), int(independent.sum())


def _omega_squared(squares: float, df: int, noise: float | None, total: float) -> float | None:
    """Omega squared: a term's share less what chance alone would give."""
    return None if noise is None or not df else max((squares - df * noise) / (total + noise), 0.0)
