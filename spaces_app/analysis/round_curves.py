"""Means and shares per round with bands over sources, on the cases that all editors have."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval, student_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import kaplan_meier

from .cases import CURVES, RETAINED, Case, column_range
from .groups import CaseGroup, OutcomesByEditor, lowest_quality
from .tables import Estimate, TableRow, column, estimate

_CaseAndOutcome = tuple[Case, Outcome]


class CurveRow(TableRow):
    """One round of one curve: a row of the table of curves."""

    group: str = column("Programs")
    slice: str = column("Slice")
    editor: str = column("Editor")
    metric: str = column("Metric")
    round: int = column("Round", "count")
    mean: Estimate = column("Mean", "number")
    median: float | None = column("Median", "number")
    cases: int = column("Tests", "count")
    sources: int | None = column("Pictures", "count")
    on: str = column("On which cases")


class Point(NamedTuple):
    """One round of a curve, over the cases that have a value there."""

    round: int
    mean: Estimate
    median: float | None
    cases: int
    sources: int


def slice_curves(
    group: CaseGroup,
    outcomes: OutcomesByEditor,
    label: str,
    is_in_slice: Callable[[Case], bool] = lambda case: True,
    metrics: Sequence[str] | None = None,
) -> list[CurveRow]:
    """The curves of one slice of a group, editor by editor: all of them, or those of some metrics.

    If common cases are less than half of an editor's, every editor's curve is drawn on its own cases.
    """
    chosen: dict[str, list[_CaseAndOutcome]] = {}
    for editor, cases in group.cases.items():
        with_outcomes = zip(cases, outcomes[editor], strict=True)
        pairs = [(case, outcome) for case, outcome in with_outcomes if is_in_slice(case) and not outcome.failed]
        chosen |= {editor: pairs} if pairs else {}
    common = set.intersection(*({case.key for case, _ in pairs} for pairs in chosen.values())) if chosen else set()
    on_common = all(len(common) * 2 >= len(pairs) for pairs in chosen.values())
    return [
        CurveRow(
            group=group.name,
            slice=label,
            editor=editor,
            metric=metric,
            on="common" if on_common else "own",
            **point._asdict(),
        )
        for editor, pairs in chosen.items()
        for metric, point in _editor_curves(
            group, [pair for pair in pairs if not on_common or pair[0].key in common], metrics
        )
    ]


def _editor_curves(
    group: CaseGroup, pairs: Sequence[_CaseAndOutcome], metrics: Sequence[str] | None
) -> Iterator[tuple[str, Point]]:
    """The curves of one editor over the rounds that all of its cases were planned for, each point with its metric."""
    cases = [case for case, _ in pairs]
    rounds = min(case.rounds for case in cases)
    sources = [case.source for case in cases]
    curves: dict[str, Sequence[Sequence[float | None]]] = {
        "quality": [lowest_quality(case, group.checks_of(case.editor)) for case in cases],
        **{f"retained {name}": [case.retained[name] for case in cases] for name in RETAINED},
        **{name: [case.raw[name] for case in cases] for name in CURVES},
    }
    if metrics is None or "kept" in metrics:
        for point in _survival([outcome for _, outcome in pairs], sources, rounds):
            yield "kept", point
    for metric, lists in curves.items():
        if metrics is None or metric in metrics:
            values = np.array([list(curve[:rounds]) + [None] * (rounds - len(curve)) for curve in lists], float)
            for point in mean_curve(values, sources, metric):
                yield metric, point


def _survival(outcomes: Sequence[Outcome], sources: Sequence[str], rounds: int) -> Iterator[Point]:
    """The share still converging after each round, by Kaplan and Meier."""
    times, lost = [outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes]
    grid, alive = kaplan_meier(times, lost)
    for round in range(1, rounds + 1):
        before = grid <= round
        watched = [place for place, outcome in enumerate(outcomes) if outcome.time >= round or outcome.lost]
        if not watched:
            return
        marks = np.array([outcomes[place].time > round or not outcomes[place].lost for place in watched])
        watched_sources = [sources[place] for place in watched]
        share = float(alive[before][-1]) if before.any() else 1.0
        mean = estimate(share, share_interval(marks, watched_sources))
        yield Point(round, mean, None, len(watched), len(set(watched_sources)))


def mean_curve(values: np.ndarray, sources: Sequence[Hashable], metric: str) -> Iterator[Point]:
    """Mean with limits and median of each round (column of `values`), over the chains that have a value there.

    Limits are cut off at the metric's range, which Student's t exceeds if there are only two pictures.
    """
    lowest, highest = column_range(metric)
    for place in range(values.shape[1]):
        has_value = ~np.isnan(values[:, place])
        if not has_value.any():
            continue
        numbers = values[has_value, place]
        names = [name for name, is_used in zip(sources, has_value, strict=True) if is_used]
        mean = estimate(float(numbers.mean()), student_interval(numbers, names), lowest, highest)
        yield Point(place + 1, mean, float(np.median(numbers)), len(numbers), len(set(names)))
