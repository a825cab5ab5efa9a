"""Means and shares per round with bands over sources, on the cases that all editors have."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval, student_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import kaplan_meier

from .cases import CURVES, RETAINED, Case, column_range
from .groups import CaseGroup, OutcomesByEditor, lowest_quality

CaseAndOutcome = tuple[Case, Outcome]


def slice_curves(
    group: CaseGroup,
    outcomes: OutcomesByEditor,
    label: str,
    is_in_slice: Callable[[Case], bool] = lambda case: True,
    metrics: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """The curves of one slice of a group, editor by editor; those of some metrics where `metrics` names them.

    Where common cases are less than half of an editor's, every editor's curve is drawn on its own cases.
    """
    chosen: dict[str, list[CaseAndOutcome]] = {}
    for editor, cases in group.cases.items():
        with_outcomes = zip(cases, outcomes[editor], strict=True)
        own = [(case, outcome) for case, outcome in with_outcomes if is_in_slice(case) and not outcome.failed]
        chosen |= {editor: own} if own else {}
    common = set.intersection(*({case.key for case, _ in pairs} for pairs in chosen.values())) if chosen else set()
    on_common = all(len(common) * 2 >= len(pairs) for pairs in chosen.values())
    rows = []
    for editor, pairs in chosen.items():
        used = [pair for pair in pairs if not on_common or pair[0].key in common]
        about = {"group": group.name, "slice": label, "editor": editor, "on": "common" if on_common else "own"}
        rows += [about | row for row in editor_curves(group, used, metrics)]
    return rows


def editor_curves(
    group: CaseGroup, pairs: Sequence[CaseAndOutcome], metrics: Sequence[str] | None
) -> list[dict[str, Any]]:
    """The curves of one editor over the rounds that all of its cases were planned for."""
    cases = [case for case, _ in pairs]
    rounds = min(case.rounds for case in cases)
    sources = [case.source for case in cases]
    curves: dict[str, Sequence[Sequence[float | None]]] = {
        "quality": [lowest_quality(case, group.checks_of(case.editor)) for case in cases],
        **{f"retained {name}": [case.retained[name] for case in cases] for name in RETAINED},
        **{name: [case.raw[name] for case in cases] for name in CURVES},
    }
    rows = []
    if metrics is None or "kept" in metrics:
        rows += survival_rows([outcome for _, outcome in pairs], sources, rounds)
    for metric, lists in curves.items():
        if metrics is None or metric in metrics:
            values = np.array([list(each[:rounds]) + [None] * (rounds - len(each)) for each in lists], float)
            rows += [{"metric": metric} | row for row in mean_rows(values, sources, metric)]
    return rows


def survival_rows(outcomes: Sequence[Outcome], sources: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """The share still converging after each round, by Kaplan and Meier."""
    times, lost = [outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes]
    grid, alive = kaplan_meier(times, lost)
    rows = []
    for round in range(1, rounds + 1):
        before = grid <= round
        share = float(alive[before][-1]) if before.any() else 1.0
        watched = [place for place, outcome in enumerate(outcomes) if outcome.time >= round or outcome.lost]
        if not watched:
            break
        marks = np.array([outcomes[place].time > round or not outcomes[place].lost for place in watched])
        low, high = share_interval(marks, [sources[place] for place in watched]) or (None, None)
        counts = {"cases": len(watched), "sources": len({sources[place] for place in watched})}
        limits = {"mean": share, "mean_low": low, "mean_high": high, "median": None}
        rows.append({"metric": "kept", "round": round} | counts | limits)
    return rows


def mean_rows(values: np.ndarray, sources: Sequence[Hashable], metric: str) -> list[dict[str, Any]]:
    """Mean with limits and median of each round, over the chains that have a value there.

    No mean lies outside its metric's range, whatever Student's t says of two pictures.
    """
    lowest, highest = column_range(metric)
    rows = []
    for place in range(values.shape[1]):
        is_known = ~np.isnan(values[:, place])
        if not is_known.any():
            continue
        known = values[is_known, place]
        names = [name for name, each in zip(sources, is_known, strict=True) if each]
        low, high = student_interval(known, names) or (None, None)
        rows.append(
            {
                "round": place + 1,
                "mean": float(known.mean()),
                "mean_low": None if low is None else max(low, lowest),
                "mean_high": None if high is None else min(high, highest),
                "median": float(np.median(known)),
                "cases": len(known),
                "sources": len(set(names)),
            }
        )
    return rows
