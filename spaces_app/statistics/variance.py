"""Where the differences come from: the variance of rounds kept, split."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.outcomes import Outcome

from ..analysis.analysis import Analysis
from ..analysis.cases import Case
from ..analysis.tables import Column
from . import OnPage, Rows

TITLE = "What explains the differences in rounds survived"
SECTION = "Where editors fail first"
ON_PAGE = OnPage(order=10)
TERMS = ("editor", "program", "source", "editor × program", "editor × source")
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("term", "Term"),
    Column("df", "Degrees of freedom", "count"),
    Column("share", "Share of the variance", "share"),
    Column("adjusted", "Without what chance explains", "share"),
)


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Each term's share of the sum of squares, after those above it; what is left is the last row."""
    return [
        {"group": name} | row
        for name, group in analysis.groups.items()
        for row in variance_shares(analysis.measured_cases(group, least=2))
    ]


def note(analysis: Analysis, rows: Rows) -> str:
    sentences = [] if rows else ["Rounds kept do not differ, so there is no variance to split."]
    if any(group.roles[editor] == "baseline" for group in analysis.groups.values() for editor in group.tested(2)):
        sentences.append("There are fewer than two editors, so baselines are among those whose variance is split.")
    if any(row["term"] == "what is left" and not row["df"] for row in rows):
        sentences.append("Without repeated runs nothing is left over that would tell an interaction from chance.")
    return " ".join(sentences)


def variance_shares(values: Sequence[tuple[Case, Outcome]]) -> list[dict[str, Any]]:
    """Sequential sums of squares by least squares on indicator columns; empty where nothing varies."""
    kept = np.array([outcome.kept for _, outcome in values], float)
    kept = kept - kept.mean() if len(kept) else kept
    total = float(kept @ kept)
    if total < 1e-9:
        return []
    names = [
        [(case.editor, case.program, case.source, (case.editor, case.program), (case.editor, case.source))[place]
         for case, _ in values]
        for place in range(len(TERMS))
    ]  # fmt: skip
    blocks = [np.ones((len(kept), 1)), *(indicator_columns(each) for each in names)]
    design = np.concatenate(blocks, axis=1)
    gram, right = design.T @ design, design.T @ kept
    ends = np.cumsum([block.shape[1] for block in blocks])
    fits = [explained_squares(gram[:end, :end], right[:end]) for end in ends]
    left, left_df = max(total - fits[-1][0], 0.0), len(kept) - fits[-1][1]
    left = left if left_df else 0.0  # and not what rounding leaves
    noise = left / left_df if left_df > 0 else None
    rows = [
        {"term": term, "df": rank - rank_before, "share": max(fit - before, 0.0) / total}
        | {"adjusted": adjusted_share(fit - before, rank - rank_before, noise, total)}
        for term, ((before, rank_before), (fit, rank)) in zip(TERMS, pairwise(fits), strict=True)
        if rank > rank_before
    ]
    return [*rows, {"term": "what is left", "df": left_df, "share": left / total, "adjusted": None}]


def indicator_columns(names: Sequence[Any]) -> np.ndarray:
    _, places = np.unique([repr(name) for name in names], return_inverse=True)
    return np.eye(places.max() + 1)[places]


def explained_squares(gram: np.ndarray, right: np.ndarray) -> tuple[float, int]:
    """The sum of squares that the columns explain, and how many of them stand alone."""
    values, vectors = np.linalg.eigh(gram)
    independent = values > values.max() * 1e-10
    projected = vectors[:, independent].T @ right
    return float((projected**2 / values[independent]).sum()), int(independent.sum())


def adjusted_share(squares: float, df: int, noise: float | None, total: float) -> float | None:
    """Omega squared: what is left of a share when as much as chance gives is taken off."""
    return None if noise is None or not df else max((squares - df * noise) / (total + noise), 0.0)
