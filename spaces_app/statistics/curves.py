"""Degradation curves: means, medians and shares per round, with bands over sources."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np
from convergebench.metric_modules.halflife.intervals import share_interval, student_interval
from convergebench.metric_modules.halflife.outcomes import Outcome
from convergebench.metric_modules.halflife.survival import kaplan_meier

from ..analysis.analysis import Analysis
from ..analysis.cases import CURVES, RETAINED, TITLES, Case, column_range, panel_title
from ..analysis.groups import CaseGroup, OutcomesByEditor
from ..analysis.tables import Estimate, TableRow, column, estimate
from ..reporting.figures import Drawing, FigureContext, one_panel, small_panels
from ..studies import study_modules
from . import EACH_GROUP, OnPage

TITLE = "Curves over rounds"
SECTION = EACH_GROUP
ON_PAGE = OnPage(order=20, show=False)
_SLICES = ("category", "kind")
_FEWEST_SOURCES = 2  # slices with fewer are left out
_Pairs = Sequence[tuple[Case, Outcome]]
_Place = Mapping[str, str]  # the values of group, slice, editor and on


class CurveRow(TableRow):
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


Row = CurveRow


def rows(analysis: Analysis) -> list[CurveRow]:
    """Curves of every group, overall and by category and kind, then those that studies add."""
    rows: list[CurveRow] = []
    for name, group in analysis.groups.items():
        rows += slice_curves(group, analysis.outcomes[name], "all")
        for field in _SLICES:
            sources: dict[str, set[str]] = {}
            for case in group.all_cases:
                sources.setdefault(getattr(case, field), set()).add(case.source)
            for value in sorted(value for value in sources if len(sources[value]) >= _FEWEST_SOURCES):
                rows += slice_curves(group, analysis.outcomes[name], f"{field}: {value}", ("kept", "quality"))
    return rows + [row for module in study_modules("curves") for row in module.curves(analysis)]


def slice_curves(
    group: CaseGroup,
    outcomes: OutcomesByEditor,
    label: str,  # all, or "FIELD: VALUE" of the cases
    metrics: Sequence[str] | None = None,
) -> list[CurveRow]:
    """The curves of a slice on the cases that all editors have, unless these are fewer than half of some editor's."""
    chosen: dict[str, _Pairs] = {}
    field, _, value = label.partition(": ")
    for editor, cases in group.cases.items():
        measured = [pair for pair in zip(cases, outcomes[editor], strict=True) if not pair[1].failed]
        if in_slice := [pair for pair in measured if label == "all" or getattr(pair[0], field) == value]:
            chosen[editor] = in_slice
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
    group: CaseGroup, pairs: _Pairs, metrics: Sequence[str] | None, place: _Place
) -> Iterator[CurveRow]:
    cases = [case for case, _ in pairs]
    rounds = min(case.rounds for case in cases)
    sources = [case.source for case in cases]
    curves: dict[str, Sequence[Sequence[float | None]]] = {
        "quality": [case.quality(group.checks_of(case.editor)) for case in cases],
        **{f"retained {name}": [case.values(f"retained_{name}") for case in cases] for name in RETAINED},
        **{name: [case.values(name) for case in cases] for name in CURVES},
    }
    if metrics is None or "kept" in metrics:
        yield from _survival([outcome for _, outcome in pairs], sources, rounds, place)
    for metric, lists in curves.items():
        if metrics is None or metric in metrics:
            filled = [[*curve[:rounds], *[None] * (rounds - len(curve))] for curve in lists]
            yield from mean_curve(np.array(filled, float), sources, metric, place)


def _survival(
    outcomes: Sequence[Outcome], sources: Sequence[str], rounds: int, place: _Place
) -> Iterator[CurveRow]:
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
            mean=estimate(
                float(alive[before][-1]) if before.any() else 1.0, share_interval(marks, watched_sources)
            ),
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


def figures(rows: Sequence[CurveRow], context: FigureContext) -> list[Drawing | None]:
    looks = context.looks
    overall = [row for row in rows if row.slice == "all"]
    by_metric = {name: [row for row in overall if row.metric == f"retained {name}"] for name in RETAINED}
    panels = {panel_title(name): rows for name, rows in by_metric.items()}
    quality = [row for row in overall if row.metric == "quality"]
    survival = [row for row in overall if row.metric == "kept"]
    drawings = [
        one_panel("curves", quality, looks, "Retained quality, round after round", TITLES["quality"]),
        one_panel("survival", survival, looks, "How many tests survive each round", TITLES["kept"], share=True),
        small_panels("metrics", panels, looks, "Each metric on its own scale; medians dotted", medians=True),
    ]
    if not context.is_first_group:
        return drawings
    slices = dict.fromkeys(row.slice for row in rows if row.slice != "all")
    by_slice = {name: [row for row in rows if row.slice == name and row.metric == "kept"] for name in slices}
    return [
        *drawings,
        small_panels("slices", by_slice, looks, "How many tests survive, by category and kind", share=True),
    ]
