"""Where the differences come from: the variance of rounds kept, split."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.outcomes import Outcome

from ..study.cases import Case
from ..study.groups import CaseGroup
from ..study.tables import Column, Table

TERMS = ("editor", "program", "source", "editor × program", "editor × source")
COLUMNS = (
    Column("group", "Programs", shown=False),
    Column("term", "Term"),
    Column("df", "Degrees of freedom", "count"),
    Column("share", "Share of the variance", "share"),
    Column("adjusted", "Without what chance explains", "share"),
)
Outcomes = Mapping[str, Sequence[Outcome]]


def known(group: CaseGroup, outcomes: Outcomes, least: int = 1) -> list[tuple[Case, Outcome]]:
    """The cases of the editors under test, without those that are missing."""
    return [
        (case, outcome)
        for editor in group.tested(least)
        for case, outcome in zip(group.cases[editor], outcomes[editor], strict=True)
        if not outcome.failed
    ]


def table(groups: Sequence[CaseGroup], outcomes: Mapping[str, Outcomes]) -> Table:
    """Each term's share of the sum of squares, after those above it; what is left is the last row."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        split = shares(known(group, outcomes[group.name], least=2))
        rows += [{"group": group.name} | row for row in split]
    note = "" if rows else "Rounds kept do not differ, so there is no variance to split."
    if any(group.roles[editor] == "reference" for group in groups for editor in group.tested(2)):
        note += "There are fewer than two editors, so reference rows are among those whose variance is split. "
    if any(row["term"] == "what is left" and not row["df"] for row in rows):
        note += "Without repeated runs nothing is left over that would tell an interaction from chance."
    return Table("variance", "What the variance of rounds kept goes with", COLUMNS, rows, note)


def shares(values: Sequence[tuple[Case, Outcome]]) -> list[dict[str, Any]]:
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
    blocks = [np.ones((len(kept), 1)), *(indicators(each) for each in names)]
    design = np.concatenate(blocks, axis=1)
    gram, right = design.T @ design, design.T @ kept
    ends = np.cumsum([block.shape[1] for block in blocks])
    fits = [explained(gram[:end, :end], right[:end]) for end in ends]
    left, left_df = max(total - fits[-1][0], 0.0), len(kept) - fits[-1][1]
    left = left if left_df else 0.0  # and not what rounding leaves
    noise = left / left_df if left_df > 0 else None
    rows = [
        {"term": term, "df": rank - rank_before, "share": max(fit - before, 0.0) / total}
        | {"adjusted": adjusted(fit - before, rank - rank_before, noise, total)}
        for term, ((before, rank_before), (fit, rank)) in zip(TERMS, pairwise(fits), strict=True)
        if rank > rank_before
    ]
    return [*rows, {"term": "what is left", "df": left_df, "share": left / total, "adjusted": None}]


def indicators(names: Sequence[Any]) -> np.ndarray:
    _, places = np.unique([repr(name) for name in names], return_inverse=True)
    return np.eye(places.max() + 1)[places]


def explained(gram: np.ndarray, right: np.ndarray) -> tuple[float, int]:
    """The sum of squares that the columns explain, and how many of them stand alone."""
    values, vectors = np.linalg.eigh(gram)
    there = values > values.max() * 1e-10
    along = vectors[:, there].T @ right
    return float((along**2 / values[there]).sum()), int(there.sum())


def adjusted(squares: float, df: int, noise: float | None, total: float) -> float | None:
    """Omega squared: what is left of a share when as much as chance gives is taken off."""
    return None if noise is None or not df else max((squares - df * noise) / (total + noise), 0.0)
