"""Degradation curves: mean and median per round with bands over sources, on the cases that all editors have."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import mean_interval, share_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import kaplan_meier

from ..study.cases import QUALITIES, RAW, RETAINED, Case
from ..study.groups import CaseGroup, lowest_quality
from ..study.tables import Column, Table

COLUMNS = (
    Column("group", "Programs"),
    Column("slice", "Slice"),
    Column("editor", "Editor"),
    Column("metric", "Metric"),
    Column("round", "Round", "count"),
    Column("mean", "Mean", "number", interval=True),
    Column("median", "Median", "number"),
    Column("cases", "Cases", "count"),
    Column("sources", "Sources", "count"),
    Column("on", "On which cases"),
)
SLICES = ("category", "kind")
SMALLEST = 2  # sources; a slice of fewer is not drawn
# No mean lies outside its metric's range, whatever Student's t says of two pictures; shares of something are 0 to 1.
RANGES = {"psnr": (0.0, np.inf), "rmse": (0.0, 255.0), "ssim": (-1.0, 1.0), "lpips": (0.0, np.inf), "clip": (-1.0, 1.0)}
NAMES = {
    "kept": "still converging",
    "quality": "retained quality (lowest of RMSE, SSIM, LPIPS)",
    **{f"retained {name}": f"retained {name.upper()}" for name in QUALITIES},
    "retained clip": "retained meaning (CLIP)",
    **{name: name.upper() for name in RAW},
}

Outcomes = Mapping[str, Sequence[Outcome]]


def table(groups: Sequence[CaseGroup], outcomes: Mapping[str, Outcomes]) -> Table:
    """All curves of all groups, whole and by category and kind."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        own = outcomes[group.name]
        rows += slice_rows(group, own, "all", lambda case: True, full=True)
        for name in SLICES:
            for value in sorted({getattr(case, name) for cases in group.cases.values() for case in cases}):
                chosen = matching(name, value)
                sources = {case.source for cases in group.cases.values() for case in cases if chosen(case)}
                if len(sources) >= SMALLEST:
                    rows += slice_rows(group, own, f"{name}: {value}", chosen, full=False)
    return Table("curves", "Curves over rounds", COLUMNS, rows)


def matching(name: str, value: str) -> Any:
    return lambda case: getattr(case, name) == value


def slice_rows(
    group: CaseGroup, outcomes: Outcomes, label: str, chosen: Any, full: bool, only: str | None = None
) -> list[dict[str, Any]]:
    """The curves of one slice, editor by editor; those of one metric where `only` names it."""
    picked = {
        editor: [
            (case, outcome)
            for case, outcome in zip(cases, outcomes[editor], strict=True)
            if chosen(case) and not outcome.failed
        ]
        for editor, cases in group.cases.items()
    }
    picked = {editor: pairs for editor, pairs in picked.items() if pairs}
    common = set.intersection(*({case.key for case, _ in pairs} for pairs in picked.values())) if picked else set()
    shared = all(len(common) * 2 >= len(pairs) for pairs in picked.values())
    rows = []
    for editor, pairs in picked.items():
        used = [pair for pair in pairs if not shared or pair[0].key in common]
        about = {"group": group.name, "slice": label, "editor": editor, "on": "common" if shared else "own"}
        rows += [about | row for row in editor_rows(group, used, full, only)]
    return rows


def editor_rows(
    group: CaseGroup, pairs: Sequence[tuple[Case, Outcome]], full: bool, only: str | None = None
) -> list[dict[str, Any]]:
    """Every curve of one editor over the rounds all of its cases were planned for."""
    cases = [case for case, _ in pairs]
    rounds = min(case.rounds for case in cases)
    sources = [case.source for case in cases]
    rows = survival_rows([outcome for _, outcome in pairs], sources, rounds) if only in (None, "kept") else []
    curves: dict[str, Sequence[Sequence[float | None]]] = {
        "quality": [lowest_quality(case, group.checks) for case in cases]
    }
    if full:
        curves |= {f"retained {name}": [case.retained[name] for case in cases] for name in RETAINED}
        curves |= {name: [case.raw[name] for case in cases] for name in RAW}
    for metric, lists in curves.items():
        if only not in (None, metric):
            continue
        values = np.array([list(each[:rounds]) + [None] * (rounds - len(each)) for each in lists], float)
        rows += [{"metric": metric} | row for row in value_rows(values, sources, metric)]
    return rows


def survival_rows(outcomes: Sequence[Outcome], sources: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """The share still converging after each round, by Kaplan and Meier."""
    times, lost = [outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes]
    grid, alive = kaplan_meier(times, lost)
    rows = []
    for round in range(1, rounds + 1):
        before = grid <= round
        share = float(alive[before][-1]) if before.any() else 1.0
        seen = [place for place, outcome in enumerate(outcomes) if outcome.time >= round or outcome.lost]
        if not seen:
            break
        marks = np.array([outcomes[place].time > round or not outcomes[place].lost for place in seen])
        low, high = share_interval(share, marks, [sources[place] for place in seen], 0.95) or (None, None)
        names = {sources[place] for place in seen}
        about = {"metric": "kept", "round": round, "cases": len(seen), "sources": len(names)}
        rows.append(about | {"mean": share, "mean_low": low, "mean_high": high, "median": None})
    return rows


def value_rows(values: np.ndarray, sources: Sequence[str], metric: str) -> list[dict[str, Any]]:
    """Mean with limits and median of each round, over the chains that have a value there."""
    least, most = RANGES.get(metric, (0.0, 1.0))
    rows = []
    for place in range(values.shape[1]):
        there = ~np.isnan(values[:, place])
        if not there.any():
            continue
        known, names = values[there, place], [name for name, each in zip(sources, there, strict=True) if each]
        low, high = mean_interval(known, names, 0.95) or (None, None)
        rows.append(
            {
                "round": place + 1,
                "mean": float(known.mean()),
                "mean_low": None if low is None else max(low, least),
                "mean_high": None if high is None else min(high, most),
                "median": float(np.median(known)),
                "cases": len(known),
                "sources": len(set(names)),
            }
        )
    return rows
