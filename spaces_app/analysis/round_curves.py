"""Means and shares per round, with bands over sources."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval, student_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import kaplan_meier

from .cases import CURVES, RETAINED, Case, column_range
from .groups import CaseGroup, OutcomesByEditor, lowest_quality
from .tables import Estimate, TableRow, column, estimate

_CaseAndOutcome = tuple[Case, Outcome]
_Place = Mapping[str, str]  # the values of group, slice, editor and on


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


def slice_curves(
    group: CaseGroup,
    outcomes: OutcomesByEditor,
    label: str,
    is_in_slice: Callable[[Case], bool] = lambda case: True,
    metrics: Sequence[str] | None = None,
) -> list[CurveRow]:
    """On common cases, unless these are less than half of the cases of an editor."""
    chosen: dict[str, list[_CaseAndOutcome]] = {}
    for editor, cases in group.cases.items():
        with_outcomes = zip(cases, outcomes[editor], strict=True)
        chosen[editor] = [pair for pair in with_outcomes if is_in_slice(pair[0]) and not pair[1].failed]
    chosen = {editor: pairs for editor, pairs in chosen.items() if pairs}
    keys = [{case.key for case, _ in pairs} for pairs in chosen.values()]
    common = set.intersection(*keys) if keys else set()
    on = "common" if all(len(common) * 2 >= len(pairs) for pairs in chosen.values()) else "own"
    rows: list[CurveRow] = []
    for editor, pairs in chosen.items():
        place = {"group": group.name, "slice": label, "editor": editor, "on": on}
        shown = [pair for pair in pairs if on == "own" or pair[0].key in common]
        rows += _editor_curves(group, shown, metrics, place)
    return rows


def _editor_curves(
    group: CaseGroup, pairs: Sequence[_CaseAndOutcome], metrics: Sequence[str] | None, place: _Place
) -> Iterator[CurveRow]:
    cases = [case for case, _ in pairs]
    rounds = min(case.rounds for case in cases)
    sources = [case.source for case in cases]
    curves: dict[str, Sequence[Sequence[float | None]]] = {
        "quality": [lowest_quality(case, group.checks_of(case.editor)) for case in cases],
        **{f"retained {name}": [case.retained[name] for case in cases] for name in RETAINED},
        **{name: [case.raw[name] for case in cases] for name in CURVES},
    }
    if metrics is None or "kept" in metrics:
        yield from _survival([outcome for _, outcome in pairs], sources, rounds, place)
    for metric, lists in curves.items():
        if metrics is None or metric in metrics:
            filled = [[*curve[:rounds], *[None] * (rounds - len(curve))] for curve in lists]
            yield from mean_curve(np.array(filled, float), sources, metric, place)


def _survival(outcomes: Sequence[Outcome], sources: Sequence[str], rounds: int, place: _Place) -> Iterator[CurveRow]:
    times, lost = [outcome.time for outcome in outcomes], [outcome.lost for outcome in outcomes]
    grid, alive = kaplan_meier(times, lost)
    for round in range(1, rounds + 1):
        before = grid <= round
        pairs = zip(outcomes, sources, strict=True)
        watched = [(outcome, source) for outcome, source in pairs if outcome.time >= round or outcome.lost]
        if not watched:
            return
        marks = np.array([outcome.time > round or not outcome.lost for outcome, _ in watched])
        watched_sources = [source for _, source in watched]
        yield CurveRow(
            **place,
            metric="kept",
            round=round,
            mean=estimate(float(alive[before][-1]) if before.any() else 1.0, share_interval(marks, watched_sources)),
            median=None,
            cases=len(watched),
            sources=len(set(watched_sources)),
        )


def mean_curve(values: np.ndarray, sources: Sequence[Hashable], metric: str, place: _Place) -> Iterator[CurveRow]:
    """A column of `values` is a round; limits end where the metric's range does."""
    for index in range(values.shape[1]):
        has_value = ~np.isnan(values[:, index])
        if not has_value.any():
            continue
        numbers = values[has_value, index]
        names = [name for name, is_used in zip(sources, has_value, strict=True) if is_used]
        yield CurveRow(
            **place,
            metric=metric,
            round=index + 1,
            mean=estimate(float(numbers.mean()), student_interval(numbers, names), *column_range(metric)),
            median=float(np.median(numbers)),
            cases=len(numbers),
            sources=len(set(names)),
        )
